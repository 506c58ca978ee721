import Foundation
import OAuthSandbox
import SQBasics
import SQLoopback
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// An app with its own web server on the port of the redirect URI.
@Suite(.timeLimit(.minutes(1))) struct AppReceivedRedirectTests {
  /// The app's web server, which passes every request's address to the sign-in.
  struct WebApp: Sendable {
    private final class SignIn: Sendable {
      let oauth = OneShot<SQOAuth>()
      let outcomes = Locked<[RedirectOutcome]>([])
    }

    let server: LoopbackServer
    private let signIn = SignIn()

    var outcomes: [RedirectOutcome] { signIn.outcomes.withLock(\.self) }

    init() throws {
      let signIn = signIn
      server = try LoopbackServer { request in
        let url = "http://\(request.header("host") ?? "")\(request.target)"
        guard let outcome = await signIn.oauth.value()?.receiveRedirect(url) else {
          return .script([])
        }
        signIn.outcomes.withLock { $0.append(outcome) }
        return .response(LoopbackResponse(status: 200, body: Data("my own page".utf8)))
      }
    }

    func serve(_ oauth: SQOAuth) { signIn.oauth.resolve(oauth) }

    func redirectURI(_ host: String = "127.0.0.1") -> String {
      "http://\(host):\(server.port)/callback"
    }
  }

  static func client(
    _ redirectURI: String?, _ receiver: RedirectReceiver? = .app
  ) throws(SQOAuthError) -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "client", redirectURI: redirectURI, redirectReceiver: receiver,
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"))
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func `an app's own server receives the redirect and passes it to the SDK`(host: String)
    async throws
  {
    let app = try WebApp()
    let uri = app.redirectURI(host)
    let fixture = OAuthFixture(browser: { _, page in
      #expect(page.parameters["redirect_uri"] == uri)
      // A browser uses 127.0.0.1 for localhost when nothing listens on ::1.
      let redirect = try page.redirect("code=abc").absoluteString
      let target = redirect.dropFirst("http://\(host):\(app.server.port)".count)
      let answer = try await RawClient.ask(
        "GET \(target) HTTP/1.1\r\nHost: \(host):\(app.server.port)\r\nConnection: close\r\n\r\n",
        port: app.server.port)
      #expect(answer.hasSuffix("my own page"))
    })
    fixture.oauth.register(try Self.client(uri))
    app.serve(fixture.oauth)
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(fixture.http.forms.first?["redirect_uri"] == uri)
    // The sign-in may end before the app's server has recorded what became of the redirect.
    try await eventually { app.outcomes == [.answered] }
    await app.server.stop()
  }

  @Test
  func `an authorization server that compares redirect URIs accepts the app's URI`() async throws {
    let app = try WebApp()
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: "web", name: "Web", redirectURIs: [app.redirectURI()])]
    let fixture = try await SandboxFixture(options)
    app.serve(fixture.oauth)
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "web", redirectURI: app.redirectURI(), redirectReceiver: .app, scope: "demo",
        provider: .issuer(fixture.sandbox.issuer.absoluteString)))
    let token = try await fixture.oauth.signIn()
    #expect(token.scopes == ["demo"])
    // The sign-in may end before the app's server has recorded what became of the redirect.
    try await eventually { app.outcomes == [.answered] }
    await app.server.stop()
  }

  @Test func `registerApplicationParameters accepts the app as the receiver of the redirect`()
    async throws
  {
    let app = try WebApp()
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: "web", name: "Web", redirectURIs: [app.redirectURI()])]
    let fixture = try await SandboxFixture(options)
    app.serve(fixture.oauth)
    fixture.oauth.registerApplicationParameters(
      clientID: "web", redirectURI: app.redirectURI(), redirectReceiver: .app, scope: "demo",
      provider: .issuer(fixture.sandbox.issuer.absoluteString))
    #expect(try await fixture.oauth.signIn().scopes == ["demo"])
    try await eventually { app.outcomes == [.answered] }
    await app.server.stop()
  }

  @Test func `invalid registration parameters fail the sign-in`() async {
    let fixture = OAuthFixture()
    fixture.oauth.registerApplicationParameters(
      clientID: "web", redirectURI: "http://localhost/callback", redirectReceiver: .app,
      provider: .issuer("https://id.example.com"))
    let error = await failure(.invalidConfiguration) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("port") == true && fixture.opened.isEmpty)
  }

  @Test func `if the app's server has the port, the error suggests the app as receiver`()
    async throws
  {
    let app = try WebApp()
    let fixture = OAuthFixture()
    fixture.oauth.register(try Self.client(app.redirectURI(), nil))
    let error = await failure(.portInUse) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("redirectReceiver: .app") == true)
    #expect(fixture.opened.isEmpty)
    await app.server.stop()
  }

  @Test func `the SDK opens no port if the app receives the redirect`() async throws {
    // The SDK could listen on the reserved port, but other tests cannot get it.
    let socket = try BoundSocket()
    let fixture = OAuthFixture(browser: OAuthFixture.idle)
    fixture.oauth.register(try Self.client("http://127.0.0.1:\(socket.port)/callback"))
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    #expect(!RawClient.isOpen(port: socket.port))
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    withExtendedLifetime(socket) {}
  }

  // MARK: - Wrong use

  @Test(arguments: [
    "http://localhost/callback", "http://127.0.0.1:0/callback", "http://[::1]/callback",
  ])
  func `if the app receives the redirect, a redirect URI without a usable port is rejected`(
    uri: String
  ) {
    let error = failure(.invalidConfiguration) { try Self.client(uri) }
    #expect(error?.message.contains("port") == true)
    #expect(error?.message.contains("http://localhost:8080/callback") == true)
  }

  @Test(arguments: ["com.example.app:/callback", "https://app.example.com/callback"])
  func `the SDK cannot be the receiver of a custom scheme or https address`(uri: String) throws {
    let error = failure(.invalidConfiguration) { try Self.client(uri, .sdk) }
    #expect(error?.message.contains("handleRedirect") == true)
    #expect(try Self.client(uri, .app).redirectURI?.receiver == .app)
    #expect(try Self.client(uri, nil).redirectURI?.receiver == .app)
  }

  @Test func `an http redirect URI whose host is not loopback is rejected`() {
    failure(.invalidConfiguration) { try Self.client("http://app.example:8080/callback") }
  }

  @Test(arguments: [
    (nil, "passed no redirect"), ("/callback?code=abc", "pass the whole URL"),
    ("http://localhost:9/callback?code=abc", "pass the whole URL"),
  ])
  func `the error of a timeout says whether the app passed no redirect or a wrong one`(
    passed: String?, hint: String
  ) async throws {
    let fixture = OAuthFixture(browser: OAuthFixture.idle)
    fixture.oauth.register(try Self.client("http://localhost:8080/callback"))
    let end = Task { await failure(.timedOut) { try await fixture.oauth.signIn() } }
    let page = try await fixture.isWaiting()
    if let passed {
      #expect(fixture.oauth.receiveRedirect("\(passed)&state=\(page.state)") == .foreignAddress)
    }
    fixture.clock.advance(by: 300)
    let error = await end.value
    #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    #expect(error?.isCancellation == true)
  }

  @Test func `if the SDK's own receiver times out, the error does not mention the app`()
    async throws
  {
    let (fixture, _, _) = try await LoopbackRedirectTests.waiting()
    let end = begin { await failure(.timedOut) { try await fixture.oauth.signIn() } }
    fixture.clock.advance(by: 300)
    #expect(try await end.value?.message.hasPrefix("no redirect came within 300 s; if the") == true)
  }
}
