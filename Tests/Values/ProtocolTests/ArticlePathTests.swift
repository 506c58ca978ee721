import Foundation
import Testing

@testable import TestSupport

/// The files and folders of this package that the articles name.
@Suite struct ArticlePathTests {
  /// Returns the paths of all files and folders in the folders that hold code.
  private static func paths() throws -> Set<String> {
    var paths: Set<String> = []
    for folder in ["Sources", "Tests", "Demo", "Scripts"] {
      let below = try FileManager.default.subpathsOfDirectory(
        atPath: PackageSources.root.appending(path: folder).path)
      paths.formUnion(below.map { "\(folder)/\($0)" })
    }
    return paths
  }

  /// Returns the texts of the README and of all articles, by their files' paths.
  private static func articles(_ paths: Set<String>) throws -> [String: String] {
    var articles: [String: String] = [:]
    for path in paths.filter({ $0.hasSuffix(".md") && $0.contains(".docc/") }) + ["README.md"] {
      articles[path] = try String(
        contentsOf: PackageSources.root.appending(path: path), encoding: .utf8)
    }
    return articles
  }

  @Test func `each file or folder of the package that an article names exists`() throws {
    let paths = try Self.paths()
    // An article may leave out the folders above: `Grants/Fetch.swift`.
    let ends = Set(
      paths.flatMap { path in
        let parts = path.split(separator: "/")
        return parts.indices.map { parts[$0...].joined(separator: "/") }
      })
    var count = 0
    for (article, text) in try Self.articles(paths) {
      for match in text.matches(of: /`((?:[\w+.-]+\/)+[\w+.-]+\.(?:swift|py))`/) {
        let path = String(match.output.1)
        // The program that a reader of *Getting started* writes.
        guard path != "Sources/greeter/main.swift" else { continue }
        count += 1
        #expect(ends.contains(path), "\(article) names \(path)")
      }
      for match in text.matches(of: /`((?:Sources|Tests|Demo|Scripts)(?:\/[\w+.-]+)+)\/?`/) {
        let path = String(match.output.1)
        // NAME stands for any name.
        guard !path.contains("NAME"), path != "Sources/greeter/main.swift" else { continue }
        count += 1
        #expect(paths.contains(path), "\(article) names \(path)")
      }
    }
    #expect(count > 100, "the patterns still match what the articles contain")
  }
}
