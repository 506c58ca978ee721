import SQBasics
import SQCrypto
package import SQFoundation

/// The client's authentication at the endpoints of its server.
extension RegisteredClient {
  /// Returns the client's credentials for one request to the token endpoint, or to an endpoint that
  /// accepts the same authentication methods.
  func credentials(at endpoint: URL) async throws(SQOAuthError) -> ClientCredentials {
    try await proving(unprovenCredentials(supported: nil), at: endpoint)
  }

  /// Returns the client's credentials, without an assertion, for an endpoint that may list its own
  /// authentication methods.
  ///
  /// At an endpoint without a list, the client uses the methods of the token endpoint, although the
  /// default for revocations is Basic (RFC 8414, section 2). A client that authenticates with an
  /// assertion at the token endpoint does so at every endpoint, because some servers forget to list
  /// the method, and no other party can use the assertion.
  package func unprovenCredentials(
    supported: [String]?
  ) throws(SQOAuthError) -> ClientCredentials {
    let methods = metadata.clientAuthenticationMethods
    let usual = try? configuration.authentication(supported: methods)
    let method =
      if let usual, usual.usesAssertion {
        usual
      } else {
        try configuration.authentication(supported: supported ?? methods)
      }
    return ClientCredentials(
      id: configuration.clientID, secret: configuration.clientSecret, authentication: method,
      keyID: [.privateKeyJWT, .signedSecret].contains(method) ? assertionKey?.keyID : nil,
      isAudienceFixed: configuration.profile != .standard, listedMethods: methods)
  }

  /// The key that signs the assertions of the client's authentication; `nil` if the client has no
  /// key, or if a source provides the assertions.
  private var assertionKey: ClientKey? {
    configuration.clientAssertionSource == nil ? configuration.clientKey : nil
  }

  /// Throws if the client signs its authentication with an algorithm that the server does not list.
  ///
  /// A server without a list may accept any algorithm.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported``.
  /// - SeeAlso: RFC 8414, section 2
  func checkAssertionAlgorithm() throws(SQOAuthError) {
    guard let names = metadata.clientAssertionAlgorithms else { return }
    let algorithm: JWSAlgorithm
    switch try unprovenCredentials(supported: nil).authentication {
    case .privateKeyJWT, .signedSecret:
      guard let key = assertionKey else { return }
      algorithm = key.algorithm
    case .clientSecretJWT: algorithm = .hs256
    default: return
    }
    guard JWSAlgorithm.all(in: names).contains(algorithm) else {
      throw SQOAuthError(
        .signInUnsupported,
        "the server accepts no client authentication that is signed with the client's algorithm "
          + "\(algorithm.rawValue) (token_endpoint_auth_signing_alg_values_supported)")
    }
  }

  /// Returns the credentials for one request, with a new assertion if the authentication method
  /// needs one.
  package func proving(
    _ credentials: ClientCredentials, at endpoint: URL
  ) async throws(SQOAuthError) -> ClientCredentials {
    let assertion = JWTAssertion(
      issuer: configuration.provider.assertionIssuer ?? configuration.clientID,
      subject: configuration.clientID)
    var credentials = credentials
    switch credentials.authentication {
    case .privateKeyJWT, .signedSecret:
      if let source = configuration.clientAssertionSource {
        credentials.assertion = try await source.assertion(
          for: AssertionSource.Need(audience: audience(at: endpoint))
        ).text
      } else {
        credentials.assertion = try await sign(assertion, for: endpoint)
      }
    case .clientSecretJWT:
      credentials.assertion = try SecretSigner(configuration.clientSecret)
        .sign(claims(of: assertion, for: endpoint))
    default: break
    }
    return credentials
  }

  /// Returns the assertion of a grant, which the client signs or its source provides.
  func text(
    of assertion: GrantAssertion, scope: String?, for endpoint: URL
  ) async throws(SQOAuthError) -> String {
    switch assertion {
    case .signed(let assertion):
      return try await sign(assertion, for: endpoint)
    case .brought(let source, let user):
      let assertion = try await source.assertion(
        for: AssertionSource.Need(
          audience: audience(at: endpoint), scope: scope, user: user.current))
      if let named = assertion.user { user.resolve(named) }
      return assertion.text
    }
  }

  /// Signs an assertion with the client's key.
  ///
  /// - SeeAlso: RFC 7523, section 3
  func sign(
    _ assertion: JWTAssertion, for endpoint: URL
  ) async throws(SQOAuthError) -> String {
    guard let key = configuration.clientKey else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the client has no key to sign with; set the configuration's clientKey"
      )
    }
    return try await key.sign(
      claims(of: assertion, for: endpoint), listed: metadata.clientAssertionAlgorithms)
  }

  /// Returns the claims of an assertion.
  ///
  /// Each assertion has a new identifier, so that a server can reject a repeated one. It expires
  /// when its lifetime plus the clock tolerance has passed.
  private func claims(of assertion: JWTAssertion, for endpoint: URL) -> [String: JSONValue] {
    let now = serverTime(at: endpoint).timeIntervalSince1970
    let end = now + (assertion.lifetime + configuration.clockTolerance).seconds
    let issuer = assertion.issuer ?? configuration.clientID
    var claims: [String: JSONValue] = [
      "iss": .string(issuer), "sub": .string(assertion.subject ?? issuer),
      "aud": .string(assertion.audience ?? audience(at: endpoint)),
      "iat": Self.time(now), "exp": Self.time(end),
      "jti": .string(RandomString.make()),
    ]
    for (name, value) in assertion.additionalClaims {
      claims[name] = value == .null ? nil : value
    }
    return claims
  }

  private static func time(_ seconds: Double) -> JSONValue {
    .integer(Int64(exactly: seconds.rounded(.down)) ?? .max)
  }

  /// Returns the server's name in assertions (`aud`).
  ///
  /// It is a single text, so that no other server can claim to be one of several audiences.
  private func audience(at endpoint: URL) -> String {
    switch configuration.provider.assertionAudience {
    case .issuer: metadata.issuer ?? metadata.tokenEndpoint.absoluteString
    case .tokenEndpoint: metadata.tokenEndpoint.absoluteString
    case .requestedEndpoint: endpoint.absoluteString
    case .other(let name): name
    }
  }
}
