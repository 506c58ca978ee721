import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// The servers that may get the token of a web sign-in.
@Suite(.timeLimit(.minutes(1))) struct WebSignInServersTests {
  @Test func `the account of a web sign-in allows no server by its first request`() async throws {
    let fixture = try await WebFixture()
    let host = fixture.host()
    let (url, signIn) = try await host.beginSignIn(fixture.configuration)
    let account = try await host.finishSignIn(
      signIn, redirect: try await fixture.visit(url), fixture.configuration)
    await failure(.originNotAllowed) {
      try await account.authenticate(.get("https://api.example/"))
    }
    #expect(try await account.send(WebRequest(url: fixture.sandbox.url(.me))).status == 200)
  }
}
