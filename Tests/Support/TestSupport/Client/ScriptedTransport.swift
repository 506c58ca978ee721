import Foundation
import SQBasics
import SequencingOAuth

/// An HTTP transport that records the requests, and answers them with a closure.
final class ScriptedTransport: HTTPTransport {
  typealias Answer = @Sendable (WebRequest) async throws -> WebResponse

  private let state = Locked<[WebRequest]>([])
  private let answer: Locked<Answer>

  init(_ answer: @escaping Answer = ScriptedTransport.token()) {
    self.answer = Locked(answer)
  }

  /// Every request so far, in order.
  var requests: [WebRequest] { state.withLock(\.self) }

  /// The forms of the POST requests, read by Foundation and not by the SDK.
  var forms: [[String: String]] { requests.compactMap(Self.form) }

  /// Returns the form of a request, or `nil` if it has none.
  static func form(of request: WebRequest) -> [String: String]? {
    guard request.method == "POST", case .bytes(let data) = request.body else { return nil }
    let query = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "+", with: "%20")
    let items = URLComponents(string: "?\(query)")?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { "\($0), \($1)" }
  }

  /// Uses another answer from now on.
  func answer(_ answer: @escaping Answer) {
    self.answer.withLock { $0 = answer }
  }

  func send(_ request: WebRequest) async throws -> WebResponse {
    state.withLock { $0.append(request) }
    return try await answer.withLock(\.self)(request)
  }
}

extension ScriptedTransport {
  /// Returns an answer with this JSON for every request.
  static func json(_ body: String, status: Int = 200) -> Answer {
    { _ in
      WebResponse(
        status: status, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
    }
  }

  /// Returns an answer with this token for every request.
  static func token(_ token: String = "T", members: String = #""expires_in":3600"#) -> Answer {
    json(#"{"access_token":"\#(token)","token_type":"Bearer",\#(members)}"#)
  }
}
