import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// A resource server that validates access tokens itself (RFC 9068).
@Suite(.timeLimit(.minutes(2))) struct AccessTokenValidatorTests {
  @Test(arguments: SandboxSigningAlgorithm.allCases.filter { !$0.rawValue.hasPrefix("HS") })
  func `an access token of the server is accepted`(algorithm: SandboxSigningAlgorithm) async throws
  {
    let server = try await ResourceServerFixture(algorithm)
    let validator = try server.validator()
    let claims = try await validator.validate(server.token())
    #expect(claims.issuer == server.sandbox.issuer.absoluteString)
    #expect(claims.subject == SandboxUser.alice.subject)
    #expect(claims.clientID == SandboxClient.app.id && claims.scopes == ["profile", "demo"])
    #expect(claims.audience == [ResourceServerFixture.audience] && claims.identifier != nil)
    #expect(claims.expirationDate == claims.issueDate?.addingTimeInterval(3600))
    try claims.require(scopes: "demo", "profile")
    failure(.insufficientScope) { try claims.require(scopes: "demo", "files") }
    // One request for the metadata and one for the keys are enough for all tokens.
    let others = [server.token(audiences: ["x", ResourceServerFixture.audience]), server.token()]
    for token in others { _ = try await validator.validate(token) }
    #expect(server.sandbox.requests.count == 2)
    #expect(!"\(claims)".contains(SandboxUser.alice.subject))
  }

  @Test(
    arguments: [
      SandboxIDTokenFault.empty, .tooLong, .malformedBase64, .twoParts, .encrypted,
      .headerNotJSON, .claimsNotJSON, .unsigned, .noSignature, .wrongSignature,
      .hmacWithPublicKey, .unknownKeyID, .unpublishedKey, .weakKey, .critical, .embeddedKey,
      .keyAddress, .doubledAlgorithm,
    ])
  func `a malformed token or a token with a wrong signature is rejected`(
    fault: SandboxIDTokenFault
  ) async throws {
    let server = try await ResourceServerFixture()
    let token =
      fault == .tooLong
      ? server.token() + String(repeating: "A", count: 1 << 20) : server.token(.jwt(fault))
    try await refuse(token, server)
  }

  @Test func `more than ten minutes of clock tolerance count as ten minutes`() async throws {
    let server = try await ResourceServerFixture()
    // An app may take milliseconds for seconds.
    let validator = try AccessTokenValidator(
      provider: server.provider, audience: ResourceServerFixture.audience,
      clockTolerance: .seconds(60_000), environment: server.environment)
    let token = server.token()
    server.clock.advance(by: 3600 + 599)
    _ = try await validator.validate(token)
    server.clock.advance(by: 2)
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
  }

  @Test(arguments: Change.all)
  func `a token with a wrong typ or with a wrong or missing claim is rejected`(change: Change)
    async throws
  {
    let server = try await ResourceServerFixture()
    try await refuse(server.token(.jwt(altered: change.apply)), server)
  }

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let apply: @Sendable (inout SandboxJWT) -> Void

    init(_ name: String, _ apply: @escaping @Sendable (inout SandboxJWT) -> Void) {
      testDescription = name
      self.apply = apply
    }

    static let all =
      ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"].map { name in
        Change("\(name) is missing") { $0.claims[name] = nil }
      } + [
        Change("typ is JWT") { $0.header["typ"] = "JWT" },
        Change("typ is missing") { $0.header["typ"] = nil },
        Change("iss has an additional slash") { $0.claims["iss"] = .string("\($0.issuer)/") },
        Change("iss is that of another server") { $0.claims["iss"] = "https://other.example" },
        Change("aud is another service") { $0.claims["aud"] = "https://other.example" },
        Change("aud is the service in another letter case") {
          $0.claims["aud"] = "https://FILES.example.com"
        },
        Change("aud is empty") { $0.claims["aud"] = [] },
        Change("aud is a number") { $0.claims["aud"] = 1 },
        Change("exp is past") { token in
          // The token is issued at the time of the validator's clock.
          if case .integer(let now)? = token.claims["iat"] {
            token.claims["exp"] = .integer(now - 90)
          }
        },
        Change("exp is a text") { $0.claims["exp"] = "tomorrow" },
        Change("exp is in milliseconds") { $0.claims["exp"] = .integer(1_750_000_000_000) },
        Change("iat is in the future") {
          $0.claims["iat"] = .integer(Int(Date().timeIntervalSince1970) + 90)
        },
        Change("nbf is in the future") {
          $0.claims["nbf"] = .integer(Int(Date().timeIntervalSince1970) + 90)
        },
        Change("sub is a number") { $0.claims["sub"] = 1 },
      ]
  }

  private func refuse(
    _ token: String, _ server: ResourceServerFixture,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let validator = try server.validator()
    let error = await failure(.accessTokenInvalid, sourceLocation: sourceLocation) {
      try await validator.validate(token)
    }
    if let error, token.count > 20 {
      #expect(!everyText(of: error).contains(token), sourceLocation: sourceLocation)
    }
    // The next valid token is accepted.
    _ = try await validator.validate(server.token())
  }

  @Test func `a token is accepted until its exp plus the clock tolerance`() async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let token = server.token()
    server.clock.advance(by: 3659)
    _ = try await validator.validate(token)
    server.clock.advance(by: 2)
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
  }

  @Test func `a token with a forbidden algorithm is rejected`() async throws {
    let server = try await ResourceServerFixture(.es256)
    let validator = try AccessTokenValidator(
      provider: server.provider, audience: ResourceServerFixture.audience,
      algorithms: [.rs256, .ps256], environment: server.environment)
    await failure(.accessTokenInvalid) { try await validator.validate(server.token()) }
  }

  @Test func `an ID token is rejected as an access token`() async throws {
    let server = try await ResourceServerFixture()
    let tokens = server.sandbox.issueTokens(scopes: ["openid"])
    let idToken = try #require(tokens.idToken)
    for profile in [AccessTokenValidator.Profile.rfc9068, .anyJWT] {
      let validator = try AccessTokenValidator(
        provider: server.provider, audience: SandboxClient.app.id, profile: profile,
        environment: server.environment)
      await failure(.accessTokenInvalid) { try await validator.validate(idToken) }
    }
  }

  @Test func `a token outside the RFC 9068 profile is accepted only if the service allows it`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let plain = server.token(
      .jwt {
        $0.header["typ"] = "JWT"
        $0.claims["client_id"] = nil
        $0.claims["jti"] = nil
      })
    await failure(.accessTokenInvalid) { try await server.validator().validate(plain) }
    let claims = try await server.validator(.anyJWT).validate(plain)
    #expect(claims.clientID == nil && claims.subject == SandboxUser.alice.subject)
    let other = server.token(.jwt { $0.claims["aud"] = "https://other.example" })
    await failure(.accessTokenInvalid) { try await server.validator(.anyJWT).validate(other) }
  }

  @Test func `after a key rotation, the validator fetches the new keys`() async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    _ = try await validator.validate(server.token())
    server.sandbox.rotateSigningKeys(keepingOld: false)
    _ = try await validator.validate(server.token())
    #expect(server.sandbox.requests(to: .keys).count == 2)
  }

  @Test func `failing to fetch the keys is an error but does not invalidate the token`()
    async throws
  {
    let server = try await ResourceServerFixture()
    server.sandbox.misbehave(at: .keys, .keySet(.serverError))
    let validator = try server.validator()
    let token = server.token()
    await failure(.serverError) { try await validator.validate(token) }
    server.clock.advance(by: 1)
    _ = try await validator.validate(token)
  }

  @Test func `while the server is down, valid tokens are accepted and forged tokens rejected`()
    async throws
  {
    let server = try await ResourceServerFixture { $0.accessTokenLifetime = .seconds(86_400) }
    let validator = try server.validator()
    let token = server.token()
    _ = try await validator.validate(token)
    server.sandbox.misbehave(at: .keys, .keySet(.serverError), times: 3)
    for _ in 0..<3 {
      await failure(.accessTokenInvalid) {
        try await validator.validate(server.token(.jwt(.unknownKeyID)))
      }
      _ = try await validator.validate(token)
    }
    #expect(server.sandbox.requests(to: .keys).count == 2)
    server.clock.advance(by: 4000)
    _ = try await validator.validate(token)
    #expect(server.sandbox.requests(to: .keys).count == 3)
  }

  @Test func `forged tokens whose senders hang up cause one request for keys`() async throws {
    let server = try await ResourceServerFixture()
    // The request for keys lasts through all rounds, so it gets the longest time limit.
    let validator = try AccessTokenValidator(
      provider: server.provider, audience: ResourceServerFixture.audience, timeout: .seconds(100),
      environment: server.environment)
    _ = try await validator.validate(server.token())
    let forged = server.token(.jwt(.unknownKeyID))
    let answer = Gate(isOpen: false)
    server.sandbox.misbehave(at: .keys, .hold { await answer.opened() })
    for _ in 0..<(isSanitized ? 100 : 1000) {
      let sender = begin { try await validator.validate(forged) }
      sender.cancel()
      await failure(.cancelled) { try await sender.value }
    }
    answer.open()
    await failure(.accessTokenInvalid) { try await validator.validate(forged) }
    #expect(server.sandbox.requests(to: .keys).count == 2)
  }

  /// A login that is recent by the service's clock may be far from recent by the system's.
  @Test(arguments: [true, false])
  func `the age of a login is measured by the clock of the validator or the introspector`(
    isSigned: Bool
  ) async throws {
    let server = try await ResourceServerFixture(isSigned ? .rs256 : nil)
    server.clock.advance(by: 864_000)
    let login = Int(server.clock.now.timeIntervalSince1970)
    let check: () async throws -> AccessTokenClaims
    if isSigned {
      let validator = try server.validator()
      let token = server.token(.jwt { $0.claims["auth_time"] = .integer(login) })
      check = { try await validator.validate(token) }
    } else {
      let introspector = try server.introspector()
      let token = server.token()
      server.sandbox.misbehave(at: .introspection, .member("auth_time", .integer(login)))
      check = { try #require(try await introspector.claims(of: token)) }
    }
    // The second check finds the result of the first one in memory.
    for _ in 0..<2 { try await check().requireLogin(maxAge: .seconds(60)) }
    let claims = try await check()
    server.clock.advance(by: 61)
    failure(.insufficientUserAuthentication) { try claims.requireLogin(maxAge: .seconds(60)) }
  }

  @Test func `a validator with no audience, no algorithm or a symmetric algorithm is rejected`()
    throws
  {
    let provider = Provider.issuer("https://id.example")
    for algorithms: Set<JWSAlgorithm> in [[], [.hs256], [.rs256, .hs512]] {
      failure(.invalidConfiguration) {
        try AccessTokenValidator(provider: provider, audience: "x", algorithms: algorithms)
      }
    }
    failure(.invalidConfiguration) {
      try AccessTokenValidator(provider: provider, audience: "")
    }
  }
}

extension SandboxJWT {
  fileprivate var issuer: String {
    if case .string(let text)? = claims["iss"] { text } else { "" }
  }
}
