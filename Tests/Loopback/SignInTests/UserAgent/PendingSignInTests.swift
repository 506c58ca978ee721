import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The information that a user agent gets about its sign-in.
@Suite(.timeLimit(.minutes(1))) struct PendingSignInTests {
  /// A user agent for all accounts of an app, which records its calls.
  final class SharedAgent: UserAgent {
    struct Call: Sendable {
      let page: AuthorizationURL
      let signIn: PendingSignIn
    }

    private let state = Locked<[Call]>([])
    private let query: String?
    var calls: [Call] { state.withLock(\.self) }

    /// Creates an agent that answers each sign-in with `query`; without a query, it never answers.
    init(answering query: String? = nil) { self.query = query }

    func open(_ url: URL) async throws {
      Issue.record("the agent did not get its sign-in")
    }

    func open(_ url: URL, for signIn: PendingSignIn) async throws {
      let page = try AuthorizationURL(url)
      state.withLock { $0.append(Call(page: page, signIn: signIn)) }
      if let query { #expect(signIn.handleRedirect(try page.redirect(query))) }
    }
  }

  /// A user agent that has only the method that gets a URL, without the sign-in.
  final class PlainAgent: UserAgent {
    private let urls = Locked<[URL]>([])
    var opened: [URL] { urls.withLock(\.self) }
    func open(_ url: URL) async throws { urls.withLock { $0.append(url) } }
  }

  func module(
    _ accountID: String, _ agent: any UserAgent, answer: String = "T",
    redirectURI: String = "com.example.app:/cb"
  ) throws -> AuthorizationModule {
    var environment = ClientEnvironment()
    environment.userAgent = agent
    environment.transport = ScriptedTransport(ScriptedTransport.token(answer))
    return AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "client of \(accountID)", redirectURI: redirectURI, scope: "demo",
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token",
          issuer: "https://id.example")),
      environment: environment, accountID: accountID)
  }

  @Test func `one user agent answers the sign-ins of many accounts`() async throws {
    let agent = SharedAgent(answering: "code=abc&iss=https://id.example")
    let names = (0..<8).map { "account \($0)" }
    let tokens = try await withThrowingTaskGroup(of: (String, String).self) { group in
      for name in names {
        let module = try module(name, agent, answer: "token of \(name)".replacing(" ", with: "-"))
        group.addTask { (name, try await module.signIn().accessToken) }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    for name in names {
      #expect(tokens[name] == "token of \(name)".replacing(" ", with: "-"))
      let signIn = try #require(agent.calls.map(\.signIn).first { $0.accountID == name })
      #expect(signIn.clientID == "client of \(name)" && signIn.issuer == "https://id.example")
      #expect(signIn.redirectURI == "com.example.app:/cb")
    }
    #expect(agent.calls.count == names.count)
  }

  @Test func `a user agent gets the redirect URI of a loopback sign-in with the bound port`()
    async throws
  {
    let agent = SharedAgent()
    let module = try module("default", agent, redirectURI: "http://127.0.0.1/callback")
    let signingIn = Task { await failure(.cancelled) { try await module.signIn() } }
    try await eventually { !agent.calls.isEmpty }
    let call = try #require(agent.calls.first)
    let uri = try #require(URL(string: call.signIn.redirectURI))
    #expect(uri.host() == "127.0.0.1" && uri.path() == "/callback" && uri.port != nil)
    #expect(call.page.parameters["redirect_uri"] == call.signIn.redirectURI)
    module.cancelSignIn()
    _ = await signingIn.value
  }

  @Test func `an ended sign-in accepts neither its own redirect nor that of the next sign-in`()
    async throws
  {
    let agent = SharedAgent()
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.environment.userAgent = agent
    fixture.oauth.authorizeUser()
    try await eventually { agent.calls.count == 1 && fixture.clock.sleepers > 0 }
    fixture.oauth.cancelSignIn()
    #expect(await fixture.delegate.events(1) == [.cancelled])
    fixture.oauth.authorizeUser()
    try await eventually { agent.calls.count == 2 && fixture.clock.sleepers > 0 }
    let (old, new) = (agent.calls[0], agent.calls[1])
    #expect(!old.signIn.handleRedirect(try old.page.redirect("code=abc")))
    #expect(!old.signIn.handleRedirect(try new.page.redirect("code=abc")))
    #expect(!new.signIn.handleRedirect(try old.page.redirect("code=abc")))
    #expect(fixture.oauth.isSigningIn && fixture.http.requests.isEmpty)
    #expect(new.signIn.handleRedirect(try new.page.redirect("code=abc").absoluteString))
    #expect(new.signIn.handleRedirect(try new.page.redirect("code=abc")), "the same redirect")
    #expect(!new.signIn.handleRedirect(try new.page.redirect("code=other")), "another redirect")
    #expect(await fixture.delegate.events(2).last == .authorized("T"))
  }

  @Test func `a user agent that gets only the URL can complete a sign-in`() async throws {
    let agent = PlainAgent()
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.environment.userAgent = agent
    fixture.oauth.authorizeUser()
    try await eventually { agent.opened.count == 1 && fixture.clock.sleepers > 0 }
    let page = try AuthorizationURL(try #require(agent.opened.first))
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
  }

  @Test func `a user agent closure that expects a sign-in is not called without one`() async throws
  {
    let agent = CustomUserAgent { _, _ in Issue.record("the closure was called without a sign-in") }
    let url = try #require(URL(string: "https://id.example/authorize"))
    await failure(.browserUnavailable) { try await agent.open(url) }
  }

  @Test func `no description of a pending sign-in shows its state parameter`() async throws {
    let agent = SharedAgent(answering: "code=abc")
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.environment.userAgent = agent
    _ = try await fixture.oauth.signIn()
    let call = try #require(agent.calls.first)
    try #require(!call.page.state.isEmpty)
    let text = everyText(of: call.signIn)
    #expect(text.contains("default") && text.contains("com.example.app:/cb"))
    #expect(!text.contains(call.page.state), "\(text)")
  }

  /// An `SQOAuthError` that a user agent throws reaches the app unchanged.
  @Test func `a user agent can report why the sign-in failed`() async throws {
    let fixture = try OAuthFixture(browser: { _, _ in
      throw SQOAuthError(.signInRefused, "the password is wrong")
    }).register()
    let error = await failure(.signInRefused) { try await fixture.oauth.signIn() }
    #expect(error?.message == "the password is wrong")
    #expect(await fixture.delegate.events(1) == [.failed(.signInRefused)])
  }

  @Test(arguments: [
    ("the window is shut", "the user agent failed: the window is shut"),
    ("no \u{1B}[31mpage", "the user agent failed: no [31mpage"),
    (nil, "the user agent failed, and its error (the cause) does not describe itself"),
  ])
  func `the error of a user agent is repeated without the state`(
    words: String?, message: String
  ) async throws {
    struct Shown: LocalizedError { let errorDescription: String? }
    let fixture = try OAuthFixture(browser: { _, page in
      throw Shown(errorDescription: words.map { $0 + " " + page.state })
    }).register()
    let error = try #require(
      await failure(.browserUnavailable) { try await fixture.oauth.signIn() })
    #expect(error.message == message + (words == nil ? "" : " [removed]"))
    #expect(error.cause is Shown)
  }

  /// How the browser's URL carries the authorization request.
  enum Carriage: CaseIterable { case plain, signed, pushed }

  /// The errors of `open` and `xdg-open` repeat the address that they did not open.
  @Test(arguments: Carriage.allCases)
  func `the error of a user agent that repeats the page's URL shows no secret of the request`(
    carriage: Carriage
  ) async throws {
    struct Shown: LocalizedError { let errorDescription: String? }
    let reference = "urn:example:request-4711"
    let fixture = OAuthFixture(
      answer: ScriptedTransport.json(
        #"{"request_uri":"\#(reference)","expires_in":60}"#, status: 201),
      browser: { _, page in throw Shown(errorDescription: "cannot open \(page.url)") })
    var configuration = try ClientConfiguration(
      clientID: "client", clientKey: MadeKeys.key(for: .es256),
      redirectURI: "com.example.app:/cb", scope: "openid",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        pushedAuthorization: carriage == .pushed ? "https://id.example/par" : nil,
        jwks: "https://id.example/keys",
        issuer: "https://id.example"))
    configuration.signsAuthorizationRequests = carriage == .signed
    configuration.pushesAuthorizationRequests = carriage == .pushed
    fixture.oauth.register(configuration)
    var options = SignInOptions()
    options.idTokenHint = "header.the-user's-claims.signature"
    let error = try #require(
      await failure(.browserUnavailable) { try await fixture.oauth.signIn(with: options) })
    let page = try #require(fixture.opened.first)
    let names =
      switch carriage {
      case .plain: ["id_token_hint", "nonce", "state"]
      case .signed: ["request"]
      case .pushed: ["request_uri"]
      }
    for name in names {
      let secret = try #require(page.parameters[name])
      #expect(!error.message.contains(secret) && error.message.contains("\(name)=[removed]"))
    }
    #expect(error.message.contains("https://id.example/authorize?"), "the rest is shown")
    #expect(!error.message.contains("4711") && !error.message.contains("claims"))
  }
}
