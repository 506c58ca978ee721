import Foundation
import ProgramSupport
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// An installed server program, which ends with the test.
final class Program: Sendable {
  private let process: ChildProcess
  /// Reserves the port until the program listens on it.
  private let socket: BoundSocket

  private init(_ process: ChildProcess, _ socket: BoundSocket) {
    self.process = process
    self.socket = socket
  }

  var port: UInt16 { socket.port }

  /// Everything that the program has written so far.
  var text: String { process.output + process.errors }

  /// Starts a server on a free port, which `command` gets, and returns when the server accepts
  /// connections.
  static func serving(_ command: (_ port: UInt16) -> [String]) async throws -> Program {
    let socket = try BoundSocket()
    let program = Program(try ChildProcess(command(socket.port)), socket)
    while program.process.isRunning {
      // Only the program can accept a connection: `socket` does not listen.
      if RawServer.canConnect(socket.port) { return program }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw ProgramError(said: program.text)
  }
}

/// The error for a program that did not start to serve.
struct ProgramError: Error, CustomStringConvertible {
  let said: String
  var description: String { "the server program ended before it served: \(said)" }
}

extension RawServer {
  /// Returns whether something accepts connections on a port of 127.0.0.1.
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
