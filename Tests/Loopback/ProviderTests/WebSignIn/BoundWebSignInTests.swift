import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuthBackend
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Web sign-ins that run over several hosts and bind their tokens to a DPoP key.
@Suite(.timeLimit(.minutes(1))) struct BoundWebSignInTests {
  private func fixture(pushes: Bool) async throws -> WebFixture {
    try await WebFixture(
      scope: "demo",
      change: {
        $0.tokenBinding = .dpop()
        $0.pushesAuthorizationRequests = pushes
      }, changeSandbox: { $0.dpop = BoundFixture.strict.dpop })
  }

  @Test(arguments: [false, true])
  func `a sign-in that is begun and finished on different hosts uses one DPoP key`(pushes: Bool)
    async throws
  {
    let fixture = try await fixture(pushes: pushes)
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let kept = try JSONDecoder().decode(WebSignIn.self, from: JSONEncoder().encode(signIn))
    let redirect = try await fixture.visit(url)
    // The second host knows no nonce, so the server refuses its first token request.
    fixture.clock.advance(by: 30)
    let account = try await fixture.host()
      .finishSignIn(kept, redirect: redirect, fixture.configuration) { _ in "alice" }
    #expect(account.currentToken?.isBound == true && fixture.tokenRequests == 2)
    let key = try #require(await fixture.store.load("alice")?.proofKey)
    let third = try await fixture.host().account(fixture.configuration, id: "alice")
    #expect(try await third.send(WebRequest(url: fixture.sandbox.url(.me))).status == 200)
    fixture.clock.advance(by: 180)
    try await third.refresh()
    #expect(fixture.tokenRequests == 4)
    let signed = fixture.sandbox.requests.compactMap { $0.proof?.keyThumbprint }
    #expect(Set(signed) == [key.thumbprint])
    let front = try #require(fixture.sandbox.requests(to: .authorization).first)
    #expect((front.query("dpop_jkt") == key.thumbprint) == !pushes)
    try ProofAudit(fixture.sandbox).expectNothing()
  }

  @Test func `the sign-ins of two users use different DPoP keys`() async throws {
    let fixture = try await fixture(pushes: true)
    var redirects: [(WebSignIn, String)] = []
    for user in [SandboxUser.alice, .bob] {
      let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
      redirects.append((signIn, try await fixture.visit(url, as: user)))
    }
    for (index, (signIn, redirect)) in redirects.enumerated() {
      _ = try await fixture.host()
        .finishSignIn(signIn, redirect: redirect, fixture.configuration) { _ in "\(index)" }
    }
    let keys = await [fixture.store.load("0")?.proofKey, fixture.store.load("1")?.proofKey]
    #expect(keys[0] != nil && keys[1] != nil && keys[0] != keys[1])
    try ProofAudit(fixture.sandbox).expectNothing()
  }
}
