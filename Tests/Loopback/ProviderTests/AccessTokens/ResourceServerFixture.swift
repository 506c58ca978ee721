import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend

@testable import TestSupport

/// A service that checks its callers' access tokens against a sandbox.
struct ResourceServerFixture {
  static let audience = "https://files.example.com"

  let sandbox: SandboxServer
  let clock: ManualClock
  let environment: ClientEnvironment

  /// Creates a sandbox whose access tokens are JWTs if `algorithm` is not `nil`.
  init(
    _ algorithm: SandboxSigningAlgorithm? = .rs256,
    change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    var options = SandboxOptions()
    options.now = { clock.now }
    options.accessTokenFormat = algorithm.map { .jwt($0) } ?? .opaque
    change(&options)
    sandbox = try await SandboxServer.start(options)
    var environment = ClientEnvironment()
    environment.clock = clock
    self.environment = environment
  }

  var provider: Provider { .issuer(sandbox.issuer.absoluteString) }

  /// Returns a new access token for this service.
  func token(
    scopes: [String] = ["profile", "demo"], audiences: [String] = [audience],
    _ misbehaviour: SandboxMisbehaviour? = nil
  ) -> String {
    if let misbehaviour { sandbox.misbehave(at: .token, misbehaviour) }
    return sandbox.issueTokens(scopes: scopes, audiences: audiences).accessToken
  }

  func validator(
    _ profile: AccessTokenValidator.Profile = .rfc9068
  ) throws -> AccessTokenValidator {
    try AccessTokenValidator(
      provider: provider, audience: Self.audience, profile: profile, environment: environment)
  }

  func introspector(
    audience: String? = audience, cacheTime: Duration = .seconds(30), cacheLimit: Int = 10_000,
    signatureAlgorithms: Set<JWSAlgorithm>? = nil, requiresTokenType: Bool = false,
    secret: String? = SandboxClient.service.secret
  ) throws -> TokenIntrospector {
    TokenIntrospector(
      try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: secret, provider: provider),
      audience: audience, cacheTime: cacheTime, cacheLimit: cacheLimit,
      signatureAlgorithms: signatureAlgorithms,
      requiresTokenType: requiresTokenType, environment: environment)
  }

  /// The number of introspection requests that the sandbox received.
  var questions: Int { sandbox.requests(to: .introspection).count }
}
