import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Sign-ins whose parameters the client pushes to the server first (RFC 9126).
@Suite(.timeLimit(.minutes(1))) struct PushedAuthorizationTests {
  private static let reference = "urn:example:bwc4JK-ESC0w8acc191e-Y1LTC2"
  private static let pushed = #"{"request_uri":"\#(reference)","expires_in":60}"#

  /// Returns a server that answers pushed requests with `body`, and all other requests with a
  /// token.
  private static func server(
    _ body: String = pushed, status: Int = 201
  ) -> ScriptedTransport.Answer {
    { request in
      request.url.path() == "/par"
        ? try await ScriptedTransport.json(body, status: status)(request)
        : try await ScriptedTransport.token()(request)
    }
  }

  /// A user who allows everything; only the server knows the parameters that were pushed.
  private static let allow: OAuthFixture.Browser = { fixture, _ in
    let form = try #require(fixture.http.forms.last)
    let redirect = "\(form["redirect_uri"] ?? "")?state=\(form["state"] ?? "")&code=abc"
    fixture.oauth.handleRedirect(try #require(URL(string: redirect)))
  }

  /// A user who finds at the first `count` visits that the server has forgotten the pushed
  /// parameters.
  private static func allow(afterExpired count: Int) -> OAuthFixture.Browser {
    { fixture, request in
      guard fixture.opened.count <= count else { return try await allow(fixture, request) }
      let state = try #require(fixture.http.forms.last?["state"])
      let redirect = "com.example.app:/cb?state=\(state)&error=invalid_request_uri"
      #expect(fixture.oauth.handleRedirect(try #require(URL(string: redirect))))
    }
  }

  private func fixture(
    _ answer: @escaping ScriptedTransport.Answer = server(), secret: String? = "s",
    par: String? = "https://id.example/par",
    browser: @escaping OAuthFixture.Browser = allow,
    change: (inout ClientConfiguration) -> Void = {
      $0.pushesAuthorizationRequests = true
    }
  ) throws -> OAuthFixture {
    try OAuthFixture(answer: answer, browser: browser).register(
      secret: secret,
      provider: .endpoints(
        authorization: "https://id.example/authorize?tenant=a", token: "https://id.example/token",
        pushedAuthorization: par), change: change)
  }

  @Test func `the browser gets only client_id and request_uri`() async throws {
    let fixture = try fixture()
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(
      fixture.opened.map(\.url.absoluteString) == [
        "https://id.example/authorize?tenant=a&client_id=client&request_uri="
          + "urn%3Aexample%3Abwc4JK-ESC0w8acc191e-Y1LTC2"
      ])
    #expect(fixture.http.requests.map { $0.url.path() } == ["/par", "/token"])
    #expect(fixture.http.forms.last?["redirect_uri"] == "com.example.app:/cb")
  }

  @Test func `a parameter of the endpoint's own query can be pushed, but not added to the URL`()
    async throws
  {
    var options = SignInOptions()
    options.parameters = ["tenant": "b"]
    let fixture = try fixture()
    #expect(try await fixture.oauth.signIn(with: options).accessToken == "T")
    #expect(fixture.http.forms.first?["tenant"] == "b")
    let plain = try self.fixture(change: { $0.pushesAuthorizationRequests = false })
    await failure(.signInUnsupported) { try await plain.oauth.signIn(with: options) }
    #expect(plain.opened.isEmpty && plain.http.requests.isEmpty)
  }

  @Test(
    arguments: [
      (ClientAuthentication.basic, "s"), (.post, "s"), (.publicClient, nil),
    ] as [(ClientAuthentication, String?)])
  func `each parameter is pushed once, with the client's authentication`(
    method: ClientAuthentication, secret: String?
  ) async throws {
    let fixture = OAuthFixture(answer: Self.server(), browser: Self.allow)
    var configuration = try ClientConfiguration(
      clientID: "client", clientSecret: secret, redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        pushedAuthorization: "https://id.example/par"), clientAuthentication: method,
      authorizationParameters: ["prompt": "login"])
    configuration.pushesAuthorizationRequests = true
    fixture.oauth.register(configuration)
    try await fixture.oauth.signIn()
    let request = try #require(fixture.http.requests.first)
    var form = try #require(ScriptedTransport.form(of: request))
    #expect(request.headers["Authorization"] == (method == .basic ? "Basic Y2xpZW50OnM=" : nil))
    #expect(form.removeValue(forKey: "client_secret") == (method == .post ? "s" : nil))
    #expect(form.removeValue(forKey: "state")?.isEmpty == false)
    #expect(form.removeValue(forKey: "code_challenge")?.count == 43)
    #expect(
      form == [
        "response_type": "code", "client_id": "client", "redirect_uri": "com.example.app:/cb",
        "scope": "demo", "code_challenge_method": "S256", "prompt": "login",
      ])
  }

  @Test(
    arguments: [
      (#"{"error":"invalid_request","error_description":"no"}"#, 400, .invalidRequest),
      (#"{"error":"invalid_client"}"#, 401, .invalidClient),
      (#"{"error":"invalid_scope"}"#, 200, .invalidScope),
      ("<html>", 500, .serverError), ("", 413, .invalidResponse),
      ("", 429, .temporarilyUnavailable),
      ("", 201, .invalidResponse), ("[]", 201, .invalidResponse), ("{}", 201, .invalidResponse),
      (#"{"request_uri":null}"#, 201, .invalidResponse),
      (#"{"request_uri":""}"#, 201, .invalidResponse),
      (#"{"request_uri":7}"#, 201, .invalidResponse),
      (#"{"request_uri":"urn:a b"}"#, 201, .invalidResponse),
      (#"{"request_uri":"urn:\u00e9"}"#, 201, .invalidResponse),
      (#"{"request_uri":"urn:\#(String(repeating: "a", count: 2048))"}"#, 201, .invalidResponse),
    ] as [(String, Int, SQOAuthError.Code)])
  func `if the push fails, the sign-in ends and the browser does not open`(
    body: String, status: Int, code: SQOAuthError.Code
  ) async throws {
    let fixture = try fixture(Self.server(body, status: status))
    let error = await failure(code) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("pushed authorization") == true, "\(error as Any)")
    #expect(fixture.opened.isEmpty && fixture.http.requests.count == 1)
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test func `a PAR response with status 200 and without expires_in is accepted`() async throws {
    let fixture = try fixture(Self.server(#"{"request_uri":"urn:a"}"#, status: 200))
    #expect(try await fixture.oauth.signIn().accessToken == "T")
  }

  @Test func `a server without a PAR endpoint ends the sign-in before the browser opens`()
    async throws
  {
    let fixture = try fixture(par: nil)
    let error = await failure(.signInUnsupported) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("pushesAuthorizationRequests") == true)
    #expect(error?.message.contains("pushed_authorization_request_endpoint") == true)
    #expect(fixture.opened.isEmpty && fixture.http.requests.isEmpty)
  }

  @Test func `a PAR endpoint with http on another machine is rejected`() {
    failure(.insecureEndpoint) { _ = try fixture(par: "http://id.example/par") }
  }

  @Test func `a server that requires pushed requests gets them without a setting`() async throws {
    let members =
      #","require_pushed_authorization_requests":true,"#
      + #""pushed_authorization_request_endpoint":"https://id.example/par""#
    let metadata = DiscoverySignInTests.server(DiscoverySignInTests.document(members))
    let fixture = try OAuthFixture(
      answer: { request in
        request.url.path() == "/par"
          ? try await Self.server()(request) : try await metadata(request)
      }, browser: Self.allow
    ).register(provider: .issuer(DiscoverySignInTests.issuer))
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(
      Set(try #require(fixture.opened.first).parameters.keys) == ["x", "client_id", "request_uri"])
  }

  @Test func `expired parameters are pushed again with a new state and code_challenge`()
    async throws
  {
    let fixture = try fixture(browser: Self.allow(afterExpired: 1))
    #expect(try await fixture.oauth.signIn().accessToken == "T")
    #expect(fixture.opened.count == 2)
    #expect(fixture.http.requests.map { $0.url.path() } == ["/par", "/par", "/token"])
    let pushes = fixture.http.forms.prefix(2)
    for name in ["state", "code_challenge"] {
      #expect(Set(pushes.map { $0[name] }).count == 2, "\(name)")
    }
  }

  @Test func `a second expiry of the pushed parameters ends the sign-in`() async throws {
    let fixture = try fixture(browser: Self.allow(afterExpired: .max))
    await failure(.invalidRequestURI) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.count == 2)
  }

  @Test func `invalid_request_uri for a request that was not pushed ends the sign-in`() async throws
  {
    let fixture = try OAuthFixture(answer: Self.server()) { fixture, request in
      fixture.oauth.handleRedirect(try request.redirect("error=invalid_request_uri"))
    }.register()
    await failure(.invalidRequestURI) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.count == 1)
  }

  @Test func `invalid_request_uri from the token endpoint ends the sign-in`() async throws {
    let fixture = try fixture { request in
      let body = #"{"error":"invalid_request_uri"}"#
      return request.url.path() == "/par"
        ? try await Self.server()(request)
        : try await ScriptedTransport.json(body, status: 400)(request)
    }
    await failure(.invalidRequestURI) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.count == 1)
  }

  @Test func `the error contains no pushed secret, even if the server repeats it`() async throws {
    let fixture = try OAuthFixture(
      answer: { request in
        let form = ScriptedTransport.form(of: request) ?? [:]
        let secrets = ["state", "code_challenge", "client_secret"].compactMap { form[$0] }
        let text = "bad: \(secrets.joined(separator: " "))"
        return try await ScriptedTransport.json(
          #"{"error":"invalid_request","error_description":"\#(text)"}"#, status: 400)(request)
      }, browser: Self.allow
    ).register(
      secret: "client-secret-of-the-app",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        pushedAuthorization: "https://id.example/par")
    ) { $0.pushesAuthorizationRequests = true }
    let error = await failure(.invalidRequest) { try await fixture.oauth.signIn() }
    let form = try #require(fixture.http.forms.first)
    let text = everyText(of: try #require(error))
    for name in ["state", "code_challenge"] {
      #expect(!text.contains(try #require(form[name])), "\(name)")
    }
    #expect(!text.contains("client-secret-of-the-app"))
  }
}
