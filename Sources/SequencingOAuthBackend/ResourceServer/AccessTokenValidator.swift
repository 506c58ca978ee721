public import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Validates the access tokens that come to a resource server, if they are signed JWTs.
///
/// It belongs into a service that others call. The clients that bring the tokens never read them.
/// No request is made for a token: the server's public keys are fetched once, kept while they are
/// fresh, and fetched again when a token names a key that is not among them. While the server cannot
/// be reached, the known keys count for 24 hours more. A token that the server has revoked stays
/// valid here until it expires; ``TokenIntrospector`` asks the server.
///
/// Any thread or task may use one validator.
///
/// - SeeAlso: RFC 9068
public struct AccessTokenValidator: Sendable {
  /// Which claims a token must have.
  public enum Profile: Sendable, Hashable {
    /// The type `at+jwt`, and the claims `iss`, `exp`, `aud`, `sub`, `client_id`, `iat` and `jti`.
    case rfc9068
    /// For servers that follow no profile: the claims `iss`, `exp` and `aud`.
    ///
    /// The type may also be `JWT` or missing. So that no ID token or logout token passes, a token
    /// with `nonce`, `at_hash`, `c_hash` or `events` is refused. If the server issues ID tokens to
    /// clients whose identifier is your audience, they cannot be told apart.
    case anyJWT
  }

  /// The algorithms of all signatures by public keys.
  public static let publicKeyAlgorithms = Set(JWSAlgorithm.allCases.filter { !$0.isSymmetric })

  private let audience: String
  private let algorithms: Set<JWSAlgorithm>
  private let profile: Profile
  private let context: ClientContext

  /// Makes the validator of a resource server; no request is made.
  ///
  /// `audience` is the identifier of this service, which a token must name. A signature by another
  /// than the `algorithms` is refused. The clocks of both servers may differ by `clockTolerance`.
  /// A request for metadata or keys may take as long as `timeout`.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for an empty audience, an algorithm that
  ///   needs a secret, or a provider whose addresses cannot be used.
  public init(
    provider: Provider, audience: String,
    algorithms: Set<JWSAlgorithm> = AccessTokenValidator.publicKeyAlgorithms,
    profile: Profile = .rfc9068, clockTolerance: Duration = .seconds(60),
    timeout: Duration = .seconds(30), environment: ClientEnvironment = ClientEnvironment()
  ) throws(SQOAuthError) {
    guard !audience.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "a resource server needs an audience")
    }
    guard !algorithms.isEmpty, algorithms.isSubset(of: Self.publicKeyAlgorithms) else {
      throw SQOAuthError(
        .invalidConfiguration, "a resource server needs algorithms of public keys")
    }
    self.audience = audience
    self.algorithms = algorithms
    self.profile = profile
    var configuration = try ClientConfiguration(clientID: audience, provider: provider)
    configuration.clockTolerance = clockTolerance
    configuration.timeout = timeout
    context = ClientContext(.success(configuration), environment)
  }

  /// Validates an access token, as it came after `Bearer` in the request.
  ///
  /// The server's metadata and keys are fetched if they are not known or no longer fresh.
  ///
  /// - Throws: ``SQOAuthError/Code/accessTokenInvalid``, which a resource server answers with
  ///   status 401; the error of a request if the metadata or the keys could not be fetched, which
  ///   says nothing about the token. If keys are known, a token by an unknown key is invalid even
  ///   when the keys cannot be fetched again.
  public func validate(_ token: String) async throws(SQOAuthError) -> AccessTokenClaims {
    let kind = SignedText.accessToken(isTyped: profile == .rfc9068)
    // Anyone may send a text, so one that cannot be a token costs the server no request.
    let text = try kind.read(token)
    let client = try await context.client(for: .strangers)
    let signatures = try IssuerSignatures(
      ofTokensBy: algorithms, client.configuration, client.metadata, client.environment)
    let (claims, _) = try await signatures.claims(of: text, as: kind)
    return try AccessTokenRules(
      issuer: signatures.issuer, audience: audience, profile: profile,
      clockTolerance: client.configuration.clockTolerance, now: client.environment.clock.now
    ).check(claims)
  }
}
