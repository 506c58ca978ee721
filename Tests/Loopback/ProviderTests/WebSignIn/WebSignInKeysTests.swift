import Foundation
import OAuthSandbox
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Web sign-ins at a provider with two metadata documents, of which only the second one names the
/// provider's keys.
@Suite(.timeLimit(.minutes(1))) struct WebSignInKeysTests {
  /// A sign-in that began while the provider's keys were known.
  enum Kind: CaseIterable {
    case usual
    case withMaxAge
    /// It was stored by a version of the SDK that did not write whether the keys were known.
    case withMaxAgeOfOlderVersion
  }

  private func begun(
    _ kind: Kind, _ fixture: WebFixture
  ) async throws -> (redirect: String, signIn: WebSignIn) {
    var options = SignInOptions()
    if kind != .usual { options.maxAge = .seconds(300) }
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration, with: options)
    let redirect = try await fixture.visit(url)
    var text = String(decoding: try JSONEncoder().encode(signIn), as: UTF8.self)
    if kind == .withMaxAgeOfOlderVersion {
      let member = try #require(text.firstRange(of: #""verifiable":true"#))
      text.replaceSubrange(member, with: #""unknown":true"#)
    }
    return (redirect, try JSONDecoder().decode(WebSignIn.self, from: Data(text.utf8)))
  }

  @Test(arguments: Kind.allCases)
  func `a host that cannot verify the ID token does not send the code`(kind: Kind) async throws {
    let fixture = try await WebFixture()
    let (redirect, signIn) = try await begun(kind, fixture)
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    fixture.sandbox.misbehave(at: .metadata, .status(500))
    let error = await failure(.openIDUnsupported) {
      try await fixture.host().finishSignIn(
        signIn, redirect: redirect, fixture.configuration, id: { _ in "a" })
    }
    #expect(error?.message.contains("try again") == true)
    #expect(fixture.tokenRequests == 0)
    // Nothing is used up, so the same redirect succeeds when the document can be fetched.
    let account = try await fixture.host().finishSignIn(
      signIn, redirect: redirect, fixture.configuration, id: { _ in "a" })
    #expect(account.currentToken?.idToken?.subject == SandboxUser.alice.subject)
  }

  @Test func `the keys are found if only the sign-in's own scope asks for the user's identity`()
    async throws
  {
    let fixture = try await WebFixture(scope: "demo")
    var options = SignInOptions()
    options.scope = "openid demo"
    // Each host reads the first document without keys, and the second one as it is.
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration, with: options)
    let redirect = try await fixture.visit(url)
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil))
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: redirect, fixture.configuration)
    #expect(account.currentToken?.idToken?.subject == SandboxUser.alice.subject)
    #expect(fixture.sandbox.requests(to: .metadata).count == 4)
  }
}
