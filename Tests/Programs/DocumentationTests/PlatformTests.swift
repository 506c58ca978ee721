import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Checks that the package and its documents say that it is for Linux only.
@Suite struct PlatformTests {
  @Test func `the README and each migration guide first say that the package is for Linux only`()
    throws
  {
    let sources = PackageSources.root.appending(path: "Sources").path
    let files = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String } ?? []
    let guides = files.filter { $0.contains("/MigratingFrom") && $0.hasSuffix(".md") }
    try #require(guides.count >= 9)
    for document in ["README.md"] + guides.map({ "Sources/" + $0 }) {
      let paragraphs = try Self.text(of: document).split(separator: "\n")
      #expect(paragraphs[0].hasPrefix("# "), "\(document)")
      #expect(paragraphs[1].drop { $0 == "*" }.hasPrefix("Linux only."), "\(document)")
    }
  }

  @Test func `the manifest names only the oldest macOS for which the types are checked`() throws {
    let manifest = try Self.text(of: "Package.swift")
    #expect(manifest.contains("platforms: [.macOS(.v15)],"))
  }

  /// The files whose code differs between systems, apart from the import of the C library.
  static let seams: Set = [
    "SQBasics/EventLoop/EpollPoller", "SQBasics/EventLoop/SocketPoller", "SQBasics/Threads",
    "SQFiles/FileDescriptor+Content", "SQFiles/FileStatus", "SQFiles/LockHolder",
    "SQFiles/LockRemoval", "SQLoopback/Sockets", "SequencingOAuth/UserAgent/BrowserCommand",
    "SequencingOAuth/UserAgent/ChildProcess", "SequencingOAuth/UserAgent/OutputRelay",
  ]

  @Test func `only the listed files differ between systems`() throws {
    let choice =
      #/#if canImport\(Glibc\)\n  (public |package )?import Glibc\n#else\n  (public |package )?import Darwin\n#endif/#
    let branches = try Self.sources { text in
      text.replacing(choice, with: "")
        .contains(#/canImport\((Glibc|Darwin)\)|os\(Linux\)|os\(macOS\)|import (Glibc|Darwin)/#)
    }
    #expect(branches == Self.seams)
  }

  /// Returns the sources whose text meets a condition, as paths without their extension.
  private static func sources(where matches: (String) -> Bool) throws -> Set<String> {
    let folder = PackageSources.root.appending(path: "Sources").path
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Set(
      try files.filter { file in
        guard file.hasSuffix(".swift") else { return false }
        return try matches(text(of: "Sources/\(file)"))
      }.map { String($0.dropLast(6)) })
  }

  private static func text(of document: String) throws -> String {
    try String(contentsOf: PackageSources.root.appending(path: document), encoding: .utf8)
  }
}
