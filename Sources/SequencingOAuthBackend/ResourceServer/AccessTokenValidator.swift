import SQFoundation
public import SequencingOAuth

/// A validator for the signed access tokens (JWTs) that a resource server receives.
///
/// Use it in a service that clients call; a client itself never reads its access tokens. Validating
/// a token usually needs no request. The server's public keys are fetched once, used while they are
/// fresh, and fetched again if a token names an unknown key. While the server cannot be reached,
/// the known keys stay in use for another 24 hours. A revoked token stays valid here until it
/// expires; use ``TokenIntrospector`` to ask the server instead.
///
/// Any thread or task may use one validator.
///
/// - SeeAlso: RFC 9068
public struct AccessTokenValidator: Sendable {
  /// The claims that a token must have.
  public enum Profile: Sendable, Hashable {
    /// The type `at+jwt`, and the claims `iss`, `exp`, `aud`, `sub`, `client_id`, `iat` and `jti`.
    case rfc9068
    /// The claims `iss`, `exp` and `aud`, for servers that follow no profile.
    ///
    /// The type may also be `JWT` or missing. A token with `nonce`, `at_hash`, `c_hash` or `events`
    /// is rejected, because it is an ID token or a logout token. If the identifier of a client
    /// equals your audience, and the server issues ID tokens to that client, the SDK cannot tell
    /// those ID tokens from access tokens.
    case anyJWT
  }

  /// All public-key algorithms that the SDK supports.
  public static let publicKeyAlgorithms = Set(JWSAlgorithm.allCases.filter { !$0.isSymmetric })

  private let audience: String
  private let algorithms: Set<JWSAlgorithm>
  private let profile: Profile
  private let context: ClientContext
  private let proofs: ProofChecker

  /// Creates the validator of a resource server; no request is sent.
  ///
  /// `audience` is the identifier of this service. A token is rejected if it does not name the
  /// audience, or if its algorithm is not in `algorithms`. The clocks of both servers may differ by
  /// `clockTolerance`. `timeout` is the time limit of a request for metadata or keys.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` for an empty audience, an algorithm that
  ///   needs a secret, or a provider with unusable addresses.
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
    proofs = ProofChecker(context)
  }

  /// Validates an access token and returns its claims.
  ///
  /// `token` is the text after `Bearer` in the request's `Authorization` field. The server's
  /// metadata and keys are fetched if they are not in memory or no longer fresh. A token that is
  /// bound to a key is refused; for such tokens use ``validate(_:)-(ProtectedRequest)``.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid`; answer the request with status 401 then. The
  ///   error of a request if the metadata or the keys could not be fetched; it says nothing about
  ///   the token. If some keys are known, a token with an unknown key is invalid, even if the keys
  ///   cannot be fetched again.
  public func validate(_ token: String) async throws(SQOAuthError) -> AccessTokenClaims {
    let claims = try await claims(of: token)
    try claims.requireUnbound()
    return claims
  }

  /// Validates the access token of a request, and the proof that a bound token needs.
  ///
  /// A token that is bound to a key is valid only with a proof for this request, which can be used
  /// once (DPoP). The proofs of the last minutes are remembered: in `ClientEnvironment.oneTimeValues`
  /// if the app has set it, in the environment's store if it can, and otherwise in the memory of this
  /// process, 10 000 at most. A Bearer token needs no proof; if all callers must have one, call
  /// ``AccessTokenClaims/requireBound()`` too.
  ///
  /// - Throws: `SQOAuthError.Code.invalidDPoPProof` for a missing or wrong proof; the errors of
  ///   ``validate(_:)-(String)``. Answer the request with status 401, and for a bound token with
  ///   a challenge of the scheme `DPoP`.
  /// - SeeAlso: RFC 9449, sections 4.3 and 7
  public func validate(
    _ request: ProtectedRequest
  ) async throws(SQOAuthError) -> AccessTokenClaims {
    let claims = try await claims(of: try request.token().token)
    try await proofs.check(request, claims)
    return claims
  }

  private func claims(of token: String) async throws(SQOAuthError) -> AccessTokenClaims {
    let kind = SignedText.accessToken(isTyped: profile == .rfc9068)
    // Anyone may send a text, so a text that cannot be a token must not cause a request.
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
