/// An error that goes to the client, directly or by a redirect of the browser.
///
/// - SeeAlso: RFC 6749, sections 4.1.2.1 and 5.2
struct OAuthFault: Error, Hashable {
  let code: String
  let description: String
  /// The field with the nonce for the next proof; `nil` unless the proof lacks a valid nonce.
  var nonceField: SandboxParameter?

  static func invalidRequest(_ description: String) -> Self {
    Self(code: "invalid_request", description: description)
  }

  static func invalidGrant(_ description: String) -> Self {
    Self(code: "invalid_grant", description: description)
  }

  static func invalidScope(_ description: String) -> Self {
    Self(code: "invalid_scope", description: description)
  }

  static func unauthorizedClient(_ description: String) -> Self {
    Self(code: "unauthorized_client", description: description)
  }

  static func invalidClient(_ description: String) -> Self {
    Self(code: "invalid_client", description: description)
  }

  /// Creates the error for authorization details that are rejected (RFC 9396, section 5).
  static func invalidDetails(_ description: String) -> Self {
    Self(code: "invalid_authorization_details", description: description)
  }

  /// The answer to the client itself: 401 with a challenge if the client's authentication failed,
  /// otherwise 400.
  var answer: Answer {
    let isClient = code == "invalid_client"
    let challenge = [(name: "WWW-Authenticate", value: "Basic realm=\"sandbox\"")]
    var answer = Answer(
      status: isClient ? 401 : 400, headers: isClient ? challenge : [],
      json: .error(code, description))
    if let nonceField { answer.offer(nonceField) }
    return answer
  }
}
