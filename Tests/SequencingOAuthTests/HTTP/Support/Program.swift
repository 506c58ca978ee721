import Foundation
import TestSupport
import Testing

/// A server of the system that a test runs as its counterpart, ended with the test.
final class Program: Sendable {
  let port: UInt16
  private let process: ChildProcess

  private init(_ process: ChildProcess, port: UInt16) {
    self.process = process
    self.port = port
  }

  /// Everything it has written so far.
  var text: String { process.output + process.errors }

  /// Starts a server on a port that is given to it, and returns when it accepts connections.
  ///
  /// A port that was free a moment ago may be taken meanwhile: then it is tried on another.
  static func serving(_ command: (_ port: UInt16) -> [String]) async throws -> Program {
    var said = ""
    for _ in 0..<5 {
      let port = try freePort()
      let program = Program(try ChildProcess(command(port)), port: port)
      while program.process.isRunning {
        if RawServer.canConnect(port) { return program }
        try await Task.sleep(for: .milliseconds(20))
      }
      said = program.text
    }
    throw ProgramError(said: said)
  }

  private static func freePort() throws -> UInt16 {
    let server = try RawServer { _ in }
    server.stop()
    return server.port
  }
}

/// A program did not start to serve.
struct ProgramError: Error, CustomStringConvertible {
  let said: String
  var description: String { "it ended: \(said)" }
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
