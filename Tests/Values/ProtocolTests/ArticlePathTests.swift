import Testing

@testable import TestSupport

/// The files and folders of this package that the articles name.
@Suite struct ArticlePathTests {
  private static let folders = ["Sources", "Tests", "Demo", "Scripts"]

  @Test func `each file or folder of the package that an article names exists`() throws {
    let paths = Set(try Self.folders.flatMap(PackageSources.paths))
    // An article may leave out the folders above: `Messages/RedirectMatch.swift`.
    let ends = Set(
      paths.flatMap { path in
        let parts = path.split(separator: "/")
        return parts.indices.map { parts[$0...].joined(separator: "/") }
      })
    var count = 0
    for article in try PackageSources.documents() {
      let text = try PackageSources.text(of: article)
      for match in text.matches(of: /`((?:[\w+.-]+\/)+[\w+.-]+)\/?`/) {
        let path = String(match.output.1)
        let isWhole = Self.folders.contains { path.hasPrefix("\($0)/") }
        guard isWhole || path.hasSuffix(".swift") || path.hasSuffix(".py") else { continue }
        // NAME stands for any name, and a reader of *Getting started* writes the greeter.
        guard !path.contains("NAME"), path != "Sources/greeter/main.swift" else { continue }
        count += 1
        #expect((isWhole ? paths : ends).contains(path), "\(article) names \(path)")
      }
    }
    #expect(count > 100, "the patterns still match what the articles contain")
  }
}
