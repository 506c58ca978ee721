// Tests of an app that sign in without a browser, at a sandbox that each test starts.
//
//   swift test --package-path Demo/Examples

import OAuthSandbox
import SequencingOAuth
import Testing

/// Creates an account at a sandbox; by default, the sandbox's user allows everything.
func makeAccount(
  at sandbox: SandboxServer, visitor: SandboxVisitor = SandboxVisitor()
) throws -> AuthorizationModule {
  var environment = ClientEnvironment()
  environment.userAgent = CustomUserAgent { url, signIn in
    signIn.handleRedirect(try await visitor.visit(url).redirect)
  }
  return AuthorizationModule(
    configuration: try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
      provider: .issuer(sandbox.issuer.absoluteString)),
    environment: environment)
}

@Test func `the user signs in`() async throws {
  let sandbox = try await SandboxServer.start()
  let account = try makeAccount(at: sandbox)
  let token = try await account.signIn()
  #expect(sandbox.isActive(token.accessToken))
  #expect(sandbox.requests(to: .token).count == 1)
}

@Test func `a user who denies the access is not signed in`() async throws {
  let sandbox = try await SandboxServer.start()
  let account = try makeAccount(at: sandbox, visitor: SandboxVisitor(decision: .deny))
  let error = await #expect(throws: SQOAuthError.self) { try await account.signIn() }
  #expect(error?.code == .accessDenied)
  #expect(sandbox.requests(to: .token).isEmpty)
}
