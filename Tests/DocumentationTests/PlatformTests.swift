import Foundation
import Testing

/// Reads what the package promises about platforms, while it runs on Linux only.
@Suite struct PlatformTests {
  @Test(arguments: [
    "README.md", "Sources/SequencingOAuth/SequencingOAuth.docc/MigratingFromTheSequencingPod.md",
    "Sources/SequencingOAuth/SequencingOAuth.docc/MigratingFromAeroGear.md",
    "Sources/SequencingOAuth/SequencingOAuth.docc/MigratingFromHeimdall.md",
    "Sources/SequencingOAuthGRPC/SequencingOAuthGRPC.docc/MigratingFromTheGRPCSample.md",
  ])
  func `a reader learns first that this is for Linux only`(document: String) throws {
    let paragraphs = try Self.text(of: document).split(separator: "\n")
    #expect(paragraphs[0].hasPrefix("# "))
    #expect(paragraphs[1].drop { $0 == "*" }.hasPrefix("Linux only."))
  }

  @Test func `every migration guide is among those that say so`() throws {
    let sources = Compiler.root.appending(path: "Sources").path
    let files = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String } ?? []
    #expect(files.count { $0.contains("/MigratingFrom") && $0.hasSuffix(".md") } == 4)
  }

  @Test func `the manifest promises no platform`() throws {
    #expect(try !Self.text(of: "Package.swift").contains("platforms:"))
  }

  private static func text(of document: String) throws -> String {
    try String(contentsOf: Compiler.root.appending(path: document), encoding: .utf8)
  }
}
