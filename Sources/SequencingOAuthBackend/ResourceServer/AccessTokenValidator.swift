import SQFoundation
public import SequencingOAuth

/// A validator for the signed access tokens (JWTs) that a resource server receives.
///
/// Use it in a service that clients call; a client itself never reads its access tokens. Validating
/// a token usually needs no request. The server's public keys are fetched once, used while they are
/// fresh, and fetched again if a token names an unknown key. While the server cannot be reached,
/// the known keys stay in use for another 24 hours. A validator accepts a revoked token until the
/// token expires; use ``TokenIntrospector`` to ask the server instead.
///
/// The validator remembers the last 2000 valid tokens by their digests. For such a token, it
/// checks the dates, but does not verify the signature again while the server publishes the same
/// keys. It looks for changed keys at most once a second.
///
/// Any thread or task may use one validator.
///
/// - SeeAlso: RFC 9068
public struct AccessTokenValidator: Sendable {
  /// The type and the claims that a token must have.
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
  private let clockTolerance: Duration
  private let context: ClientContext
  private let proofs: ProofChecker
  let verified = VerifiedTokens()

  /// Creates the validator of a resource server; no request is sent.
  ///
  /// `audience` is the identifier of this service. A token is rejected if it does not name the
  /// audience, or if its algorithm is not in `algorithms`. The clocks of both servers may differ by
  /// `clockTolerance`, at most by 10 minutes. `timeout` is the time limit of a request for metadata or keys.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` for an empty audience, no algorithm, an
  ///   algorithm that needs a secret, or a provider with unusable addresses.
  public init(
    provider: Provider, audience: String,
    algorithms: Set<JWSAlgorithm> = AccessTokenValidator.publicKeyAlgorithms,
    profile: Profile = .rfc9068, clockTolerance: Duration = .seconds(60),
    timeout: Duration = .seconds(30), environment: ClientEnvironment = ClientEnvironment()
  ) throws(SQOAuthError) {
    guard !audience.isEmpty else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the audience of the resource server is empty: pass the identifier of your service")
    }
    guard !algorithms.isEmpty, algorithms.isSubset(of: Self.publicKeyAlgorithms) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a resource server needs one or more algorithms with public keys, such as RS256 or ES256, "
          + "and accepts no others: change its set of algorithms")
    }
    self.audience = audience
    self.algorithms = algorithms
    self.profile = profile
    var configuration = try ClientConfiguration(clientID: audience, provider: provider)
    configuration.clockTolerance = clockTolerance
    self.clockTolerance = configuration.clockTolerance
    configuration.timeout = timeout
    context = ClientContext(.success(configuration), environment)
    proofs = ProofChecker(context)
  }

  /// Fetches the issuer's metadata and its keys, unless they are in memory and fresh.
  ///
  /// Tokens can be checked when this call returns. Call it when the service starts, so that the
  /// first request does not wait. You may also call it in each readiness check. While the keys are
  /// fresh, no request is sent. While the server fails, repeated calls send at most one request a
  /// second.
  ///
  /// - Throws: The error of a request if the metadata or the keys could not be fetched, and no
  ///   known keys are in use; `SQOAuthError.Code.invalidConfiguration` if the provider has no
  ///   issuer or no keys; `SQOAuthError.Code.invalidResponse` if no key fits one of the algorithms.
  public func prepare() async throws(SQOAuthError) {
    try await signatures().requireKeys()
  }

  /// Validates an access token and returns its claims.
  ///
  /// `token` is the text after `Bearer` in the request's `Authorization` field. The server's
  /// metadata and keys are fetched if they are not in memory or no longer fresh. A token that is
  /// bound to a key or a certificate is refused; for such tokens use
  /// ``validate(_:)-(ProtectedRequest)``.
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

  /// Validates the Bearer token in a request's `Authorization` field and returns its claims.
  ///
  /// `authorization` contains the values of all `Authorization` fields of the request. The scheme's
  /// letter case does not matter. A request with a different scheme counts as a request without a
  /// token; for tokens of the scheme DPoP use ``validate(_:)-(ProtectedRequest)``.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenMissing` for a request without a Bearer token;
  ///   `SQOAuthError.Code.authorizationMalformed` for several fields, or for a field without
  ///   exactly one token; the errors of ``validate(_:)-(String)``. Answer each with an
  ///   ``AccessRefusal``.
  /// - SeeAlso: RFC 6750, sections 2.1 and 3.1
  public func validate(authorization: [String]) async throws(SQOAuthError) -> AccessTokenClaims {
    try await validate(try ReceivedToken(authorization, of: [.bearer]).text)
  }

  /// Validates the access token of a request, and the proof that a bound token needs.
  ///
  /// A token that is bound to a key is valid only with a proof (DPoP) for this request, and each
  /// proof can be used once. The proofs of the last minutes are remembered in
  /// `ClientEnvironment.oneTimeValues` if the app has set it, otherwise in the environment's store
  /// if the store supports that, and otherwise in the memory of this process, 10 000 at most. A
  /// Bearer token needs no proof; if all callers must have one, call
  /// ``AccessTokenClaims/requireBound()`` too.
  ///
  /// - Throws: `SQOAuthError.Code.invalidDPoPProof` for a missing or wrong proof;
  ///   `SQOAuthError.Code.accessTokenMissing` for a request without a token;
  ///   `SQOAuthError.Code.authorizationMalformed` for several fields, or for a field without
  ///   exactly one token; the errors of ``validate(_:)-(String)``. Answer each with an
  ///   ``AccessRefusal``.
  /// - SeeAlso: RFC 9449, sections 4.3 and 7
  public func validate(
    _ request: ProtectedRequest
  ) async throws(SQOAuthError) -> AccessTokenClaims {
    let claims = try await claims(of: try request.token().text)
    try await proofs.check(request, claims)
    return claims
  }

  private func claims(of token: String) async throws(SQOAuthError) -> AccessTokenClaims {
    let digest = VerifiedTokens.digest(of: token)
    if let digest, let claims = try await knownClaims(of: digest) { return claims }
    let kind = SignedText.accessToken(isTyped: profile == .rfc9068)
    // Anyone may send a text, so a text that cannot be a token must not cause a request.
    let text = try kind.read(token)
    let signatures = try await signatures()
    let (members, _, keys) = try await signatures.claims(of: text, as: kind)
    let rules = AccessTokenRules(
      issuer: signatures.issuer(of: members), audience: audience, profile: profile, dates: dates)
    let claims = try rules.check(members).checked(by: context.withEnvironment(\.clock))
    if let digest, let keys {
      let entry = VerifiedTokens.Entry(claims: claims, keys: keys)
      verified.keep(entry, of: digest, at: steadyTime)
    }
    return claims
  }

  /// Returns the claims of a token that was verified before; `nil` for any other token, and if the
  /// issuer's keys have changed.
  private func knownClaims(of digest: Data) async throws(SQOAuthError) -> AccessTokenClaims? {
    guard let (entry, isCurrent) = verified.entry(of: digest, at: steadyTime) else { return nil }
    if !isCurrent {
      let signatures = try await signatures()
      guard let keys = try await signatures.currentKeys(), keys == entry.keys else { return nil }
      // The entry gets the key set that is in memory now. The next check then finds that the entry
      // and the memory share one key set, and need not compare the keys.
      let entry = VerifiedTokens.Entry(claims: entry.claims, keys: keys)
      verified.keep(entry, of: digest, at: steadyTime)
    }
    try dates.check(entry.claims)
    return entry.claims
  }

  private var steadyTime: Duration { context.withEnvironment(\.clock).steadyTime }

  private var dates: AccessTokenDates {
    AccessTokenDates(now: context.withEnvironment(\.clock).now, clockTolerance: clockTolerance)
  }

  private func signatures() async throws(SQOAuthError) -> IssuerSignatures {
    let client = try await context.client(for: .strangers, needs: .keys)
    return try client.signatures(ofTokensBy: algorithms)
  }
}
