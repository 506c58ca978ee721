import SQBasics
import SequencingOAuth

/// The transport of one connection's bytes: a socket or, in tests, memory.
protocol Wire: AnyObject {
  /// The socket; negative if there is none.
  var socket: Int32 { get }
  /// The `SSL_CTX` for the TLS handshake; `nil` without TLS.
  var context: OpaquePointer? { get }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketIO.Outcome
  func send(_ bytes: UnsafeRawBufferPointer) -> SocketIO.Outcome
  /// Starts or stops watching whether bytes can be sent.
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
    EventLoop.shared?.change(socket, to: isWriting ? [.readable, .writable] : .readable)
  }
}
