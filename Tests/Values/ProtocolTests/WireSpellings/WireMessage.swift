import Foundation

@testable import SequencingOAuth

/// A server's message that differs from its specification in one way.
struct WireMessage: Sendable {
  var body: Data
  /// The content type, or `nil` for none.
  var type: String? = "application/json"
  var status = 200
  /// The message's body without the member that differs from the specification.
  var plain: Data

  init(_ body: Data, plain: Data? = nil) {
    self.body = body
    self.plain = plain ?? body
  }

  init(_ text: String, plain: String? = nil) {
    self.init(Data(text.utf8), plain: plain.map { Data($0.utf8) })
  }

  var text: String { String(decoding: body, as: UTF8.self) }

  var response: WebResponse {
    var headers: HeaderFields = [:]
    headers["Content-Type"] = type
    return WebResponse(status: status, headers: headers, body: body)
  }

  /// The message without the member that differs from the specification.
  var withoutSpelling: WireMessage {
    var message = self
    message.body = plain
    return message
  }

  /// Returns the message with another content type and the given status.
  func typed(_ type: String?, status: Int = 200) -> WireMessage {
    var message = self
    message.type = type
    message.status = status
    return message
  }

  /// Returns the message with a text of its JSON replaced.
  func replacing(_ text: String, by bytes: [UInt8]) -> WireMessage {
    var message = self
    if let range = body.firstRange(of: Data(text.utf8)) {
      message.body.replaceSubrange(range, with: bytes)
    }
    return message
  }

  /// Returns the message with bytes before and after it.
  func wrapped(_ before: [UInt8] = [], _ after: [UInt8] = []) -> WireMessage {
    var message = self
    message.body = Data(before) + body + Data(after)
    return message
  }

  /// Returns the message in another encoding.
  func encoded(_ encoding: String.Encoding) -> WireMessage {
    var message = self
    message.body = text.data(using: encoding) ?? Data()
    return message
  }
}
