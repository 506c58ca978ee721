public import SQBasics
import SQCrypto
public import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Asks the authorization server about the access tokens that come to a resource server.
///
/// Use it if the tokens are opaque, or if a revoked token must not be accepted for the rest of its
/// life. Each answer is kept for a short time, and never beyond the token's `exp`, so that a busy
/// service asks once for a token's many requests. However many requests bring one token at a time,
/// the server is asked once. Tokens are remembered as digests.
///
/// Any thread or task may use one introspector.
///
/// - SeeAlso: RFC 7662
public final class TokenIntrospector: Sendable {
  private let context: ClientContext
  private let cacheTime: Duration
  private let signatureAlgorithms: Set<JWSAlgorithm>?
  private let requiresTokenType: Bool
  private let cache: IntrospectionCache
  private let outages = Locked(IntrospectionOutages())
  private let questions = SharedFetches<Data, Answer, SQOAuthError>(keepsValues: false)

  private struct Answer: Sendable {
    let claims: AccessTokenClaims?
    /// When the server was asked, by the clock's steady time; it may have answered at that moment.
    let asked: Duration
  }

  /// Makes the introspector of a resource server; no request is made.
  ///
  /// `configuration` is the resource server's own client at the provider. An answer counts for
  /// `cacheTime` from the question on, also that a token is not active; with zero the server is asked
  /// each time. At most
  /// `cacheLimit` answers are kept.
  ///
  /// With `signatureAlgorithms` the server must sign its answers, by one of these. The signature must
  /// be new: not older than ``ClientConfiguration/timeout`` and
  /// ``ClientConfiguration/clockTolerance`` together.
  ///
  /// Servers also call refresh tokens active. Such a token is refused if the answer says what it is,
  /// in `token_type`, in `token_use` (Ory Hydra) or in `typ` (Keycloak). If your server names a
  /// `token_type` for access tokens only, set `requiresTokenType`; then a token without it is refused
  /// with ``SQOAuthError/Code/unexpectedTokenType``.
  ///
  /// - SeeAlso: RFC 7662, sections 2.2 and 4; RFC 9701
  public init(
    _ configuration: ClientConfiguration, cacheTime: Duration = .seconds(30),
    cacheLimit: Int = 10_000, signatureAlgorithms: Set<JWSAlgorithm>? = nil,
    requiresTokenType: Bool = false, environment: ClientEnvironment = ClientEnvironment()
  ) {
    context = ClientContext(.success(configuration), environment)
    self.cacheTime = cacheTime
    self.signatureAlgorithms = signatureAlgorithms
    self.requiresTokenType = requiresTokenType
    cache = IntrospectionCache(limit: cacheLimit)
  }

  /// What the server says about an access token, as it came after `Bearer` in the request; `nil` if
  /// it is not active, which a resource server answers with status 401.
  ///
  /// A server that cannot be reached, or that says that it is overloaded, is left alone for a second
  /// or for as long as it asks, up to half a minute: calls get its error meanwhile. After any other
  /// failure of the server, the same is done for that token.
  ///
  /// Compare ``AccessTokenClaims/audience`` with the name of your service, if the server issues
  /// tokens for several. A request takes at most ``ClientConfiguration/timeout``.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/unexpectedTokenType`` for an active token that
  ///   is no access token; ``SQOAuthError/Code/introspectionUnsupported``; the server's error, such
  ///   as ``SQOAuthError/Code/invalidClient``; the reason why the request failed, which says nothing
  ///   about the token.
  /// - SeeAlso: RFC 7662, section 2
  public func claims(of token: String) async throws(SQOAuthError) -> AccessTokenClaims? {
    guard !token.isEmpty else { return nil }
    let digest = Digest.sha256(token)
    let clock = context.environment.clock
    let called = clock.steadyTime
    if let known = cache.claims(of: digest, at: called, clock.now) { return known }
    while true {
      if let failure = outages.withLock({ $0.failure(for: digest, at: clock.steadyTime) }) {
        throw failure
      }
      let answer = try await questions.value(of: digest) { [self] () throws(SQOAuthError) in
        let question = cache.begin(digest)
        defer { cache.end(question) }
        let asked = clock.steadyTime
        let claims = try await ask(token, digest)
        cache.keep(claims, for: question, from: asked, for: cacheTime)
        return Answer(claims: claims, asked: asked)
      }
      guard let answer else { throw .waitCancelled }
      // The question of another call may be older than an answer may be.
      if called <= answer.asked + cacheTime { return answer.claims }
    }
  }

  /// Forgets what is known about a token, such as one that its user has just given up.
  ///
  /// The next call asks the server anew, even if another call still waits for an earlier answer.
  public func forget(_ token: String) {
    let digest = Digest.sha256(token)
    cache.forget(digest)
    questions.detach(digest)
  }

  /// Asks the server; what it says of a token, or that it failed, is noted.
  private func ask(
    _ token: String, _ digest: Data
  ) async throws(SQOAuthError) -> AccessTokenClaims? {
    do throws(SQOAuthError) {
      let claims = try await ask(token)
      outages.withLock { $0.answered() }
      return claims
    } catch {
      outages.withLock { $0.note(error, for: digest, at: context.environment.clock.steadyTime) }
      throw error
    }
  }

  private func ask(_ token: String) async throws(SQOAuthError) -> AccessTokenClaims? {
    let client = try await context.client(for: .strangers)
    let signatures: IssuerSignatures? =
      if let signatureAlgorithms {
        try IssuerSignatures(
          ofTokensBy: signatureAlgorithms, client.configuration, client.metadata,
          client.environment)
      } else {
        nil
      }
    let request = try await IntrospectionRequest(
      token, by: client, wantsSignature: signatures != nil)
    let answer = try await client.environment.httpClient.exchange(request.httpRequest())
    let response = IntrospectionResponse(
      request: request, client: client, requiresTokenType: requiresTokenType)
    return try await response.read(answer, signatures: signatures)
  }
}

extension TokenIntrospector: Redacted {
  /// A fixed text.
  public var description: String { "token introspector" }
}
