import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Discovery by RFC 8414 and OpenID Connect during a sign-in.
@Suite(.timeLimit(.minutes(1))) struct DiscoverySignInTests {
  static let issuer = "https://id.example/t"
  static let addresses = [
    "https://id.example/.well-known/oauth-authorization-server/t",
    "https://id.example/.well-known/openid-configuration/t",
    "https://id.example/t/.well-known/openid-configuration",
  ]

  static func document(_ members: String = "", issuer: String = issuer) -> String {
    """
    {"issuer":"\(issuer)","authorization_endpoint":"https://id.example/a?x=1",
     "token_endpoint":"https://id.example/token"\(members)}
    """
  }

  /// Returns a server with the document at one address, the status at all others, and tokens for
  /// POST.
  static func server(
    _ document: String = document(), at address: String = addresses[0], else status: Int = 404,
    token: @escaping ScriptedTransport.Answer = ScriptedTransport.token()
  ) -> ScriptedTransport.Answer {
    { request in
      if request.method == "POST" { return try await token(request) }
      guard request.url.absoluteString == address else { return WebResponse(status: status) }
      return try await ScriptedTransport.json(document)(request)
    }
  }

  func fixture(
    _ answer: @escaping ScriptedTransport.Answer, query: String = "code=abc",
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> OAuthFixture {
    try OAuthFixture(answer: answer, browser: DelegateOutcomeTests.answers(query))
      .register(provider: .issuer(Self.issuer), change: change)
  }

  @Test(arguments: addresses, [404, 400, 403, 405, 410, 301, 302, 307, 429, 500, 502, 503])
  func `each well-known URL is tried until one returns the metadata`(
    address: String, status: Int
  ) async throws {
    let fixture = try fixture(Self.server(at: address, else: status))
    _ = try await fixture.oauth.signIn()
    let urls = fixture.http.requests.map(\.url.absoluteString)
    #expect(urls.last == "https://id.example/token")
    #expect(urls.first == Self.addresses[0] && Set(urls).count == urls.count)
    #expect(urls.dropLast().last == address)
    #expect(fixture.opened.first?.url.absoluteString.hasPrefix("https://id.example/a?x=1&") == true)
  }

  @Test func `the metadata is fetched again at each sign-in, so the token endpoint may change`()
    async throws
  {
    let fixture = try fixture(Self.server())
    _ = try await fixture.oauth.signIn()
    fixture.http.answer(
      Self.server(
        Self.document().replacingOccurrences(of: "id.example/token", with: "new.example/token")))
    _ = try await fixture.oauth.signIn()
    #expect(
      fixture.http.requests.filter { $0.method == "POST" }.map { $0.url.host() }
        == ["id.example", "new.example"])
  }

  @Test(arguments: [
    "https://127.0.0.1:9/t", "https://[::1]/t", "https://localhost/t", "https://0.0.0.0/t",
    "https://a.localhost/t",
  ])
  func `a token endpoint on this computer is refused if the client accepts no local servers`(
    address: String
  ) async throws {
    let token = ScriptedTransport.token(members: #""expires_in":60,"refresh_token":"R""#)
    let fixture = try fixture(Self.server(token: token)) {
      $0.acceptsServersOnThisComputer = false
    }
    fixture.oauth.refreshesAutomatically = false
    _ = try await fixture.oauth.signIn()
    // The server's document now names a token endpoint on this computer.
    let document = Self.document().replacing("https://id.example/token", with: address)
    fixture.http.answer(Self.server(document, token: token))
    fixture.clock.advance(by: 86_400)
    await failure(.insecureEndpoint) { try await fixture.oauth.token() }
    await failure(.insecureEndpoint) { try await fixture.oauth.signIn() }
    let hosts = Set(fixture.http.requests.compactMap { $0.url.host() })
    #expect(hosts == ["id.example"])
    // By default, a server may be on this computer.
    let here = try self.fixture(Self.server(document, token: token))
    #expect(try await here.oauth.signIn().accessToken == "T")
  }

  @Test func `an issuer on this computer gets no request if the client accepts no local servers`()
    async throws
  {
    let fixture = OAuthFixture()
    try fixture.register(provider: .issuer("http://127.0.0.1:9")) {
      $0.acceptsServersOnThisComputer = false
    }
    await failure(.insecureEndpoint) { try await fixture.oauth.signIn() }
    let registrar = ClientRegistrar(
      issuer: "http://127.0.0.1:9", environment: fixture.oauth.environment)
    var strict = registrar
    strict.acceptsServersOnThisComputer = false
    await failure(.insecureEndpoint) {
      try await strict.register(ClientMetadata(redirectURIs: ["http://127.0.0.1/callback"]))
    }
    #expect(fixture.http.requests.isEmpty)
  }

  @Test(arguments: ["x", "", "id.example", "https://", "https://a b.example"], [false, true])
  func `an issuer that is no URL is a fault of the configuration`(
    issuer: String, acceptsLocal: Bool
  ) async throws {
    let fixture = OAuthFixture()
    var registrar = ClientRegistrar(issuer: issuer, environment: fixture.oauth.environment)
    registrar.acceptsServersOnThisComputer = acceptsLocal
    let error = await failure(.invalidConfiguration) {
      try await registrar.register(ClientMetadata(redirectURIs: ["http://127.0.0.1/callback"]))
    }
    #expect(error?.message.contains("absolute http or https URL") == true)
    #expect(error?.message.contains("on this computer") == false)
    #expect(fixture.http.requests.isEmpty)
  }

  @Test func `the next sign-in repeats a failed discovery`() async throws {
    let fixture = try fixture { _ in throw URLError(.timedOut) }
    await failure(.connectionFailed) { try await fixture.oauth.signIn() }
    fixture.http.answer(Self.server())
    #expect(try await fixture.oauth.signIn().accessToken == "T")
  }

  @Test(arguments: [
    ("https://id.example/t/", SQOAuthError.Code.issuerMismatch),
    ("https://evil.example", .issuerMismatch), ("https://id.example/T", .issuerMismatch),
  ])
  func `metadata of another issuer is rejected, and no other well-known URL is tried`(
    issuer: String, code: SQOAuthError.Code
  ) async throws {
    let fixture = try fixture(Self.server(Self.document(issuer: issuer)))
    await failure(code) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty && fixture.http.requests.count == 1)
  }

  @Test(arguments: [301, 302, 307, 308])
  func `a redirect of the metadata request is not followed, and the sign-in fails`(status: Int)
    async throws
  {
    let fixture = try fixture { _ in
      WebResponse(status: status, headers: ["Location": "https://evil.example/"])
    }
    await failure(.redirectRefused) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty)
    #expect(fixture.http.requests.map(\.url.absoluteString).sorted() == Self.addresses.sorted())
  }

  @Test(arguments: ["<html>", "[]", "{", "{}"])
  func `a body that is not metadata ends the sign-in`(body: String) async throws {
    let fixture = try fixture(ScriptedTransport.json(body))
    await failure { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty)
    #expect(await fixture.delegate.events(1).count == 1)
  }

  @Test func `a server without metadata ends the sign-in after all well-known URLs were tried`()
    async throws
  {
    let fixture = try fixture { _ in WebResponse(status: 404) }
    await failure { try await fixture.oauth.signIn() }
    #expect(fixture.http.requests.map(\.url.absoluteString).sorted() == Self.addresses.sorted())
    #expect(fixture.opened.isEmpty)
  }

  @Test func `the metadata request contains no client secret`() async throws {
    let fixture = try fixture(Self.server())
    _ = try await fixture.oauth.signIn()
    let request = try #require(fixture.http.requests.first)
    #expect(request.headers["Authorization"] == nil)
    guard case .empty = request.body else {
      Issue.record("the metadata request has a body")
      return
    }
  }

  // MARK: - What the metadata changes

  @Test
  func `if metadata announces iss, a redirect with a code needs iss, and a wrong iss is rejected`()
    async throws
  {
    let promise = Self.document(#","authorization_response_iss_parameter_supported":true"#)
    for (query, code) in [
      ("code=abc", SQOAuthError.Code.issuerMismatch),
      ("error=access_denied", .accessDenied),
      ("error=access_denied&iss=https://id.example/t1", .issuerMismatch),
      ("code=abc&iss=https://id.example/t1", .issuerMismatch),
    ] {
      let fixture = try fixture(Self.server(promise), query: query)
      await failure(code) { try await fixture.oauth.signIn() }
      #expect(fixture.http.forms.isEmpty, "the code is never sent")
      #expect(
        await fixture.delegate.events(1) == [code == .accessDenied ? .cancelled : .failed(code)])
    }
    let good = try fixture(Self.server(promise), query: "code=abc&iss=https%3A%2F%2Fid.example%2Ft")
    #expect(try await good.oauth.signIn().accessToken == "T")
  }

  @Test(arguments: [
    #""scopes_supported":{"openid":"…"}"#, #""claims_supported":"sub""#,
    #""acr_values_supported":[1]"#, #""registration_endpoint":"/""#,
    #""end_session_endpoint":"""#, #""introspection_endpoint":"http://keycloak:8080/introspect""#,
    #""jwks_uri":5"#, #""userinfo_endpoint":"userinfo""#,
    #""authorization_response_iss_parameter_supported":"false""#,
  ])
  func `an invalid metadata member that the sign-in does not need is ignored`(member: String)
    async throws
  {
    let fixture = try fixture(Self.server(Self.document("," + member)))
    #expect(try await fixture.oauth.signIn().accessToken == "T")
  }

  /// No call may send a token or a secret without encryption.
  @Test func `an unencrypted endpoint gets no request`() async throws {
    let http = #""http://id.example/x""#
    let fixture = try fixture(
      Self.server(
        Self.document(
          #","revocation_endpoint":\#(http),"device_authorization_endpoint":\#(http)"#)))
    _ = try await fixture.oauth.signIn()
    await failure(.insecureEndpoint) { try await fixture.oauth.revoke() }
    await failure(.insecureEndpoint) { try await fixture.oauth.signInWithDeviceCode { _ in } }
    #expect(fixture.http.requests.allSatisfy { $0.url.scheme == "https" })
  }

  @Test(arguments: [#"["plain"]"#, "[]", #"["s256"]"#])
  func `a server without S256 is rejected unless the app accepts it`(methods: String) async throws {
    let document = Self.document(#","code_challenge_methods_supported":\#(methods)"#)
    let refusing = try fixture(Self.server(document))
    await failure(.pkceUnsupported) { try await refusing.oauth.signIn() }
    #expect(refusing.opened.isEmpty)
    let accepting = try fixture(Self.server(document)) { $0.acceptsServersWithoutPKCE = true }
    _ = try await accepting.oauth.signIn()
    #expect(accepting.opened.first?.parameters["code_challenge_method"] == "S256")
  }

  /// Many servers support PKCE and do not say so, so only a client that demands the list refuses.
  @Test func `only clients that require a list of PKCE methods reject a server without the list`()
    async throws
  {
    let server = Self.server(Self.document(""))
    let usual = try fixture(server)
    try await usual.oauth.signIn()
    let demanding: [@Sendable (inout ClientConfiguration) -> Void] = [
      { $0.requiresListedPKCE = true }, { $0.profile = .mcp },
      {
        $0.profile = .mcp
        $0.acceptsServersWithoutPKCE = true
      },
    ]
    for demand in demanding {
      let fixture = try fixture(server, change: demand)
      let error = await failure(.pkceUnsupported) { try await fixture.oauth.signIn() }
      #expect(error?.message.contains("code_challenge_methods_supported") == true)
      #expect(fixture.opened.isEmpty)
    }
  }

  @Test
  func `an MCP client rejects a server without S256 even if acceptsServersWithoutPKCE is true`()
    async throws
  {
    let document = Self.document(#","code_challenge_methods_supported":["plain"]"#)
    let fixture = try fixture(Self.server(document)) {
      $0.profile = .mcp
      $0.acceptsServersWithoutPKCE = true
    }
    await failure(.pkceUnsupported) { try await fixture.oauth.signIn() }
    #expect(fixture.opened.isEmpty)
  }

  /// If the browser opened, it would show an error page, and the app would wait for minutes.
  @Test(arguments: [
    ("require_pushed_authorization_requests", "true"),
    ("require_pushed_authorization_requests", #""true""#),
    ("require_signed_request_object", "true"),
    ("response_types_supported", #"["token","code id_token"]"#), ("response_types_supported", "[]"),
    ("grant_types_supported", #"["client_credentials","refresh_token"]"#),
  ])
  func `a sign-in that the metadata rules out ends before the browser opens`(
    member: String, value: String
  ) async throws {
    let document = Self.document(#","\#(member)":\#(value)"#)
    let fixture = try fixture(Self.server(document))
    let error = await failure(.signInUnsupported) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains(member) == true && fixture.opened.isEmpty)
    // The client credentials grant still works: the metadata rule out only the sign-in.
    #expect(try await fixture.oauth.module.requestAccessTokenAsClient().accessToken == "T")
  }

  @Test(arguments: [
    ("require_pushed_authorization_requests", "false"), ("require_signed_request_object", "null"),
    ("response_types_supported", #"["code","token"]"#), ("response_types_supported", "{}"),
    ("grant_types_supported", #"["authorization_code"]"#), ("response_types_supported", #""code""#),
    ("pushed_authorization_request_endpoint", #""https://id.example/par""#),
  ])
  func `metadata that does not rule out a sign-in is accepted`(member: String, value: String)
    async throws
  {
    let fixture = try fixture(Self.server(Self.document(#","\#(member)":\#(value)"#)))
    #expect(try await fixture.oauth.signIn().accessToken == "T")
  }

  @Test(arguments: [#"["S256"]"#, #"["plain","S256"]"#])
  func `a server that lists S256 is accepted`(methods: String) async throws {
    let fixture = try fixture(
      Self.server(Self.document(#","code_challenge_methods_supported":\#(methods)"#)))
    _ = try await fixture.oauth.signIn()
  }

  @Test func `the server's list of authentication methods is used if the app chose none`()
    async throws
  {
    for (methods, isBasic) in [("client_secret_post", false), ("client_secret_basic", true)] {
      let fixture = try fixture(
        Self.server(
          Self.document(#","token_endpoint_auth_methods_supported":["\#(methods)"]"#)))
      _ = try await fixture.oauth.signIn()
      #expect((fixture.http.requests.last?.headers["Authorization"] != nil) == isBasic)
      #expect((fixture.http.forms.last?["client_secret"] != nil) == !isBasic)
    }
  }
}
