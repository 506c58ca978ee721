import SQHTTP2
import SequencingOAuth

/// What carries the bytes of one connection: a socket or, in tests, memory.
protocol Wire: AnyObject {
  /// The socket; negative if there is none.
  var socket: Int32 { get }
  /// The `SSL_CTX` for the TLS handshake; `nil` without TLS.
  var context: OpaquePointer? { get }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketIO.Outcome
  func send(_ bytes: UnsafeRawBufferPointer) -> SocketIO.Outcome
  /// Asks to be told when bytes can be sent, or no longer.
  func watch(isWriting: Bool)
}

extension OpenedConnection: Wire {
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketIO.Outcome {
    SocketIO.receive(socket, into: buffer)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> SocketIO.Outcome {
    SocketIO.send(socket, bytes)
  }

  func watch(isWriting: Bool) {
    SocketLoop.shared?.watch(socket, isWriting: isWriting)
  }
}
