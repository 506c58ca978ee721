#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Who the client is, and the one way in which it proves that in a request of the back channel.
///
/// - SeeAlso: RFC 6749, section 2.3.1
struct ClientCredentials: Sendable {
  let id: String
  let secret: String?
  let authentication: ClientAuthentication

  /// A form by POST that asks for JSON, with the client in its header or in its body.
  func form(
    _ parameters: [FormCoding.Pair], to endpoint: URL, timeout: Duration
  ) -> HTTPRequest {
    var headers: HTTPFields = [
      "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
      "Cache-Control": "no-store",
    ]
    var pairs = parameters
    switch (authentication, secret) {
    case (.basic, let secret?):
      headers["Authorization"] = Self.basic(id: id, secret: secret)
    case (.post, let secret?):
      pairs.append(.init("client_id", id))
      pairs.append(.init("client_secret", secret))
    default:
      pairs.append(.init("client_id", id))
    }
    var request = HTTPRequest(
      method: "POST", url: endpoint, headers: headers,
      body: .bytes(Data(FormCoding.encodeBody(pairs).utf8)))
    request.timeout = timeout
    return request
  }

  /// What no text may show of them.
  var secrets: [String] {
    guard let secret else { return [] }
    return [secret, String(Self.basic(id: id, secret: secret).dropFirst("Basic ".count))]
  }

  /// Identifier and secret are form-encoded before they are joined, so that both may hold a colon.
  static func basic(id: String, secret: String) -> String {
    let credentials = FormCoding.encodeValue(id) + ":" + FormCoding.encodeValue(secret)
    return "Basic " + Data(credentials.utf8).base64EncodedString()
  }
}

extension ClientCredentials: CustomStringConvertible, CustomReflectable {
  var description: String { "client \(id)" }
  var customMirror: Mirror { Mirror(self, children: ["client": description]) }
}
