import TestSupport

/// One thing that a ``HostileServer`` does on a connection.
///
/// After the last step it reads until the client closes the connection.
enum Step: Sendable {
  /// Waits for the client's first byte, and reads nothing: the client then knows that it is
  /// connected.
  case contact
  /// Reads the client's preface.
  case preface
  /// Reads until a frame of a type has come, on a stream or on any.
  case wait(Bytes.Kind, stream: UInt32? = nil)
  /// Reads some bytes of any kind.
  case anything
  /// Reads a head of HTTP/1, such as a proxy gets.
  case head
  case send([UInt8])
  /// Sends each byte for itself.
  case trickle([UInt8])
  /// Sends bytes again and again.
  case flood([UInt8], times: Int)
  /// Reads nothing until a gate is open.
  case pass(Gate)
  /// Closes the connection.
  case close
  /// Closes the connection with a reset of TCP.
  case reset
  /// Answers every request from now on, as a good server does.
  case serve
  /// Answers every request from now on with these bytes for its stream.
  case answer(@Sendable (UInt32) -> [UInt8])
  /// Passes everything on to a server on a port of this machine, and its answers back, in pieces.
  case relay(port: UInt16, piece: Int = 65_536)
}

extension [Step] {
  /// A good server, from the first byte to the last.
  static let good: [Step] = [.preface, .send(Bytes.start), .serve]

  /// A server that does something once the first request has come, and is good after it.
  static func afterRequest(_ steps: Step...) -> [Step] {
    [.preface, .send(Bytes.start), .wait(.headers)] + steps + [.serve]
  }
}
