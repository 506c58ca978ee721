import Foundation
import OAuthSandbox
import TestSupport
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// What a resource server remembers of a token that it has verified.
@Suite struct VerifiedTokenTests {
  @Test func `a valid token is remembered, and later validations return the same claims`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let tokens = [server.token(), server.token(scopes: ["demo"])]
    var claims: [AccessTokenClaims] = []
    for token in tokens { claims.append(try await validator.validate(token)) }
    #expect(validator.verified.count == 2 && claims[0] != claims[1])
    for (token, claims) in zip(tokens, claims) {
      #expect(try await validator.validate(token) == claims)
    }
    #expect(validator.verified.count == 2)
  }

  @Test(
    arguments: [
      SandboxIDTokenFault.wrongSignature, .unknownKeyID, .claimsNotJSON, .noSignature,
    ])
  func `an invalid token is rejected and not remembered`(fault: SandboxIDTokenFault) async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let token = server.token(.jwt(fault))
    for _ in 0..<2 { await failure(.accessTokenInvalid) { try await validator.validate(token) } }
    #expect(validator.verified.count == 0)
  }

  @Test func `a remembered token with one changed byte is rejected`() async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let token = server.token()
    _ = try await validator.validate(token)
    // The last character of a signature has bits that belong to no byte.
    for place in [0, token.utf8.count / 2, token.utf8.count - 2] {
      var bytes = Array(token.utf8)
      bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let changed = String(decoding: bytes, as: UTF8.self)
      await failure(.accessTokenInvalid) { try await validator.validate(changed) }
    }
  }

  @Test func `a very long token is accepted but not remembered`() async throws {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let text = String(repeating: "x", count: VerifiedTokens.maximumLength)
    let token = server.token(.jwt { $0.claims["long"] = .string(text) })
    for _ in 0..<2 { _ = try await validator.validate(token) }
    #expect(validator.verified.count == 0)
  }

  @Test
  func `a remembered token is rejected after its exp and, if the clock goes back, before its iat`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let validator = try server.validator()
    let token = server.token()
    _ = try await validator.validate(token)
    server.clock.advance(by: 3659)
    _ = try await validator.validate(token)
    server.clock.advance(by: 2)
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
    // A person sets the clock to a time before the token was issued.
    server.clock.advance(by: -7200)
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
  }

  @Test func `a remembered token is rejected after its signing key is withdrawn`() async throws {
    let server = try await ResourceServerFixture { $0.accessTokenLifetime = .seconds(864_000) }
    let validator = try server.validator()
    let token = server.token()
    _ = try await validator.validate(token)
    server.sandbox.rotateSigningKeys(keepingOld: false)
    // Another token with the new key makes the validator fetch the keys.
    _ = try await validator.validate(server.token())
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
  }

  @Test
  func `a token is refused 1 s after another validator finds that the token's key was withdrawn`()
    async throws
  {
    let server = try await ResourceServerFixture { $0.accessTokenLifetime = .seconds(864_000) }
    let validator = try server.validator()
    let token = server.token()
    for _ in 0..<2 { _ = try await validator.validate(token) }
    server.sandbox.rotateSigningKeys(keepingOld: false)
    _ = try await server.validator().validate(server.token())
    server.clock.advance(by: 1)
    await failure(.accessTokenInvalid) { try await validator.validate(token) }
  }

  @Test func `a remembered token stays valid if the newly fetched keys still contain its key`()
    async throws
  {
    let server = try await ResourceServerFixture { $0.accessTokenLifetime = .seconds(864_000) }
    let validator = try server.validator()
    let token = server.token()
    let claims = try await validator.validate(token)
    server.sandbox.rotateSigningKeys(keepingOld: true)
    _ = try await validator.validate(server.token())
    #expect(try await validator.validate(token) == claims)
    server.clock.advance(by: 86_400)
    let before = server.sandbox.requests(to: .keys).count
    #expect(try await validator.validate(token) == claims)
    #expect(server.sandbox.requests(to: .keys).count > before)
  }

  @Test
  func `a token that one validator remembers is rejected by a validator with another audience`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let token = server.token()
    _ = try await server.validator().validate(token)
    let other = try AccessTokenValidator(
      provider: server.provider, audience: "https://other.example", environment: server.environment)
    await failure(.accessTokenInvalid) { try await other.validate(token) }
  }
}
