import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The user's identity after the password grant, for which no standard requires an ID token.
@Suite(.timeLimit(.minutes(1))) struct PasswordIdentityTests {
  /// Creates a client at a sandbox that supports the password grant.
  private func party() async throws -> OpenIDFixture {
    try await OpenIDFixture(.es256) { options in
      options.extensionGrants["password"] = { form in
        form.contains { $0.name == "password" && $0.value == "p" } ? "alice" : nil
      }
    } change: {
      $0.allowsPasswordGrant = true
    }
  }

  private func logIn(_ party: OpenIDFixture, scope: String) async throws(SQOAuthError) -> SQToken {
    try await party.oauth.requestAccessToken(username: "alice", password: "p", scope: scope)
  }

  @Test func `the user has an identity if the server sends an ID token`() async throws {
    let party = try await party()
    let token = try await logIn(party, scope: "openid profile")
    let user = try #require(token.idToken)
    #expect(user == party.oauth.result.token?.idToken && token.nonce == nil)
    #expect(try await party.oauth.userInfo().subject == user.subject)
  }

  @Test func `without an ID token the user is signed in without an identity`() async throws {
    let party = try await party()
    party.sandbox.misbehave(at: .token, .idToken(.missing))
    let token = try await logIn(party, scope: "openid profile")
    #expect(token.idToken == nil && party.oauth.isAuthorized)
    let reason = await failure(.idTokenMissing) { try await party.oauth.userInfo() }
    #expect(reason?.message.contains("sent no ID token") == true)
    #expect(party.sandbox.requests(to: .userInfo).isEmpty)
  }

  @Test func `the sign-in fails if the ID token has a wrong signature`() async throws {
    let party = try await party()
    party.sandbox.misbehave(at: .token, .idToken(.wrongSignature))
    await failure(.idTokenSignature) { try await logIn(party, scope: "openid") }
    #expect(party.oauth.result.token == nil)
    #expect(!(try await party.oauth.restore()), "no token is stored")
  }

  @Test(arguments: [true, false])
  func `if the issuer or its keys are unknown, the user is signed in without an identity`(
    knowsIssuer: Bool
  ) async throws {
    let party = try await party()
    try party.fixture.register(
      clientID: "relying-party", secret: OpenIDFixture.secret, byHand: true,
      knowsIssuer: knowsIssuer
    ) {
      $0.allowsPasswordGrant = true
    }
    #expect(try await logIn(party, scope: "openid").idToken == nil)
    await failure(.openIDUnsupported) { try await party.oauth.idToken() }
    #expect(party.sandbox.requests(to: .keys).isEmpty)
  }
}
