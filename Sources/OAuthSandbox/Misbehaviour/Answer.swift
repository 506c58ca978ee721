import SQBasics
import SQFoundation
import SQLoopback

/// An endpoint's answer in parts, so that a misbehaviour can change one of them.
struct Answer: Sendable, Redacted {
  enum Content: Sendable {
    case json(SandboxJSON)
    case text(String)
    case data(Data)
  }

  var status: Int
  var headers: [(name: String, value: String)]
  var content: Content

  init(status: Int, headers: [(name: String, value: String)] = [], content: Content) {
    self.status = status
    self.headers = headers
    self.content = content
  }

  /// Creates an answer with JSON that caches must not store, because it may contain tokens (RFC
  /// 6749, section 5.1).
  init(status: Int = 200, headers: [(name: String, value: String)] = [], json: SandboxJSON) {
    let own = [
      (name: "Content-Type", value: "application/json"), ("Cache-Control", "no-store"),
      ("Pragma", "no-cache"),
    ]
    self.init(status: status, headers: own + headers, content: .json(json))
  }

  init(_ response: LoopbackResponse) {
    self.init(
      status: response.status, headers: response.headers, content: .data(response.body))
  }

  var body: Data {
    switch content {
    case .json(let json): Data(json.text.utf8)
    case .text(let text): Data(text.utf8)
    case .data(let data): data
    }
  }

  var response: LoopbackResponse {
    LoopbackResponse(status: status, headers: headers, body: body)
  }

  static func methodNotAllowed(_ allowed: String) -> Answer {
    Answer(status: 405, headers: [("Allow", allowed)], content: .text("Use \(allowed).\n"))
  }
}

extension SandboxJSON {
  /// Creates the error object of RFC 6749, section 5.2.
  static func error(_ code: String, _ description: String?) -> SandboxJSON {
    let json: SandboxJSON = ["error": .string(code)]
    guard let description else { return json }
    return json.setting("error_description", to: .string(description))
  }
}
