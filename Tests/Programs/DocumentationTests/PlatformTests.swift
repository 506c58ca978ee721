import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Checks that the package and its documents say that it is for Linux only.
@Suite struct PlatformTests {
  @Test func `the README and each migration guide first say that the package is for Linux only`()
    throws
  {
    let guides = try PackageSources.documents().filter { $0.contains("/MigratingFrom") }
    try #require(guides.count >= 9)
    for document in ["README.md"] + guides {
      let paragraphs = try PackageSources.text(of: document).split(separator: "\n")
      #expect(paragraphs[0].hasPrefix("# "), "\(document)")
      #expect(paragraphs[1].drop { $0 == "*" }.hasPrefix("Linux only."), "\(document)")
    }
  }

  @Test func `the manifest lists macOS 15 as its only platform`() throws {
    let manifest = try PackageSources.text(of: "Package.swift")
    #expect(manifest.contains("platforms: [.macOS(.v15)],"))
  }

  /// The files whose code differs between systems.
  static let seams: Set = [
    "Demo/CommandLine/SystemResources",
    "Demo/Terminal/QRCode",
    "Sources/SQBasics/EventLoop/EpollPoller",
    "Sources/SQBasics/EventLoop/SocketPoller",
    "Sources/SQBasics/Threads",
    "Sources/SQFiles/FileDescriptor+Content",
    "Sources/SQFiles/FileStatus",
    "Sources/SQFiles/LockHolder",
    "Sources/SQFiles/LockRemoval",
    "Sources/SQLibC/SQLibC",
    "Sources/SQLoopback/Sockets",
    "Sources/SequencingOAuth/UserAgent/BrowserCommand",
    "Sources/SequencingOAuth/UserAgent/ChildProcess",
  ]

  @Test func `only the listed files have code that differs between operating systems`() throws {
    let branches = try Self.sources { text in
      text.contains(#/canImport\((Glibc|Darwin)\)|os\(Linux\)|os\(macOS\)|import (Glibc|Darwin)/#)
    }
    // The examples are a package of their own.
    #expect(branches.filter { !$0.hasPrefix("Demo/Examples/") } == Self.seams)
  }

  /// Returns the libraries' and the demo's sources whose text meets a condition, as paths without
  /// their extension.
  private static func sources(where matches: (String) -> Bool) throws -> Set<String> {
    let files = try ["Sources", "Demo"].flatMap(PackageSources.paths)
    return Set(
      try files.filter { try $0.hasSuffix(".swift") && matches(PackageSources.text(of: $0)) }
        .map { String($0.dropLast(6)) })
  }
}
