import Foundation
import SQLoopback
import SequencingOAuth

extension LoopbackReply {
  /// Returns an answer with JSON.
  static func json(
    _ members: [String: JSONValue], status: Int = 200, _ fields: [(String, String)] = []
  ) -> LoopbackReply {
    let body = (try? JSONEncoder().encode(members)) ?? Data()
    return .response(
      LoopbackResponse(
        status: status,
        headers: [("Content-Type", "application/json")] + fields.map { (name: $0.0, value: $0.1) },
        body: body))
  }

  /// Returns an answer with any text.
  static func text(
    _ text: String, status: Int = 200, type: String = "application/json",
    _ fields: [(String, String)] = []
  ) -> LoopbackReply {
    .response(
      LoopbackResponse(
        status: status,
        headers: [("Content-Type", type)] + fields.map { (name: $0.0, value: $0.1) },
        body: Data(text.utf8)))
  }

  /// Returns an answer without a body.
  static func status(_ status: Int, _ fields: [(String, String)] = []) -> LoopbackReply {
    .text("", status: status, type: "text/plain", fields)
  }
}
