import Foundation
import LoopbackHTTP
import Testing

/// A program of the system that a test runs as its counterpart, ended with the test.
final class Program: Sendable {
  private let process: Process
  private let output = Output()

  private final class Output: Sendable {
    let text = Locked("")
  }

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

  init(_ name: String, _ arguments: [String], in folder: URL? = nil) throws {
    let path = try #require(Self.path(of: name), "\(name) is not installed")
    process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    pipe.fileHandleForReading.readabilityHandler = { [output] handle in
      let text = String(decoding: handle.availableData, as: UTF8.self)
      output.text.withLock { $0 += text }
      if text.isEmpty { handle.readabilityHandler = nil }
    }
    try process.run()
  }

  deinit {
    process.terminate()
  }

  /// Everything it has written so far.
  var text: String { output.text.withLock { $0 } }

  /// Runs a program to its end.
  @discardableResult
  static func run(_ name: String, _ arguments: [String], in folder: URL? = nil) throws -> String {
    let program = try Program(name, arguments, in: folder)
    program.process.waitUntilExit()
    try #require(program.process.terminationStatus == 0, "\(name): \(program.text)")
    return program.text
  }

  /// A port that was free a moment ago.
  static func freePort() throws -> UInt16 {
    let server = try RawServer { _ in }
    defer { server.stop() }
    return server.port
  }

  /// Waits until something accepts connections on a port.
  func listens(on port: UInt16) async throws {
    while process.isRunning {
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
