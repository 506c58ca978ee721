import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Invalid tokens that strangers can send to a service.
@Suite("Invalid texts", .timeLimit(.minutes(1))) struct RubbishTests {
  private static let texts = [
    "", "rubbish", "a.b", "a.b.c", "a.b.c.d.e", "e30.e30.e30",
    // A header without an algorithm, with the type of an access token.
    "eyJ0eXAiOiJhdCtqd3QifQ.e30.AA",
  ]

  @Test(arguments: texts)
  func `an invalid token is rejected without a request to the server`(text: String) async throws {
    let server = try await ResourceServerFixture()
    await failure(.accessTokenInvalid) { try await server.validator().validate(text) }
    await failure(.accessTokenInvalid) { try await server.validator(.anyJWT).validate(text) }
    #expect(server.sandbox.requests.isEmpty)
    let party = try await OpenIDFixture()
    await failure(.logoutTokenInvalid) { try await party.oauth.handleLogoutToken(text) }
    await failure(.logoutTokenInvalid) {
      try await AccountManager(store: MemoryTokenStore()).handleLogoutToken(
        text, for: #require(party.oauth.module.configuration))
    }
    #expect(party.sandbox.requests.isEmpty)
  }
}
