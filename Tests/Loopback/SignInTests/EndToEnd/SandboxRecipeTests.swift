import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import TestSupport

/// The sign-in test from the article "Testing your app".
///
/// It uses the system's clock, so a hanging sign-in would take 300 s.
@Suite(.timeLimit(.minutes(1))) struct SandboxRecipeTests {
  static let redirectURIs = [
    "http://127.0.0.1/callback", "com.example.sandbox:/callback", "https://app.example/callback",
  ]

  struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var user = SandboxUser.alice
    var clientID = "sandbox-app"
    var redirectURI = "http://127.0.0.1/callback"
    let reason: String

    static let all = [
      Mistake(
        testDescription: "a wrong password", user: SandboxUser(name: "alice", password: "C4N4RY"),
        reason: "The user name or the password is wrong."),
      Mistake(
        testDescription: "an unknown user", user: SandboxUser(name: "mallory", password: "C4N4RY"),
        reason: "The user name or the password is wrong."),
      Mistake(
        testDescription: "a wrong client", clientID: "nobody", reason: "This app is not known here"),
      Mistake(
        testDescription: "an unregistered redirect", redirectURI: "http://127.0.0.1/elsewhere",
        reason: "This link leads to the wrong place"),
    ]
  }

  @Test(arguments: redirectURIs)
  func `the user signs in with every kind of redirect URI`(redirectURI: String) async throws {
    let sandbox = try await start()
    let account = try makeAccount(at: sandbox, redirectURI: redirectURI)
    let token = try await account.signIn()
    #expect(sandbox.isActive(token.accessToken))
    await sandbox.stop()
  }

  @Test(arguments: redirectURIs)
  func `a user who denies access ends the sign-in`(redirectURI: String) async throws {
    let sandbox = try await start()
    let account = try makeAccount(
      at: sandbox, redirectURI: redirectURI, visitor: SandboxVisitor(decision: .deny))
    await failure(.accessDenied) { try await account.signIn() }
    await sandbox.stop()
  }

  @Test(arguments: Mistake.all)
  func `a sign-in that ends on an error page fails at once with the page's text`(mistake: Mistake)
    async throws
  {
    let sandbox = try await start()
    let account = try makeAccount(
      at: sandbox, clientID: mistake.clientID, redirectURI: mistake.redirectURI,
      visitor: SandboxVisitor(user: mistake.user))
    let error = try #require(
      await failure(.signInRefused) { try await account.signIn() })
    #expect(error.message.hasPrefix("the sign-in ended on the page \""))
    #expect(error.message.contains(mistake.reason) && !error.isCancellation)
    guard case .endedOnPage? = error.cause as? SandboxError else {
      Issue.record("the cause is \(String(describing: error.cause))")
      return
    }
    let state = try #require(sandbox.requests(to: .authorization).first?.query("state"))
    #expect(!everyText(of: error).contains(state) && !everyText(of: error).contains("C4N4RY"))
    await sandbox.stop()
  }

  @Test func `a sign-in page that is not at a loopback address fails with browserUnavailable`()
    async throws
  {
    let sandbox = try await start()
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url in
      _ = try await SandboxVisitor().visit(url)
    }
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
        provider: .endpoints(
          authorization: "https://id.example/authorize",
          token: sandbox.tokenEndpoint.absoluteString)),
      environment: environment)
    let error = await failure(.browserUnavailable) { try await account.signIn() }
    #expect(error?.message.hasPrefix("the user agent failed: ") == true)
    await sandbox.stop()
  }

  private func start() async throws -> SandboxServer {
    var options = SandboxOptions()
    options.clients[0].redirectURIs.append("https://app.example/callback")
    return try await SandboxServer.start(options)
  }

  private func makeAccount(
    at sandbox: SandboxServer, clientID: String = "sandbox-app", redirectURI: String,
    visitor: SandboxVisitor = SandboxVisitor()
  ) throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { url, signIn in
      signIn.handleRedirect(try await visitor.visit(url).redirect)
    }
    return AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: clientID, redirectURI: redirectURI, scope: "demo",
        provider: .issuer(sandbox.issuer.absoluteString)),
      environment: environment)
  }
}
