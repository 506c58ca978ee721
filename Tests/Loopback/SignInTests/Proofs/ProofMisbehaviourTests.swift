import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Servers that handle proofs wrongly: what the client sends, which error it gets, and whether the
/// account stays.
@Suite("End to end: proofs and faulty servers", .timeLimit(.minutes(1)))
struct ProofMisbehaviourTests {
  /// A fault that refuses requests, the number of requests that the client sends, and the error.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let fault: SandboxDPoPFault
    let requests: Int
    let code: SQOAuthError.Code

    /// The number of pushed requests; after a refused proof, the client sends one without a proof.
    var pushedRequests: Int { fault == .proofRefused ? 2 : requests }
    var testDescription: String { fault.description }
  }

  static let refusals = [
    // The client tries three more nonces. No server makes the client send requests for ever.
    Refusal(fault: .nonceLoop, requests: 4, code: .useDPoPNonce),
    // The client has no valid nonce for another attempt.
    Refusal(fault: .nonceMissing, requests: 1, code: .useDPoPNonce),
    Refusal(fault: .nonceDoubled, requests: 1, code: .useDPoPNonce),
    Refusal(fault: .nonceEmpty, requests: 1, code: .useDPoPNonce),
    Refusal(fault: .nonceMalformed, requests: 1, code: .useDPoPNonce),
    Refusal(fault: .nonceTooLong, requests: 1, code: .useDPoPNonce),
    // The clocks agree, so a proof with another time would be refused, too.
    Refusal(fault: .proofRefused, requests: 1, code: .invalidDPoPProof),
  ]

  /// The options of a sandbox that demands proofs, but no nonces unless a fault asks for them.
  private static var options: SandboxOptions {
    var options = SandboxOptions()
    options.dpop = SandboxDPoPOptions(.required)
    return options
  }

  private func bound(_ kind: BoundFixture.Kind = .public, pushes: Bool = false) async throws
    -> BoundFixture
  {
    try await BoundFixture(
      kind, Self.options, change: { $0.pushesAuthorizationRequests = pushes })
  }

  @Test func `every DPoP fault of the sandbox is in a test of this suite`() {
    let others: Set<SandboxDPoPFault> = [.nonceInSuccess, .otherKey, .bearerToken]
    #expect(
      Set(Self.refusals.map(\.fault)).union(others) == Set(SandboxDPoPFault.allCases))
  }

  @Test(arguments: refusals, BoundFixture.Kind.allCases)
  func `a refused pushed authorization request ends the sign-in before the browser opens`(
    refusal: Refusal, kind: BoundFixture.Kind
  ) async throws {
    let bound = try await bound(kind, pushes: true)
    bound.sandbox.misbehave(at: .pushedAuthorization, .dpop(refusal.fault), times: nil)
    await failure(refusal.code) { try await bound.oauth.signIn() }
    #expect(bound.sandbox.requests(to: .pushedAuthorization).count == refusal.pushedRequests)
    #expect(bound.sandbox.requests(to: .authorization).isEmpty)
    #expect(await bound.store.list().isEmpty)
    bound.sandbox.behave()
    try await bound.signedIn()
    try bound.audit()
  }

  @Test(arguments: refusals)
  func `a code exchange whose proof is refused stores no account`(refusal: Refusal) async throws {
    let bound = try await bound()
    bound.sandbox.misbehave(at: .token, .dpop(refusal.fault), times: nil)
    await failure(refusal.code) { try await bound.oauth.signIn() }
    #expect(bound.sandbox.requests(to: .token).count == refusal.requests)
    #expect(await bound.store.list().isEmpty && bound.module.currentToken == nil)
    bound.sandbox.behave()
    try await bound.signedIn()
    try bound.audit()
  }

  @Test(arguments: refusals)
  func `a refresh whose proof is refused keeps the account`(refusal: Refusal) async throws {
    let bound = try await bound().signedIn()
    let record = try #require(await bound.record)
    bound.sandbox.misbehave(at: .token, .dpop(refusal.fault), times: nil)
    let count = await bound.count(.token) {
      let error = await failure(refusal.code) { try await bound.oauth.refresh() }
      #expect(error?.requiresSignIn == false)
    }
    #expect(count == refusal.requests)
    #expect(await bound.record?.token == record.token)
    #expect(bound.module.currentToken == record.token)
    bound.sandbox.behave()
    bound.clock.advance(by: 600)
    try await bound.oauth.refresh()
    #expect(bound.sandbox.refreshTokenReuses == 0)
    try bound.audit()
  }

  @Test(arguments: refusals, [SandboxEndpoint.me, .userInfo])
  func `an API request whose proof is refused causes no refresh and keeps the account`(
    refusal: Refusal, endpoint: SandboxEndpoint
  ) async throws {
    let bound = try await BoundFixture(.public, Self.options, scope: "openid demo").signedIn()
    let record = try #require(await bound.record)
    func ask() async throws {
      if endpoint == .me {
        _ = try await bound.send()
      } else {
        _ = try await bound.oauth.userInfo()
      }
    }
    bound.sandbox.misbehave(at: endpoint, .dpop(refusal.fault), times: nil)
    let error = await failure(refusal.code) { try await ask() }
    #expect(error?.challenge?.error == refusal.code && error?.requiresSignIn == false)
    // A transport may send a GET twice with the same proof. So after a refused proof, the client
    // tries once more with a new proof.
    let isProofReplaced = refusal.fault == .proofRefused
    #expect(
      bound.sandbox.requests(to: endpoint).count == (isProofReplaced ? 2 : refusal.requests))
    #expect(bound.sandbox.requests(to: .token).count == 1)
    #expect(await bound.record == record)
    bound.sandbox.behave()
    #expect(try await bound.count(endpoint) { try await ask() } == 1)
    try bound.audit()
  }

  @Test func `a nonce in a successful response is used in the next request`() async throws {
    let bound = try await bound()
    bound.sandbox.misbehave(at: .token, .dpop(.nonceInSuccess))
    bound.sandbox.misbehave(at: .me, .dpop(.nonceInSuccess))
    try await bound.signedIn()
    try await bound.oauth.refresh()
    _ = try await bound.send()
    _ = try await bound.send()
    let ofServer = bound.sandbox.proofNonce(of: .authorizationServer)
    #expect(bound.nonces(at: .token) == [nil, ofServer])
    #expect(bound.nonces(at: .me) == [nil, bound.sandbox.proofNonce(of: .api)])
  }

  // MARK: Tokens that are not bound to the account's key

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a Bearer token is not used, and the sign-in fails`(kind: BoundFixture.Kind) async throws {
    let bound = try await bound(kind)
    bound.sandbox.misbehave(at: .token, .dpop(.bearerToken))
    await failure(.tokenNotBound) { try await bound.oauth.signIn() }
    #expect(await bound.store.list().isEmpty && bound.module.currentToken == nil)
    await failure(.notAuthorized) { try await bound.send() }
    #expect(bound.sandbox.requests(to: .me).isEmpty)
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a Bearer token from a refresh is not used, and the next refresh succeeds`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await bound(kind).signedIn()
    let old = try #require(await bound.record?.token)
    bound.sandbox.misbehave(at: .token, .dpop(.bearerToken))
    await failure(.tokenNotBound) { try await bound.oauth.refresh() }
    let kept = try #require(await bound.record?.token)
    #expect(kept.accessToken == old.accessToken && kept.isBound)
    // The server has replaced the refresh token.
    #expect(kept.refreshToken == bound.sandbox.latestRefreshToken)
    bound.clock.advance(by: 600)
    try await bound.oauth.refresh()
    #expect(try await bound.send().status == 200)
    #expect(bound.sandbox.refreshTokenReuses == 0)
    let sent = bound.sandbox.requests(to: .me)
    #expect(sent.allSatisfy { $0.bearerToken == nil && $0.boundToken != nil })
  }

  /// The client cannot see to which key a token is bound.
  ///
  /// The API refuses the token, and then the server refuses the refresh token.
  @Test func `tokens that are bound to another key end a public client's session`() async throws {
    let bound = try await bound()
    bound.sandbox.misbehave(at: .token, .dpop(.otherKey))
    try await bound.signedIn()
    let error = await failure(.invalidGrant) { try await bound.send() }
    #expect(error?.requiresSignIn == true)
    #expect(bound.sandbox.requests(to: .me).count == 1)
    #expect(bound.sandbox.requests(to: .token).count == 2)
    #expect(await bound.record == nil && bound.module.currentToken == nil)
  }

  @Test(arguments: [BoundFixture.Kind.secret, .key])
  func `a confidential client refreshes a token that is bound to another key`(
    kind: BoundFixture.Kind
  ) async throws {
    let bound = try await bound(kind)
    bound.sandbox.misbehave(at: .token, .dpop(.otherKey))
    try await bound.signedIn()
    #expect(try await bound.send().status == 200)
    #expect(bound.sandbox.requests(to: .me).count == 2)
    #expect(bound.sandbox.requests(to: .token).count == 2)
    try bound.audit()
  }
}
