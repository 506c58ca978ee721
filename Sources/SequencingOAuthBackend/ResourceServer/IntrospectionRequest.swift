import SQBasics
import SQFoundation
import SequencingOAuth

/// A request to the authorization server about one access token.
///
/// - SeeAlso: RFC 7662, section 2.1; RFC 9701, section 4
struct IntrospectionRequest: ClientMessage {
  let endpoint: URL
  let token: String
  /// Whether the response must be signed.
  let wantsSignature: Bool
  let client: ClientCredentials
  let timeout: Duration

  /// Creates the request of a resource server; throws if its provider has no introspection
  /// endpoint.
  init(
    _ token: String, by client: RegisteredClient, wantsSignature: Bool
  ) async throws(SQOAuthError) {
    let endpoint = try Self.endpoint(of: client)
    self.endpoint = endpoint
    self.token = token
    self.wantsSignature = wantsSignature
    self.client = try await client.proving(
      client.unprovenCredentials(supported: client.metadata.introspectionAuthenticationMethods),
      at: endpoint)
    timeout = client.configuration.timeout
  }

  /// Returns the introspection endpoint of a client's provider; throws if it has none.
  static func endpoint(of client: RegisteredClient) throws(SQOAuthError) -> URL {
    guard let endpoint = try client.metadata.address(of: .introspection) else {
      throw SQOAuthError(
        .introspectionUnsupported,
        "the provider has no introspection endpoint, or does not name it; if it has one, configure "
          + "the endpoint")
    }
    return endpoint
  }

  /// The media type of a signed response.
  static let signedType = "application/token-introspection+jwt"

  var purpose: ClientEvent.Request.Purpose { .introspection }

  /// Returns the HTTP request.
  func httpRequest() -> WebRequest {
    var request = client.form(
      [.init("token", token), .init("token_type_hint", "access_token")], to: endpoint,
      timeout: timeout)
    if wantsSignature { request.headers["Accept"] = Self.signedType }
    return request
  }

  /// The secrets that must not appear in a description, an error or a log.
  var secrets: SentSecrets { SentSecrets([token], passwords: client.secrets) }
}

extension IntrospectionRequest: Redacted {
  var description: String { "IntrospectionRequest" }
}
