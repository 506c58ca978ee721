import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins with the scope `openid` at a provider whose ID tokens the client cannot verify.
@Suite(.timeLimit(.minutes(1))) struct UnverifiableIdentityTests {
  @Test(arguments: [true, false])
  func `a sign-in succeeds without an identity, and reading the ID token throws the reason`(
    knowsIssuer: Bool
  ) async throws {
    let fixture = try await SandboxFixture()
    try fixture.register(scope: "openid profile", byHand: true, knowsIssuer: knowsIssuer)
    let token = try await fixture.oauth.signIn()
    #expect(token.idToken == nil && fixture.oauth.result.token?.idToken == nil)
    #expect(token.idTokenText != nil, "the provider sent an ID token, which is not shown")
    let reason = await failure(.openIDUnsupported) { try await fixture.oauth.idToken() }
    #expect(reason?.message.contains(knowsIssuer ? "jwks_uri" : "issuer") == true)
    let refreshed = try await fixture.oauth.refresh()
    #expect(refreshed.idToken == nil && refreshed.accessToken != token.accessToken)
    let request = try #require(fixture.sandbox.requests(to: .authorization).first)
    #expect(request.query("nonce")?.isEmpty == false, "some providers require a nonce")
    #expect(fixture.sandbox.requests(to: .keys).isEmpty)
  }

  @Test func `UserInfo is not requested for an unverified user`() async throws {
    let fixture = try await SandboxFixture()
    let sandbox = fixture.sandbox
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "openid",
        provider: .endpoints(
          authorization: sandbox.authorizationEndpoint.absoluteString,
          token: sandbox.tokenEndpoint.absoluteString,
          userInfo: sandbox.url(.userInfo).absoluteString)))
    try await fixture.oauth.signIn()
    await failure(.openIDUnsupported) { try await fixture.oauth.userInfo() }
    #expect(sandbox.requests(to: .userInfo).isEmpty)
  }

  @Test func `a sign-in at a provider without jwks_uri succeeds without an identity`() async throws
  {
    let fixture = try await SandboxFixture()
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil), times: 2)
    try fixture.register(scope: "openid")
    #expect(try await fixture.oauth.signIn().idToken == nil)
    await failure(.openIDUnsupported) { try await fixture.oauth.idToken() }
  }

  @Test(arguments: [true, false])
  func `if ID tokens are unverifiable, a sign-in with max_age or an essential claim fails at once`(
    hasAge: Bool
  ) async throws {
    let fixture = try await SandboxFixture()
    try fixture.register(scope: "openid", byHand: true)
    var options = SignInOptions()
    if hasAge {
      options.maxAge = .seconds(60)
    } else {
      options.claims = ClaimsRequest(idToken: ["acr": .essential(values: ["gold"])])
    }
    await failure(.openIDUnsupported) { try await fixture.oauth.signIn(with: options) }
    #expect(fixture.sandbox.requests.isEmpty && fixture.visited.isEmpty)
  }

  /// Otherwise a server could avoid each demand by granting fewer scopes.
  @Test(arguments: [true, false])
  func `a sign-in with max_age or an essential claim fails if the provider does not grant openid`(
    hasAge: Bool
  ) async throws {
    let answer = SandboxMisbehaviour.members([("scope", "profile"), ("id_token", nil)])
    let relaxed = try await OpenIDFixture(.es256)
    relaxed.sandbox.misbehave(at: .token, answer)
    #expect(try await relaxed.oauth.signIn().idToken == nil, "without demands, this is valid")
    let party = try await OpenIDFixture(.es256)
    var options = SignInOptions()
    if hasAge {
      options.maxAge = .seconds(60)
    } else {
      options.claims = ClaimsRequest(idToken: ["acr": .essential(values: ["urn:sandbox:careful"])])
    }
    try await party.refuses(answer, .idTokenMissing, options)
  }

  @Test func `keys that are configured later verify the next ID token`() async throws {
    let fixture = try await SandboxFixture()
    try fixture.register(scope: "openid", byHand: true)
    try await fixture.oauth.signIn()
    try fixture.register(scope: "openid")
    let token = try await fixture.oauth.refresh()
    #expect(token.idToken?.subject == SandboxUser.alice.subject)
    #expect(try await fixture.oauth.idToken() == token.idToken)
  }

  @Test
  func `without the openid scope the ID token is missing, and the error says to add the scope`()
    async throws
  {
    let fixture = try await SandboxFixture()
    try fixture.register(scope: "profile")
    await failure(.notAuthorized) { try await fixture.oauth.idToken() }
    try await fixture.oauth.signIn()
    let unasked = await failure(.idTokenMissing) { try await fixture.oauth.idToken() }
    #expect(unasked?.message.contains("add \"openid\"") == true)
    try fixture.register(scope: "openid")
    try await fixture.oauth.signIn()
    #expect(try await fixture.oauth.idToken().subject == SandboxUser.alice.subject)
  }

  /// Clients of resources set the scope of each sign-in, and none in the configuration.
  @Test
  func `a scope in the options identifies the user at a provider with two metadata documents`()
    async throws
  {
    let fixture = try await SandboxFixture(sharesClock: true)
    // Only the first document, that of RFC 8414, names no keys.
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    try fixture.register(scope: nil)
    var options = SignInOptions()
    options.scope = "openid profile"
    let user = try await fixture.oauth.signIn(with: options).idToken
    #expect(user?.subject == SandboxUser.alice.subject)
    #expect(try await fixture.oauth.userInfo().subject == SandboxUser.alice.subject)
    let refreshed = try await fixture.oauth.refresh()
    #expect(refreshed.idToken != nil && refreshed.idToken != user, "its ID token was verified")
    #expect(fixture.sandbox.requests(to: .metadata).count == 2)
    await fixture.sandbox.stop()
  }
}
