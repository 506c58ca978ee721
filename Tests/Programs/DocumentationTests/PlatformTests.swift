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

  @Test func `the manifest names no platforms`() throws {
    #expect(try !Self.text(of: "Package.swift").contains("platforms:"))
  }

  /// The files with a branch for other systems, where a port would begin.
  static let seams: Set = [
    "SQBasics/CLibrary", "SQBasics/EnvironmentVariable", "SQBasics/Locked",
    "SQBasics/RecursiveLock", "SQBasics/Threads",
    "SQBasics/EventLoop/EpollPoller", "SQBasics/EventLoop/EventLoop+Shared",
    "SQBasics/EventLoop/EventLoop+Thread", "SQBasics/EventLoop/PollPoller",
    "SQBasics/EventLoop/SocketPoller",
    "SQFiles/FileDescriptor", "SQFiles/FileDescriptor+Content", "SQFiles/FileFailure",
    "SQFiles/FileLock", "SQFiles/FileStatus", "SQFiles/FileTrust", "SQFiles/LockHolder",
    "SQFiles/LockRemoval", "SQFiles/PrivateFile", "SQFiles/PrivateFile+Placing",
    "SQFiles/URL+Path",
    "SQLoopback/SocketAddress", "SQLoopback/Sockets",
    "SequencingOAuth/Signals/SignalListener",
    "SequencingOAuth/UserAgent/BrowserCommand", "SequencingOAuth/UserAgent/ChildProcess",
    "SequencingOAuth/UserAgent/OutputRelay", "SequencingOAuth/UserAgent/ProgramTerminal",
    "SequencingOAuthPipes/Downloads/FileFailure+Downloads",
  ]
  /// The files for Linux only, which a port would replace or omit.
  static let linuxFiles: Set = [
    "SequencingOAuth/HTTP/Curl/CurlCallbacks", "SequencingOAuth/HTTP/Curl/CurlEventLoop",
    "SequencingOAuth/HTTP/Curl/OpenedConnection", "SequencingOAuth/HTTP/Curl/SocketTable",
    "SQHTTP2/SocketIO",
    "SequencingOAuthPostgreSQL/Connection", "SequencingOAuthPostgreSQL/ConnectionSettings",
    "SequencingOAuthPostgreSQL/PostgreSQLTokenStore+Leases",
    "SequencingOAuthPostgreSQL/ResultReader",
    "SequencingOAuthSecretService/KeyringLibrary",
    "SequencingOAuthSecretService/KeyringConnection",
    "OAuthSandbox/Multipart/MultipartReader", "OAuthSandbox/Visitor/LoopbackConnection",
  ]

  @Test func `only the listed files depend on the system`() throws {
    let branches = try Self.sources(with: #/canImport\((Glibc|Darwin)\)|os\(Linux\)|os\(macOS\)/#)
    #expect(branches == Self.seams)
    let uses = try Self.sources(with: #/import (Glibc|Darwin)/#)
    #expect(uses.subtracting(branches) == Self.linuxFiles)
  }

  /// Returns the sources that contain a pattern, as paths without their extension.
  private static func sources(with pattern: some RegexComponent) throws -> Set<String> {
    let folder = PackageSources.root.appending(path: "Sources").path
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Set(
      try files.filter { file in
        guard file.hasSuffix(".swift") else { return false }
        return try text(of: "Sources/\(file)").contains(pattern)
      }.map { String($0.dropLast(6)) })
  }

  private static func text(of document: String) throws -> String {
    try String(contentsOf: PackageSources.root.appending(path: document), encoding: .utf8)
  }
}
