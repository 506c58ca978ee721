import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// The options of a web application's sign-in.
@Suite(.timeLimit(.minutes(2))) struct WebSignInOptionsTests {
  @Test func `a web sign-in that requires the same user is rejected before any request`()
    async throws
  {
    let fixture = try await WebFixture()
    var options = SignInOptions()
    options.requiresSameUser = true
    let error = await failure(.invalidConfiguration) {
      try await fixture.host().beginSignIn(fixture.configuration, with: options)
    }
    #expect(error?.message.contains("compare the ID token") == true)
    #expect(fixture.sandbox.requests.isEmpty)
  }

  @Test
  func `a scope in the options identifies the user at a provider with two metadata documents`()
    async throws
  {
    let fixture = try await WebFixture(scope: nil)
    var options = SignInOptions()
    options.scope = "openid"
    // Only the first document, that of RFC 8414, names no keys. Each host reads both documents.
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    let (url, signIn) = try await fixture.host()
      .beginSignIn(fixture.configuration, with: options)
    let redirect = try await fixture.visit(url)
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: redirect, fixture.configuration)
    #expect(account.currentToken?.idToken?.subject == SandboxUser.alice.subject)
  }
}
