import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The shared instance, other instances, and a client that is registered again.
@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
  @Test func `there is one shared instance with one result`() {
    #expect(SQOAuth.shared === SQOAuth.shared)
    #expect(SQAuthResult.shared === SQAuthResult.shared)
    #expect(SQAuthResult.shared === SQOAuth.shared.result)
    #expect(SQOAuth() !== SQOAuth.shared && SQOAuth().result !== SQAuthResult.shared)
  }

  /// Code that was written for the Sequencing CocoaPod still compiles.
  @available(*, deprecated)
  @Test func `the deprecated names of the shared instance return the shared instance`() {
    #expect(SQOAuth.sharedInstance() === SQOAuth.shared)
    #expect(SQOAuth.instance === SQOAuth.shared)
  }

  @available(*, deprecated)
  @Test func `the deprecated registration method registers a client`() async throws {
    let fixture = OAuthFixture()
    fixture.oauth.registrateApplicationParametersCliendID(
      "id", clientSecret: "s", redirectUri: "authapp://Default/Authcallback", scope: "demo")
    _ = try await fixture.oauth.signIn()
    let page = try #require(fixture.opened.first)
    #expect(page.url.absoluteString.hasPrefix("https://sequencing.com/oauth2/authorize?"))
    #expect(page.parameters["client_id"] == "id" && page.parameters["scope"] == "demo")
    #expect(page.parameters["redirect_uri"] == "authapp://Default/Authcallback")
    #expect(page.parameters["mobile"] == "1")
    #expect(fixture.http.requests.first?.headers["Authorization"] == "Basic aWQ6cw==")
  }

  @available(*, deprecated)
  @Test func `the deprecated methods for refreshes behave like the current methods`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.registrateApplicationParametersCliendID(
      "client", ClientSecret: "s", RedirectUri: "authapp://Default/Authcallback", Scope: "demo")
    try fixture.fixture.register()
    let recorder = RefreshRecorder()
    fixture.oauth.refreshTokenDelegate = recorder
    #expect(fixture.oauth.refreshTokenDelegate === recorder && fixture.observer.events.isEmpty)
    let saved = fixture.server.issue(at: fixture.clock.now)
    fixture.oauth.launchTokenTimerUpdateWithToken(saved)
    #expect(fixture.memory == "T1 R1")
    let token: SQToken? = await fixture.completion {
      $0.updateAccessTokenWithRefreshToken(saved, tokenResult: $1)
    }
    #expect(token?.accessToken == "T2")
    #expect(await recorder.words(1) == ["refreshed T2"])
    fixture.server.next(ScriptedTransport.json("", status: 500))
    let none: SQToken? = await fixture.completion {
      $0.updateAccessTokenWithRefreshToken(saved, tokenResult: $1)
    }
    #expect(none == nil)
  }

  @Test func `a sign-in uses the provider that was registered last`() async throws {
    let fixture = OAuthFixture()
    fixture.oauth.registerApplicationParameters(
      clientID: "id", clientSecret: "s", redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .sequencing)
    _ = try await fixture.oauth.signIn()
    #expect(fixture.opened.first?.url.host() == "sequencing.com")
    fixture.oauth.registerApplicationParameters(
      clientID: "id", redirectURI: "com.example.app:/cb",
      provider: .endpoints(authorization: "https://x.example/a", token: "https://x.example/t"))
    _ = try await fixture.oauth.signIn()
    #expect(fixture.opened.last?.url.host() == "x.example")
  }

  @Test func `registering again replaces the client and keeps the token`() async throws {
    let fixture = try OAuthFixture().register(scope: "first")
    _ = try await fixture.oauth.signIn()
    try fixture.register(scope: "second")
    #expect(fixture.oauth.result.token?.accessToken == "T")
    _ = try await fixture.oauth.signIn()
    #expect(fixture.opened.map { $0.parameters["scope"] } == ["first", "second"])
  }

  @Test func `a running sign-in keeps the client that it began with`() async throws {
    let fixture = try OAuthFixture(browser: OAuthFixture.idle).register()
    fixture.oauth.authorizeUser()
    let page = try await fixture.isWaiting()
    try fixture.register(
      redirectURI: "com.example.new:/cb",
      provider: .endpoints(authorization: "https://new.example/a", token: "https://new.example/t"))
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await fixture.delegate.events(1) == [.authorized("T")])
    #expect(fixture.http.requests.map(\.url.absoluteString) == ["https://id.example/token"])
    #expect(fixture.http.forms.first?["redirect_uri"] == "com.example.app:/cb")
  }

  /// Mix-up by registration: the metadata of one issuer must not be used for the next.
  @Test func `after another issuer is registered, a sign-in uses that issuer's metadata`()
    async throws
  {
    let fixture = OAuthFixture(answer: { request in
      if request.method == "POST" { return try await ScriptedTransport.token()(request) }
      let origin = "https://\(request.url.host() ?? "")"
      return try await ScriptedTransport.json(
        """
        {"issuer":"\(origin)","authorization_endpoint":"\(origin)/a","token_endpoint":"\(origin)/t"}
        """)(request)
    })
    for host in ["one", "two", "one"] {
      try fixture.register(provider: .issuer("https://\(host).example"))
      _ = try await fixture.oauth.signIn()
    }
    #expect(fixture.opened.map { $0.url.host() } == ["one.example", "two.example", "one.example"])
    let tokens = fixture.http.requests.filter { $0.method == "POST" }
    #expect(tokens.map { $0.url.host() } == ["one.example", "two.example", "one.example"])
  }

  @Test func `a registration that fails still removes the previous client`() async throws {
    let fixture = try OAuthFixture().register()
    fixture.oauth.registerApplicationParameters(
      clientID: "", redirectURI: "com.example.app:/cb", provider: .sequencing)
    await failure(.invalidConfiguration) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty)
  }
}
