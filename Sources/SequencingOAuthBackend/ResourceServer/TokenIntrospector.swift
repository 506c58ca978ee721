public import SQBasics
import SQCrypto
import SQFoundation
public import SequencingOAuth

/// A checker of a resource server's access tokens, by requests to the introspection endpoint.
///
/// Use it if the tokens are opaque, or if a revoked token must be refused even before it expires.
/// Each result is cached for a short time, but not beyond the token's `exp`, so a token that is
/// used often causes few requests. Simultaneous calls for the same token share one request. The
/// cache contains only digests of the tokens.
///
/// Any thread or task may use one introspector.
///
/// - SeeAlso: RFC 7662
public final class TokenIntrospector: Sendable {
  private let context: ClientContext
  private let audience: String?
  private let cacheTime: Duration
  private let signatureAlgorithms: Set<JWSAlgorithm>?
  private let requiresTokenType: Bool
  private let proofs: ProofChecker
  private let cache: IntrospectionCache
  private let outages = Locked(IntrospectionOutages())
  private let questions = SharedFetches<Data, Answer, SQOAuthError>(
    keepsValues: false, abandonedLimit: 100)

  private struct Answer: Sendable {
    let claims: AccessTokenClaims?
    /// The time of the request, by the clock's steady time.
    ///
    /// The server may have decided at that moment, so the cache time starts then.
    let asked: Duration
  }

  /// Creates the introspector of a resource server; no request is sent.
  ///
  /// `configuration` is the resource server's own client at the provider. `audience` is the
  /// identifier of this service: a server reports the tokens for its other services as active too,
  /// so a token that does not name the audience is rejected. Pass `nil` only if every token of the
  /// server may be used at this service, or if the server names no audience. With an empty text,
  /// each call throws `SQOAuthError.Code.invalidConfiguration`.
  ///
  /// A result is cached for `cacheTime` from the start of its request, even if the token is not
  /// active. With zero or less, each call waits for a request that begins after the call. The cache
  /// has at most `cacheLimit` results for active tokens. Results for other tokens have their own
  /// place, for a tenth as many, so that made-up tokens do not replace the results for real ones.
  ///
  /// With `signatureAlgorithms`, the server must sign its responses with one of these algorithms. A
  /// response must not be older than the sum of `ClientConfiguration.timeout` and
  /// `ClientConfiguration.clockTolerance`.
  ///
  /// Servers also report refresh tokens as active. Such a token is rejected if the response names
  /// its type, in `token_type`, in `token_use` (Ory Hydra) or in `typ` (Keycloak). If your server
  /// sends a `token_type` only for access tokens, set `requiresTokenType`. A response without
  /// `token_type` is then rejected with `SQOAuthError.Code.unexpectedTokenType`.
  ///
  /// - SeeAlso: RFC 7662, sections 2.2 and 4; RFC 9701
  public init(
    _ configuration: ClientConfiguration, audience: String?, cacheTime: Duration = .seconds(30),
    cacheLimit: Int = 10_000, signatureAlgorithms: Set<JWSAlgorithm>? = nil,
    requiresTokenType: Bool = false, environment: ClientEnvironment = ClientEnvironment()
  ) {
    context = ClientContext(Self.checked(configuration, audience), environment)
    self.audience = audience
    self.cacheTime = max(cacheTime, .zero)
    self.signatureAlgorithms = signatureAlgorithms
    self.requiresTokenType = requiresTokenType
    cache = IntrospectionCache(limit: cacheLimit)
    proofs = ProofChecker(context)
  }

  private static func checked(
    _ configuration: ClientConfiguration, _ audience: String?
  ) -> Result<ClientConfiguration, SQOAuthError> {
    audience?.isEmpty == true
      ? .failure(
        SQOAuthError(
          .invalidConfiguration,
          "the audience of the resource server is empty: pass the identifier of your service, or "
            + "nil to accept tokens for any service"))
      : .success(configuration)
  }

  /// Fetches the server's metadata and, if its responses must be signed, its keys, unless they are
  /// in memory and fresh.
  ///
  /// Call it when the service starts, so that a wrong configuration is found before the first
  /// request. You may also call it in each readiness check. It sends no request about a token, so
  /// it does not detect a wrong client secret. While the server fails, repeated calls send at most
  /// one request a second.
  ///
  /// - Throws: The error of a request; `SQOAuthError.Code.introspectionUnsupported` if the provider
  ///   has no introspection endpoint; `SQOAuthError.Code.invalidConfiguration`.
  public func prepare() async throws(SQOAuthError) {
    let client = try await client()
    _ = try IntrospectionRequest.endpoint(of: client)
    try await signatures(by: client)?.requireKeys()
  }

  /// Returns the claims of an access token, or `nil` if the token is not active.
  ///
  /// `token` is the text after `Bearer` in the request's `Authorization` field. If the result is
  /// `nil`, answer the request with status 401.
  ///
  /// If the server is overloaded or rejects the client (status 401), or if requests about two tokens
  /// get no response, the introspector sends no request for a second, or for as long as the server
  /// asks, up to 30 s. During this pause, calls without a cached result throw the error of the last
  /// request. After any other failure of the server, the pause applies only to the same token.
  ///
  /// A request takes at most `ClientConfiguration.timeout`. A cancelled call stops waiting, but its
  /// request continues, so that its result or the server's failure is known to later calls. At most
  /// 100 such requests continue at the same time. A token that is bound to a key or a
  /// certificate is refused with `SQOAuthError.Code.accessTokenInvalid`; for such tokens use
  /// ``claims(of:)-(ProtectedRequest)``.
  ///
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.accessTokenInvalid` for a token of a different
  ///   service; `SQOAuthError.Code.unexpectedTokenType` for an active token that is not an access
  ///   token; `SQOAuthError.Code.introspectionUnsupported`; the server's error, such as
  ///   `SQOAuthError.Code.invalidClient`; the error of a failed request. The last two say nothing
  ///   about the token.
  /// - SeeAlso: RFC 7662, section 2
  public func claims(of token: String) async throws(SQOAuthError) -> AccessTokenClaims? {
    let claims = try await anyClaims(of: token)
    try claims?.requireUnbound()
    return claims
  }

  /// Returns the claims of a request's access token after checking the proof that a bound token
  /// needs, or `nil` if the token is not active.
  ///
  /// The rules for proofs are those of ``AccessTokenValidator/validate(_:)-(ProtectedRequest)``.
  ///
  /// - Throws: `SQOAuthError.Code.invalidDPoPProof` for a missing or wrong proof;
  ///   `SQOAuthError.Code.accessTokenMissing` for a request without a token;
  ///   `SQOAuthError.Code.authorizationMalformed` for several fields, or for a field without
  ///   exactly one token; the errors of ``claims(of:)-(String)``.
  public func claims(
    of request: ProtectedRequest
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    guard let claims = try await anyClaims(of: try request.token().text) else { return nil }
    try await proofs.check(request, claims)
    return claims
  }

  private func anyClaims(of token: String) async throws(SQOAuthError) -> AccessTokenClaims? {
    let claims = try await claimsOfAnyAudience(of: token)
    guard let audience, let claims else { return claims }
    guard !claims.audience.isEmpty else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the server does not say which service the access token is for (\"aud\"); if it never does, "
          + "give the introspector no audience")
    }
    try claims.require(audience: audience)
    return claims
  }

  private func claimsOfAnyAudience(
    of token: String
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    guard !token.isEmpty else { return nil }
    let digest = Digest.sha256(token)
    let clock = context.environment.clock
    let called = clock.steadyTime
    if let known = cache.claims(of: digest, at: called, clock.now) { return known }
    while true {
      let now = clock.steadyTime
      if let failure = outages.withLock({ $0.failure(for: digest, at: now) }) { throw failure }
      let isOwn = Locked(false)
      let answer = try await questions.value(of: digest) { [self] () throws(SQOAuthError) in
        isOwn.withLock { $0 = true }
        let question = cache.begin(digest)
        defer { cache.end(question) }
        let asked = clock.steadyTime
        let claims = try await ask(token, digest)
        cache.keep(claims, for: question, from: asked, for: cacheTime)
        return Answer(claims: claims, asked: asked)
      }
      guard let answer else { throw .waitCancelled }
      // Another call's request may have begun too long ago for this call. A request of this call
      // counts in any case, because an app's clock may have been set back meanwhile.
      if isOwn.withLock(\.self) || called <= answer.asked + cacheTime { return answer.claims }
    }
  }

  /// Forgets the result for a token, for example when its user has just signed out.
  ///
  /// The next call sends a new request, even if another call still waits for an earlier response.
  public func forget(_ token: String) {
    let digest = Digest.sha256(token)
    cache.forget(digest)
    questions.detach(digest)
  }

  /// Sends a request about a token, and records whether the server failed.
  private func ask(
    _ token: String, _ digest: Data
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    do throws(SQOAuthError) {
      let claims = try await ask(token)
      outages.withLock { $0.answered() }
      return claims
    } catch {
      let now = context.environment.clock.steadyTime
      outages.withLock { $0.note(error, for: digest, at: now) }
      throw error
    }
  }

  private func ask(_ token: String) async throws(SQOAuthError) -> AccessTokenClaims? {
    let client = try await client()
    let signatures = try signatures(by: client)
    let endpoint = try IntrospectionRequest.endpoint(of: client)
    let (answer, request) = try await client.exchange(at: endpoint) {
      () throws(SQOAuthError) in
      try await IntrospectionRequest(token, by: client, wantsSignature: signatures != nil)
    }
    let response = IntrospectionResponse(
      request: request, client: client, requiresTokenType: requiresTokenType)
    return try await response.read(answer, signatures: signatures)?
      .checked(by: client.environment.clock)
  }

  /// Returns the client with the server's metadata, which must name keys if responses are signed.
  private func client() async throws(SQOAuthError) -> RegisteredClient {
    try await context.client(
      for: .strangers, needs: signatureAlgorithms == nil ? .endpoints : .keys)
  }

  /// Returns the verifier of signed responses; `nil` if responses need no signature.
  private func signatures(by client: RegisteredClient) throws(SQOAuthError) -> IssuerSignatures? {
    try signatureAlgorithms.map { algorithms throws(SQOAuthError) in
      try client.signatures(ofTokensBy: algorithms)
    }
  }
}

extension TokenIntrospector: Redacted {
  /// A fixed text, without secrets.
  public var description: String { "token introspector" }
}
