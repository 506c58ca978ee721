import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins that are cancelled after their tokens have arrived.
@Suite(.timeLimit(.minutes(1))) struct CancelledSignInTests {
  private let recorder = EventRecorder()

  /// Observes the requests of a client, and holds the answers with the keys of its issuer.
  private func hold(_ oauth: SQOAuth, at sandbox: SandboxServer) -> Gate {
    oauth.environment.observer = recorder.observer()
    let keys = Gate(isOpen: false)
    sandbox.misbehave(at: .keys, .hold(until: { await keys.opened() }))
    return keys
  }

  /// Waits until the client has the tokens, whose ID token it then cannot validate yet.
  private func hasTokens() async throws {
    try await eventually("the tokens are here") {
      recorder.requests.contains { $0.hasPrefix("token") && $0.hasSuffix(" 200") }
    }
  }

  private func expectRevoked(at sandbox: SandboxServer) {
    #expect(sandbox.requests(to: .revocation).count == 2)
    #expect(sandbox.latestRefreshToken.map(sandbox.isActive) == false)
  }

  @Test(arguments: [true, false])
  func `tokens of a sign-in that is cancelled during the validation are revoked`(signsOut: Bool)
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let (oauth, sandbox) = (party.oauth, party.sandbox)
    let keys = hold(oauth, at: sandbox)
    let signIn = begin { try await oauth.signIn() }
    try await hasTokens()
    if signsOut { try await oauth.signOut() } else { oauth.cancelSignIn() }
    try await oauth.flush()
    await failure(.cancelled) { try await signIn.value }
    expectRevoked(at: sandbox)
    #expect(oauth.currentToken == nil)
    keys.open()
    await sandbox.stop()
  }

  @Test func `tokens of a device sign-in that is cancelled during the validation are revoked`()
    async throws
  {
    let fixture = try await DeviceFixture(scope: "openid demo")
    let (oauth, sandbox) = (fixture.oauth, fixture.sandbox)
    let keys = hold(oauth, at: sandbox)
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    try await hasTokens()
    oauth.cancelSignIn()
    try await oauth.flush()
    await failure(.cancelled) { try await signIn.value }
    expectRevoked(at: sandbox)
    #expect(oauth.currentToken == nil && fixture.polls.count == 1)
    keys.open()
    await sandbox.stop()
  }
}
