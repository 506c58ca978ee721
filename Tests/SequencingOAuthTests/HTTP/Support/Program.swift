import Foundation
import Testing

/// A program of the system that a test runs as its counterpart, ended with the test.
///
/// It is started by hand: Foundation's `Process` and `FileHandle` crash libdispatch's event loop
/// now and then when several tests start programs at once.
final class Program: Sendable {
  private let process: pid_t
  private let outputFile: URL

  /// Whether every one of these programs is installed.
  ///
  /// Where the tests must not be skipped, a missing one counts as installed, so that the test fails
  /// and names it.
  static func areInstalled(_ names: String...) -> Bool {
    ProcessInfo.processInfo.environment["CI"] == "true" || names.allSatisfy { path(of: $0) != nil }
  }

  private static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return (folders.map(String.init) + ["/usr/sbin", "/usr/bin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  init(_ name: String, _ arguments: [String]) throws {
    let path = try #require(Self.path(of: name), "\(name) is not installed")
    outputFile = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 1, outputFile.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var started = pid_t()
    let words = ([name] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    let code = posix_spawn(&started, path, &actions, nil, words, environ)
    try #require(code == 0, "\(name) did not start")
    process = started
  }

  deinit {
    // A softer signal would not reach it: it inherits the mask of the pool's thread.
    if !hasEnded { kill(process, SIGKILL) }
    waitpid(process, nil, 0)
    try? FileManager.default.removeItem(at: outputFile)
  }

  /// Everything it has written so far.
  var text: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }

  /// Whether it has ended by itself; its number is kept for it until it is waited for.
  private var hasEnded: Bool {
    var information = siginfo_t()
    return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
      && information.si_signo == SIGCHLD
  }

  /// Runs a program to its end.
  static func run(_ name: String, _ arguments: [String]) async throws {
    let program = try Program(name, arguments)
    while !program.hasEnded { try await Task.sleep(for: .milliseconds(5)) }
    var status: siginfo_t = siginfo_t()
    waitid(P_PID, id_t(program.process), &status, WEXITED | WNOWAIT)
    try #require(status.si_code == CLD_EXITED, "\(name): \(program.text)")
  }

  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    let server = try RawServer { _ in }
    server.stop()
    return server.port
  }

  /// Waits until something accepts connections on a port.
  func listens(on port: UInt16) async throws {
    while !hasEnded {
      if RawServer.canConnect(port) { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("it ended: \(text)")
  }
}

extension RawServer {
  /// Whether something accepts connections on a port of 127.0.0.1.
  static func canConnect(_ port: UInt16) -> Bool {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
