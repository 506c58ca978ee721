import Foundation
import OAuthSandbox
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client that requests the user's identity from a sandbox that may answer wrongly.
struct OpenIDFixture {
  static let secret = "a-secret-of-the-client-that-is-long-enough-for-every-HMAC-algorithm"

  let fixture: SandboxFixture
  var sandbox: SandboxServer { fixture.sandbox }
  var oauth: SQOAuth { fixture.oauth }

  /// Creates a client whose ID tokens are signed with an algorithm, and a sandbox with options.
  ///
  /// The sandbox has the client's clock, unless `sharesClock` is `false`. The client's clock stands
  /// still, so with another clock the ID tokens of a slow test would be issued in the future.
  init(
    _ algorithm: SandboxSigningAlgorithm = .rs256, scope: String = "openid profile email",
    sharesClock: Bool = true,
    changeSandbox: (inout SandboxOptions) -> Void = { _ in },
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws {
    var client = SandboxClient(id: "relying-party", secret: Self.secret)
    client.idTokenAlgorithm = algorithm
    client.postLogoutRedirectURIs = ["com.example.app:/signed-out"]
    var options = SandboxOptions()
    options.clients = [client]
    changeSandbox(&options)
    fixture = try await SandboxFixture(options, sharesClock: sharesClock)
    try fixture.register(clientID: "relying-party", secret: Self.secret, scope: scope) {
      $0.idTokenAlgorithm = JWSAlgorithm(rawValue: algorithm.rawValue)
      $0.postLogoutRedirectURI = try? RedirectURI("com.example.app:/signed-out")
      change(&$0)
    }
  }

  /// Signs in, and returns the identity.
  @discardableResult
  func signIn(_ options: SignInOptions = SignInOptions()) async throws -> IDToken {
    try #require(try await oauth.signIn(with: options).idToken)
  }

  /// Signs in with an ID token that must be rejected.
  ///
  /// Checks that the client then requests only signing keys, and stores no token.
  func refuses(
    _ misbehaviour: SandboxMisbehaviour, _ code: SQOAuthError.Code,
    _ options: SignInOptions = SignInOptions(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    sandbox.misbehave(at: .token, misbehaviour)
    let error = await failure(code, sourceLocation: sourceLocation) {
      try await oauth.signIn(with: options)
    }
    let after = fixture.endpoints.drop { $0 != .token }.dropFirst()
    #expect(
      after.allSatisfy { $0 == .keys }, "only keys are asked for: \(Array(after))",
      sourceLocation: sourceLocation)
    #expect(error?.requiresSignIn == false, sourceLocation: sourceLocation)
    #expect(oauth.result.token == nil, sourceLocation: sourceLocation)
    #expect(!(try await oauth.restore()), "no account is stored", sourceLocation: sourceLocation)
    if let error, let nonce = sandbox.requests(to: .authorization).last?.query("nonce") {
      #expect(!everyText(of: error).contains(nonce), sourceLocation: sourceLocation)
    }
  }
}
