import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// The shared instance, others beside it, and a client that is registered again.
@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
  @Test func `there is one shared instance and its result`() {
    #expect(SQOAuth.shared === SQOAuth.shared)
    #expect(SQAuthResult.shared === SQAuthResult.shared)
    #expect(SQAuthResult.shared === SQOAuth.shared.result)
    #expect(SQOAuth() !== SQOAuth.shared && SQOAuth().result !== SQAuthResult.shared)
  }

  /// The pod's own spellings still compile and mean the same.
  @available(*, deprecated)
  @Test func `the pods' shared instances are the shared one`() {
    #expect(SQOAuth.sharedInstance() === SQOAuth.shared)
    #expect(SQOAuth.instance === SQOAuth.shared)
  }

  @available(*, deprecated)
  @Test func `the pod's way to register registers`() async throws {
    let bench = OAuthFixture()
    bench.oauth.registrateApplicationParametersCliendID(
      "id", clientSecret: "s", redirectUri: "authapp://Default/Authcallback", scope: "demo")
    _ = try await bench.oauth.signIn()
    let page = try #require(bench.opened.first)
    #expect(page.url.absoluteString.hasPrefix("https://sequencing.com/oauth2/authorize?"))
    #expect(page.parameters["client_id"] == "id" && page.parameters["scope"] == "demo")
    #expect(page.parameters["redirect_uri"] == "authapp://Default/Authcallback")
    #expect(page.parameters["mobile"] == "1")
    #expect(bench.http.requests.first?.headers["Authorization"] == "Basic aWQ6cw==")
  }

  @available(*, deprecated)
  @Test func `the pod's other names do what they are renamed to`() async throws {
    let bench = try SessionFixture()
    bench.oauth.registrateApplicationParametersCliendID(
      "client", ClientSecret: "s", RedirectUri: "authapp://Default/Authcallback", Scope: "demo")
    try bench.bench.register()
    let recorder = RefreshRecorder()
    bench.oauth.refreshTokenDelegate = recorder
    #expect(bench.oauth.refreshTokenDelegate === recorder && bench.observer.events.isEmpty)
    let saved = bench.server.issue(at: bench.clock.now)
    bench.oauth.launchTokenTimerUpdateWithToken(saved)
    #expect(bench.memory == "T1 R1")
    let token: SQToken? = await bench.completion {
      $0.updateAccessTokenWithRefreshToken(saved, tokenResult: $1)
    }
    #expect(token?.accessToken == "T2")
    #expect(await recorder.words(1) == ["refreshed T2"])
    bench.server.next(ScriptedHTTPClient.json("", status: 500))
    let none: SQToken? = await bench.completion {
      $0.updateAccessTokenWithRefreshToken(saved, tokenResult: $1)
    }
    #expect(none == nil)
  }

  @Test func `the provider is Sequencing unless another is given`() async throws {
    let bench = OAuthFixture()
    bench.oauth.registerApplicationParameters(
      clientID: "id", clientSecret: "s", redirectURI: "com.example.app:/cb", scope: "demo")
    _ = try await bench.oauth.signIn()
    #expect(bench.opened.first?.url.host() == "sequencing.com")
    bench.oauth.registerApplicationParameters(
      clientID: "id", redirectURI: "com.example.app:/cb",
      provider: .endpoints(authorization: "https://x.example/a", token: "https://x.example/t"))
    _ = try await bench.oauth.signIn()
    #expect(bench.opened.last?.url.host() == "x.example")
  }

  @Test func `registering again replaces the client and keeps the token`() async throws {
    let bench = try OAuthFixture().register(scope: "first")
    _ = try await bench.oauth.signIn()
    try bench.register(scope: "second")
    #expect(bench.oauth.result.token?.accessToken == "T")
    _ = try await bench.oauth.signIn()
    #expect(bench.opened.map { $0.parameters["scope"] } == ["first", "second"])
  }

  @Test func `a sign-in under way keeps the client that it began with`() async throws {
    let bench = try OAuthFixture(browser: OAuthFixture.idle).register()
    bench.oauth.authorizeUser()
    let page = try await bench.isWaiting()
    try bench.register(
      redirectURI: "com.example.new:/cb",
      provider: .endpoints(authorization: "https://new.example/a", token: "https://new.example/t"))
    #expect(bench.oauth.handleRedirect(try page.redirect("code=abc")))
    #expect(await bench.delegate.events(1) == [.authorized("T")])
    #expect(bench.http.requests.map(\.url.absoluteString) == ["https://id.example/token"])
    #expect(bench.http.forms.first?["redirect_uri"] == "com.example.app:/cb")
  }

  /// Mix-up by registration: the metadata of one issuer must not serve the next.
  @Test func `another issuer's metadata is fetched anew`() async throws {
    let bench = OAuthFixture(answer: { request in
      if request.method == "POST" { return try await ScriptedHTTPClient.token()(request) }
      let origin = "https://\(request.url.host() ?? "")"
      return try await ScriptedHTTPClient.json(
        """
        {"issuer":"\(origin)","authorization_endpoint":"\(origin)/a","token_endpoint":"\(origin)/t"}
        """)(request)
    })
    for host in ["one", "two", "one"] {
      try bench.register(provider: .issuer("https://\(host).example"))
      _ = try await bench.oauth.signIn()
    }
    #expect(bench.opened.map { $0.url.host() } == ["one.example", "two.example", "one.example"])
    let tokens = bench.http.requests.filter { $0.method == "POST" }
    #expect(tokens.map { $0.url.host() } == ["one.example", "two.example", "one.example"])
  }

  @Test func `a failed registration replaces the client too`() async throws {
    let bench = try OAuthFixture().register()
    bench.oauth.registerApplicationParameters(clientID: "", redirectURI: "com.example.app:/cb")
    await failure(.invalidConfiguration) { try await bench.oauth.signIn() }
    #expect(bench.opened.isEmpty)
  }
}
