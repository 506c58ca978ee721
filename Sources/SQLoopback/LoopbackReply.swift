import SQBasics
package import SQFoundation

/// A handler's answer: an ordinary response, or a scripted one that may break the protocol.
package enum LoopbackReply: Sendable {
  /// A well-formed response.
  ///
  /// The server adds `Content-Length`, and `Connection: close` if it closes the connection.
  case response(LoopbackResponse)
  /// Steps that send raw bytes; after the last step the connection is closed.
  case script([LoopbackStep])
}

/// A well-formed response: its status, its header fields and its body.
package struct LoopbackResponse: Sendable, Redacted {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Data
  /// Whether the connection is closed after this response.
  package var closesConnection: Bool

  package init(
    status: Int, headers: [(name: String, value: String)] = [], body: Data = Data(),
    closesConnection: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.closesConnection = closesConnection
  }
}

/// One step of a scripted reply.
package enum LoopbackStep: Sendable {
  case send(Data)
  /// Sends the bytes again and again until the client disconnects.
  case sendForever(Data)
  case wait(Duration)
  /// Ends the connection with a TCP reset instead of a normal close.
  case reset
}
