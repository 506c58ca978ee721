#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request to the token endpoint: a grant's parameters and exactly one client authentication.
///
/// - SeeAlso: RFC 6749, sections 2.3.1, 4.1.3 and 6
struct TokenRequest: Sendable {
  let endpoint: URL
  /// `grant_type` and what belongs to it, in order.
  let parameters: [FormCoding.Pair]
  let clientID: String?
  let clientSecret: String?
  let authentication: ClientAuthentication
  let timeout: Duration

  /// The request for the wire.
  func httpRequest() -> HTTPRequest {
    var headers: HTTPFields = [
      "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
      "Cache-Control": "no-store",
    ]
    var pairs = parameters
    if let clientID {
      switch (authentication, clientSecret) {
      case (.basic, let secret?):
        headers["Authorization"] = Self.basicCredentials(clientID: clientID, secret: secret)
      case (.post, let secret?):
        pairs.append(.init("client_id", clientID))
        pairs.append(.init("client_secret", secret))
      default:
        pairs.append(.init("client_id", clientID))
      }
    }
    var request = HTTPRequest(
      method: "POST", url: endpoint, headers: headers,
      body: .bytes(Data(FormCoding.encodeBody(pairs).utf8)))
    request.timeout = timeout
    return request
  }

  /// What no text may show: every value but those that anyone may know.
  var secrets: SentSecrets {
    let open: Set = ["grant_type", "redirect_uri", "scope", "username"]
    var secrets = parameters.filter { !open.contains($0.name) }.map(\.value)
    if let clientSecret {
      secrets.append(clientSecret)
      if let clientID {
        let field = Self.basicCredentials(clientID: clientID, secret: clientSecret)
        secrets.append(String(field.dropFirst("Basic ".count)))
      }
    }
    return SentSecrets(secrets)
  }

  /// Identifier and secret are form-encoded before they are joined, so that both may hold a colon.
  static func basicCredentials(clientID: String, secret: String) -> String {
    let credentials = FormCoding.encodeValue(clientID) + ":" + FormCoding.encodeValue(secret)
    return "Basic " + Data(credentials.utf8).base64EncodedString()
  }
}

extension TokenRequest: CustomStringConvertible, CustomReflectable {
  var description: String { "TokenRequest(\(parameters.value("grant_type") ?? ""))" }
  var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
