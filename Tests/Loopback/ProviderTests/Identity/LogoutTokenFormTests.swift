import Foundation
import OAuthSandbox
import SequencingOAuthBackend
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The request of a provider that sends a logout token, and the answer (Back-Channel Logout 1.0).
@Suite(.timeLimit(.minutes(1))) struct LogoutTokenFormTests {
  private func form(_ text: String) -> Data { Data(text.utf8) }

  @Test func `a logout token in a posted form ends the session`() async throws {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let token = try party.logoutToken()
    let outcome = try await party.oauth.handleLogoutToken(
      form: form("state=x&logout_token=\(token.replacing(".", with: "%2E"))"))
    #expect(outcome.endedSession && party.oauth.currentToken == nil)
  }

  @Test func `a logout token in a posted form ends the matching accounts of an account manager`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let store = MemoryTokenStore()
    await store.save(try await party.record("one"))
    let manager = AccountManager(store: store, environment: party.oauth.environment)
    let body = form("logout_token=\(try party.logoutToken())")
    let configuration = try #require(party.oauth.module.configuration)
    #expect(try await manager.handleLogoutToken(form: body, for: configuration) == ["one"])
    await failure(.logoutTokenInvalid) {
      try await manager.handleLogoutToken(form: body, for: configuration)
    }
  }

  @Test(arguments: [
    "", "logout_token", "logout_token=", "token=T", "logout_token=T&logout_token=T", "T",
    "logout_token=%FF", "{\"logout_token\":\"T\"}",
  ])
  func `a body without exactly one logout token ends no session and causes no request`(body: String)
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try await party.signIn()
    let requests = party.sandbox.requests.count
    let token = try party.logoutToken()
    await failure(.logoutTokenInvalid) {
      try await party.oauth.handleLogoutToken(form: form(body.replacing("T", with: token)))
    }
    #expect(party.oauth.isAuthorized && party.sandbox.requests.count == requests)
  }

  @Test func `the answer has status 200, or 400 for any error, and Cache-Control no-store`() {
    #expect(LogoutTokenResponse().status == 200)
    #expect(LogoutTokenResponse(SQOAuthError(.logoutTokenInvalid, "no")).status == 400)
    #expect(LogoutTokenResponse(CancellationError()).status == 400)
    for response in [LogoutTokenResponse(), LogoutTokenResponse(CancellationError())] {
      #expect(response.fields.map(\.name) == ["Cache-Control"])
      #expect(response.fields["Cache-Control"] == "no-store")
    }
  }
}
