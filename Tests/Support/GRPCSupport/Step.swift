import TestSupport

/// An action of a ``HostileServer`` on a connection.
///
/// After the last step, the server reads until the client closes the connection.
enum Step: Sendable {
  /// Waits for the client's first byte without reading it; the byte shows that the client is
  /// connected.
  case contact
  /// Reads the client's preface.
  case preface
  /// Reads until a frame of this type has come, on the given stream or on any.
  case wait(Bytes.Kind, stream: UInt32? = nil)
  /// Reads until this many bytes of content have come on the connection, on all streams together.
  case content(Int)
  /// Reads until the client has ended its request on the given stream.
  case requestEnd(stream: UInt32 = 1)
  /// Waits until at least one byte has come.
  case anything
  /// Reads the head of an HTTP/1 request, as a proxy gets it.
  case head
  case send([UInt8])
  /// Sends the bytes one by one.
  case trickle([UInt8])
  /// Sends the bytes repeatedly.
  case flood([UInt8], times: Int)
  /// Reads nothing until the gate opens.
  case pass(Gate)
  /// Closes the connection.
  case close
  /// Closes the connection with a TCP reset.
  case reset
  /// Answers every later request as a good server does.
  case serve
  /// Answers every later request with the bytes that the closure returns for the request's stream.
  case answer(@Sendable (UInt32) -> [UInt8])
  /// Relays all bytes, in pieces, between the client and a server on a port of this machine.
  case relay(port: UInt16, piece: Int = 65_536)
}

extension [Step] {
  /// The steps of a good server.
  static let good: [Step] = [.preface, .send(Bytes.start), .serve]

  /// Returns the steps of a server that runs `steps` after the head of the first request, and then
  /// behaves well.
  static func afterRequest(_ steps: Step...) -> [Step] {
    [.preface, .send(Bytes.start), .wait(.headers)] + steps + [.serve]
  }
}
