import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request that ends one token, or all that the user gave the app, in the provider's own way.
///
/// - SeeAlso: RFC 7009, section 2.1
struct RevocationRequest: Sendable {
  /// `token_type_hint`.
  enum Kind: String, Sendable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
  }

  let endpoint: URL
  let style: RevocationStyle
  let token: String
  let kind: Kind
  let client: ClientCredentials
  let timeout: Duration

  /// The requests that end a token, in the order in which they are to be sent.
  ///
  /// The refresh token comes first: with it alone a thief could go on. Each request is worth sending
  /// though the one before it failed with ``SQOAuthError/Code/unsupportedTokenType``.
  static func all(
    for token: SQToken, of configuration: ClientConfiguration, _ metadata: ProviderMetadata
  ) throws(SQOAuthError) -> [RevocationRequest] {
    guard let endpoint = metadata.revocationEndpoint else {
      throw SQOAuthError(
        .revocationUnsupported,
        "the provider has no revocation endpoint; sign out locally, or give the endpoint by hand")
    }
    let client = ClientCredentials(
      id: configuration.clientID, secret: configuration.clientSecret,
      authentication: try configuration.authentication(
        supported: metadata.revocationAuthenticationMethods
          ?? metadata.clientAuthenticationMethods))
    func request(_ token: String, _ kind: Kind) -> RevocationRequest {
      RevocationRequest(
        endpoint: endpoint, style: configuration.provider.revocationStyle, token: token,
        kind: kind, client: client, timeout: configuration.timeout)
    }
    let refresh = token.refreshToken.map { request($0, .refreshToken) }
    switch configuration.provider.revocationStyle {
    case .rfc7009:
      return [refresh, request(token.accessToken, .accessToken)].compactMap(\.self)
    case .facebookPermissions:
      return [request(token.accessToken, .accessToken)]
    case .keycloakLogout:
      guard let refresh else {
        throw SQOAuthError(
          .revocationUnsupported, "the provider's logout needs a refresh token, and there is none")
      }
      return [refresh]
    }
  }

  /// The request for the wire.
  func httpRequest() -> HTTPRequest {
    switch style {
    case .rfc7009:
      return client.form(
        [.init("token", token), .init("token_type_hint", kind.rawValue)], to: endpoint,
        timeout: timeout)
    case .facebookPermissions:
      var request = HTTPRequest(
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

  /// What no text may show.
  var secrets: SentSecrets { SentSecrets([token] + client.secrets) }
}

extension RevocationRequest: Redacted {
  var description: String { "RevocationRequest(\(kind.rawValue))" }
}
