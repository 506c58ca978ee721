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

  /// Returns the request in the provider's style of revocation.
  func httpRequest() -> WebRequest {
    switch style {
    case .rfc7009:
      return client.form(
        [.init("token", token), .init("token_type_hint", kind.rawValue)], to: endpoint,
        timeout: timeout)
    case .facebookPermissions:
      return requestWithToken("DELETE")
    case .slackToken:
      return requestWithToken("POST")
    case .gitHubToken:
      return gitHubRequest()
    case .keycloakLogout:
      return client.form([.init("refresh_token", token)], to: endpoint, timeout: timeout)
    }
  }

  /// Returns a request without a body; the token itself authorizes the request.
  private func requestWithToken(_ method: String) -> WebRequest {
    var request = WebRequest(
      method: method, url: endpoint,
      headers: [
        "Accept": "application/json", "Authorization": "Bearer \(token)",
        "Cache-Control": "no-store",
      ])
    request.timeout = timeout
    return request
  }

  private func gitHubRequest() -> WebRequest {
    let address = "\(endpoint.absoluteString)/\(FormCoding.encodePathSegment(client.id))/token"
    let body = JSONValue.object(["access_token": .string(token)])
    var request = WebRequest(
      method: "DELETE", url: URL(string: address) ?? endpoint,
      headers: [
        "Accept": "application/vnd.github+json", "Content-Type": "application/json",
        "Authorization": ClientCredentials.basic(id: client.id, secret: client.secret ?? ""),
        "Cache-Control": "no-store",
      ], body: .bytes((try? body.json("a revocation")) ?? Data()))
    request.timeout = timeout
    return request
  }

  /// The texts that must not appear in a description, an error or a log.
  var secrets: SentSecrets { SentSecrets([token], passwords: client.secrets) }
}

extension RevocationRequest: Redacted {
  var description: String { "RevocationRequest(\(kind.rawValue))" }
}
