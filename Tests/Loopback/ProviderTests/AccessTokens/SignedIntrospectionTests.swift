import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// Introspection answers that the authorization server signs (RFC 9701).
@Suite(.timeLimit(.minutes(2))) struct SignedIntrospectionTests {
  @Test func `only a signed answer with the right claims is accepted`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(
      cacheTime: .zero, signatureAlgorithms: [.rs256, .es256])
    let token = server.token()
    let claims = try #require(try await introspector.claims(of: token))
    #expect(claims.username == "alice" && claims.clientID == SandboxClient.app.id)
    #expect(try await introspector.claims(of: "made-up") == nil)
    server.sandbox.misbehave(at: .introspection, .ignoring("accept"))
    await failure(.invalidResponse) { try await introspector.claims(of: token) }
    let changes: [@Sendable (inout SandboxJWT) -> Void] = [
      { $0.claims["iss"] = "https://other.example" }, { $0.claims["iss"] = nil },
      { $0.claims["aud"] = "another-client" }, { $0.claims["aud"] = nil },
      { $0.claims["token_introspection"] = nil }, { $0.claims["token_introspection"] = true },
      { $0.claims["token_introspection"] = ["active": "true"] },
      { $0.header["typ"] = "at+jwt" }, { $0.header["typ"] = "JWT" }, { $0.header["typ"] = nil },
    ]
    for change in changes {
      server.sandbox.misbehave(at: .introspection, .jwt(altered: change))
      await failure(.invalidResponse) { try await introspector.claims(of: token) }
    }
    let faults: [SandboxIDTokenFault] = [
      .unsigned, .wrongSignature, .unpublishedKey, .embeddedKey, .hmacWithPublicKey, .encrypted,
    ]
    for fault in faults {
      server.sandbox.misbehave(at: .introspection, .jwt(fault))
      await failure(.invalidResponse) { try await introspector.claims(of: token) }
    }
    #expect(try await introspector.claims(of: token) != nil)
  }

  // RFC 9701, section 5: "iat" is the time when the answer was created.
  @Test(
    arguments: [
      (nil, false), (-125, false), (-115, true), (0, true), (55, true), (65, false),
    ] as [(Int?, Bool)])
  func `a signed answer is accepted only if it was created at about the request's time`(
    age: Int?, isAccepted: Bool
  ) async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(signatureAlgorithms: [.rs256])
    let token = server.token()
    let time = age.map { SandboxJSON.integer(Int(server.clock.now.timeIntervalSince1970) + $0) }
    server.sandbox.misbehave(at: .introspection, .jwt(altered: { $0.claims["iat"] = time }))
    if isAccepted {
      #expect(try await introspector.claims(of: token) != nil)
    } else {
      await failure(.invalidResponse) { try await introspector.claims(of: token) }
    }
  }

  @Test func `an answer with another jti is rejected for a JWT and accepted for an opaque token`()
    async throws
  {
    let server = try await ResourceServerFixture()
    let introspector = try server.introspector(
      cacheTime: .zero, signatureAlgorithms: [.rs256])
    let token = server.token()
    let own = try #require(try await server.validator().validate(token).identifier)
    func answer(naming identifier: String) {
      server.sandbox.misbehave(
        at: .introspection,
        .jwt(altered: { $0.claims["token_introspection"]?["jti"] = .string(identifier) }))
    }
    answer(naming: own)
    #expect(try await introspector.claims(of: token)?.identifier == own)
    answer(naming: "another")
    await failure(.invalidResponse) { try await introspector.claims(of: token) }
    // An opaque token has no identifier that the service could compare.
    let opaque = try await ResourceServerFixture(nil)
    opaque.sandbox.misbehave(
      at: .introspection,
      .jwt(altered: { $0.claims["token_introspection"]?["jti"] = "another" }))
    let claims = try await opaque.introspector(signatureAlgorithms: [.rs256])
      .claims(of: opaque.token())
    #expect(claims?.identifier == "another")
  }
}
