import CSQSockets
import SQLibC

/// Functions that read and write sockets; they repeat a call that a signal interrupts.
package enum SocketIO {
  /// The result of an attempt to read or write.
  package enum Outcome {
    case bytes(Int)
    /// Nothing can be read or written at the moment.
    case wait
    /// The other side has ended the connection.
    case end
    /// The connection failed with this system error.
    case failed(errno: Int32)
  }

  package static func receive(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer)
    -> Outcome
  {
    outcome { recv(socket, buffer.baseAddress, buffer.count, 0) }
  }

  /// Sends bytes, and raises no SIGPIPE if the other side is gone.
  package static func send(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Outcome {
    outcome { sq_send(socket, bytes.baseAddress, bytes.count) }
  }

  private static func outcome(_ body: () -> Int) -> Outcome {
    while true {
      let count = body()
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wait
      case let error: return .failed(errno: error)
      }
    }
  }
}
