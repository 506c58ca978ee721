import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Bound tokens at servers that demand their own nonces, which change with the clock.
@Suite("End to end: bound tokens", .timeLimit(.minutes(2))) struct BoundRequestTests {
  @Test(arguments: BoundFixture.Kind.allCases, [false, true])
  func `a user signs in, and each request has a proof of its own`(
    kind: BoundFixture.Kind, pushes: Bool
  ) async throws {
    let bound = try await BoundFixture(kind, change: { $0.pushesAuthorizationRequests = pushes })
      .signedIn()
    let token = try #require(bound.module.currentToken)
    let key = try #require(await bound.record?.proofKey)
    #expect(token.isBound && token.tokenType == "DPoP")
    let page = try #require(bound.sandbox.requests(to: .authorization).first)
    #expect((page.query("dpop_jkt") == key.thumbprint) == !pushes)
    // Only the first endpoint that the client uses has to ask for the authorization server's nonce.
    #expect(
      bound.nonces(at: .pushedAuthorization).map { $0 == nil } == (pushes ? [true, false] : []))
    #expect(bound.nonces(at: .token).map { $0 == nil } == (pushes ? [false] : [true, false]))
    #expect(try await bound.send().status == 200)
    #expect(try await bound.send(.files).status == 200)
    #expect(bound.nonces(at: .me).map { $0 == nil } == [true, false])
    #expect(bound.nonces(at: .files) == [bound.sandbox.proofNonce(of: .api)])
    #expect(
      bound.sandbox.requests.allSatisfy { [nil, key.thumbprint].contains($0.proof?.keyThumbprint) })
    try bound.audit()
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `after a nonce change, a refresh or an API call is repeated once`(kind: BoundFixture.Kind)
    async throws
  {
    let bound = try await BoundFixture(kind, scope: "openid demo").signedIn()
    let key = try #require(await bound.record?.proofKey)
    _ = try await bound.send()
    for _ in 0..<3 {
      bound.outdateNonces()
      #expect(try await bound.count(.token) { try await bound.oauth.refresh() } == 2)
      #expect(try await bound.count(.me) { _ = try await bound.send() } == 2)
      #expect(try await bound.count(.userInfo) { _ = try await bound.oauth.userInfo() } == 1)
      // While the nonces stay the same, no request is repeated.
      #expect(try await bound.count(.token) { try await bound.oauth.refresh() } == 1)
      #expect(try await bound.count(.me) { _ = try await bound.send() } == 1)
    }
    #expect(bound.sandbox.refreshTokenReuses == 0)
    #expect(await bound.record?.proofKey == key)
    #expect(await bound.record?.serverNonce == bound.sandbox.proofNonce(of: .authorizationServer))
    try bound.audit()
  }

  @Test func `if every response has a nonce, no request is repeated`() async throws {
    var options = BoundFixture.strict
    options.dpop.offersNonceInEveryAnswer = true
    let bound = try await BoundFixture(.public, options).signedIn()
    _ = try await bound.send()
    try await bound.oauth.refresh()
    bound.sandbox.forgetRequests()
    for _ in 0..<10 {
      // The nonce changes, and the previous one is accepted for one more period.
      bound.clock.advance(by: 60)
      _ = try await bound.send()
      try await bound.oauth.refresh()
    }
    let (api, token) = (bound.sandbox.requests(to: .me), bound.sandbox.requests(to: .token))
    #expect(api.count == 10 && token.count == 10)
    #expect(Set(bound.nonces(at: .me)).count == 10 && Set(bound.nonces(at: .token)).count == 10)
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a refused token is refreshed once, and each server asks for its nonce`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await BoundFixture(kind).signedIn()
    _ = try await bound.send()
    let old = try #require(bound.module.currentToken?.accessToken)
    bound.sandbox.expireAccessTokens()
    bound.outdateNonces()
    bound.sandbox.forgetRequests()
    #expect(try await bound.send().status == 200)
    let new = try #require(bound.module.currentToken?.accessToken)
    // The API refuses the expired token before it checks the nonce.
    let api = bound.sandbox.requests(to: .me)
    #expect(api.map(\.boundToken) == [old, new, new])
    #expect(Set(api.compactMap { $0.proof?.accessTokenHash }).count == 2)
    let refreshes = bound.sandbox.requests(to: .token)
    #expect(refreshes.count == 2 && Set(refreshes.map { $0.form("refresh_token") }).count == 1)
    #expect(bound.sandbox.refreshTokenReuses == 0)
    try bound.audit()
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `the revocation requests have no proof, and the account is removed`(kind: BoundFixture.Kind)
    async throws
  {
    let bound = try await BoundFixture(kind).signedIn()
    let record = try #require(await bound.record)
    bound.outdateNonces()
    try await bound.oauth.revoke()
    let requests = bound.sandbox.requests(to: .revocation)
    #expect(requests.count == 2 && requests.allSatisfy { $0.header("dpop") == nil })
    #expect(!bound.sandbox.isActive(record.token.accessToken))
    #expect(!bound.sandbox.isActive(record.token.refreshToken ?? ""))
    #expect(await bound.record == nil)
    try bound.audit()
  }
}
