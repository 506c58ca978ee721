import Basics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a handler answers: an ordinary response, or a scripted piece of misbehaviour.
package enum LoopbackReply: Sendable {
  /// A well-formed response; the server adds `Content-Length`, and `Connection` where it closes.
  case response(LoopbackResponse)
  /// The bytes of a connection, step by step, after which it is closed.
  case script([LoopbackStep])
}

/// A well-formed response.
package struct LoopbackResponse: Sendable, Redacted {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Data
  /// Whether the connection ends with this response.
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
  /// Repeats the bytes until the peer goes away.
  case sendForever(Data)
  case wait(Duration)
  /// Ends the connection with a TCP reset in place of an orderly close.
  case reset
}
