import Basics

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
    case (.basicUnescaped, let secret?):
      headers["Authorization"] = Self.basicUnescaped(id: id, secret: secret)
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
    let fields = [
      Self.basic(id: id, secret: secret), Self.basicUnescaped(id: id, secret: secret),
    ]
    return [secret] + fields.map { String($0.dropFirst("Basic ".count)) }
  }

  /// Identifier and secret are form-encoded before they are joined, so that both may hold a colon.
  static func basic(id: String, secret: String) -> String {
    let credentials = FormCoding.encodeCredential(id) + ":" + FormCoding.encodeCredential(secret)
    return "Basic " + Data(credentials.utf8).base64EncodedString()
  }

  /// The field for servers that decode nothing, as RFC 7617 has it.
  private static func basicUnescaped(id: String, secret: String) -> String {
    "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
  }
}

extension ClientCredentials {
  /// Whether Basic has to encode a part of an identifier or a secret.
  static func areChangedByBasic(id: String, secret: String) -> Bool {
    [id, secret].contains { !FormCoding.encodeCredential($0).utf8.elementsEqual($0.utf8) }
  }

  /// The error of a request with these credentials, with the ways out where Basic may be to blame.
  func explaining(_ error: SQOAuthError) -> SQOAuthError {
    guard authentication == .basic, let secret, Self.areChangedByBasic(id: id, secret: secret),
      error.isRefusalOfClient
    else { return error }
    var error = error
    error.message +=
      " (Basic encodes some characters of this client's identifier or secret, as RFC 6749, section "
      + "2.3.1, asks, and many servers do not decode them; the client authentications .post and "
      + ".basicUnescaped send them as they are)"
    return error
  }
}

extension SQOAuthError {
  /// Whether the server refused the client itself, in OAuth's terms or by the status alone.
  fileprivate var isRefusalOfClient: Bool {
    guard response == nil else { return code == .invalidClient }
    return code == .requestRefused || status == 401
  }
}

extension ClientCredentials: Redacted {
  var description: String { "client \(id)" }
}
