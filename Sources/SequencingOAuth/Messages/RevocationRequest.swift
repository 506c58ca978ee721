import SQBasics
import SQFoundation

/// A request to revoke one token, or to end all access of the app in a provider's own way.
///
/// - SeeAlso: RFC 7009, section 2.1
struct RevocationRequest: ClientMessage {
  /// The kind of the token, for `token_type_hint`.
  enum Kind: String, Sendable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
  }

  let endpoint: URL
  let style: RevocationStyle
  let token: String
  let kind: Kind
  var client: ClientCredentials
  let timeout: Duration

  var purpose: ClientEvent.Request.Purpose { .revocation }

  /// Returns the HTTP request.
  func httpRequest() -> WebRequest {
    switch style {
    case .rfc7009:
      return client.form(
        [.init("token", token), .init("token_type_hint", kind.rawValue)], to: endpoint,
        timeout: timeout)
    case .facebookPermissions:
      var request = WebRequest(
        method: "DELETE", url: endpoint,
        headers: [
          "Accept": "application/json", "Authorization": "Bearer \(token)",
          "Cache-Control": "no-store",
        ])
      request.timeout = timeout
      return request
    case .keycloakLogout:
      return client.form([.init("refresh_token", token)], to: endpoint, timeout: timeout)
    }
  }

  /// The texts that must not appear in a description, an error or a log.
  var secrets: SentSecrets { SentSecrets([token], passwords: client.secrets) }
}

extension RevocationRequest: Redacted {
  var description: String { "RevocationRequest(\(kind.rawValue))" }
}
