import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import struct SequencingOAuth.PKCE
@testable import TestSupport

/// The token request and its response, through the public interface.
@Suite(.timeLimit(.minutes(1))) struct TokenExchangeTests {
  @Test func `the token request has the values of the authorization request`() async throws {
    let fixture = try OAuthFixture().register()
    _ = try await fixture.oauth.signIn()
    let (page, form) = (try #require(fixture.opened.first), try #require(fixture.http.forms.first))
    #expect(
      Set(form.keys) == ["grant_type", "code", "redirect_uri", "code_verifier"], "Basic by default")
    #expect(form["grant_type"] == "authorization_code")
    #expect(form["code"] == "abc")
    #expect(form["redirect_uri"] == page.parameters["redirect_uri"])
    let verifier = try #require(form["code_verifier"])
    #expect(PKCE(verifier: verifier).challenge == page.parameters["code_challenge"])
    #expect(page.parameters["code_challenge_method"] == "S256")
    #expect(page.parameters["response_type"] == "code")
    #expect(page.parameters["client_id"] == "client")
    #expect(page.parameters["scope"] == "demo")
    #expect(!page.url.absoluteString.contains(verifier))
    #expect(fixture.http.requests.map(\.method) == ["POST"])
    #expect(fixture.http.requests.first?.url.absoluteString == "https://id.example/token")
    #expect(fixture.http.requests.first?.timeout == .seconds(60))
  }

  @Test func `two sign-ins share neither state nor verifier nor challenge`() async throws {
    let fixture = try OAuthFixture().register()
    for _ in 0..<20 { _ = try await fixture.oauth.signIn() }
    #expect(Set(fixture.opened.map(\.state)).count == 20)
    #expect(Set(fixture.opened.map { $0.parameters["code_challenge"] }).count == 20)
    #expect(Set(fixture.http.forms.map { $0["code_verifier"] }).count == 20)
    for (page, form) in zip(fixture.opened, fixture.http.forms) {
      #expect(form["code_verifier"] != page.state)
    }
  }

  @Test(arguments: ["a%3D%3D", "a==", "%2B", "a%2Fb", "a/b", "a%26b%3Dc", "4%2F0A~._-"])
  func `the token request contains the percent-decoded code of the redirect`(code: String)
    async throws
  {
    let fixture = try OAuthFixture(
      browser: DelegateOutcomeTests.answers("code=\(code)&next=/x?y=z#frag")
    )
    .register()
    _ = try await fixture.oauth.signIn()
    #expect(fixture.http.forms.first?["code"] == code.removingPercentEncoding)
  }

  @Test
  func `the authentication method determines whether the secret is in the header or the body`()
    async throws
  {
    let cases: [(String?, ClientAuthentication?, String?, Set<String>)] = [
      ("p: %\u{FC}", nil, "Basic Y2xpZW50OnAlM0ElMjAlMjUlQzMlQkM=", []),
      ("s", .basic, "Basic Y2xpZW50OnM=", []), ("s", .post, nil, ["client_id", "client_secret"]),
      (nil, nil, nil, ["client_id"]), ("s", .publicClient, nil, ["client_id"]),
    ]
    for (secret, method, header, names) in cases {
      let fixture = OAuthFixture()
      fixture.oauth.register(
        try ClientConfiguration(
          clientID: "client", clientSecret: secret, redirectURI: "com.example.app:/cb",
          provider: .endpoints(authorization: "https://s.example/a", token: "https://s.example/t"),
          clientAuthentication: method))
      _ = try await fixture.oauth.signIn()
      let (request, form) = (try #require(fixture.http.requests.first), fixture.http.forms[0])
      #expect(request.headers["Authorization"] == header)
      #expect(Set(form.keys).intersection(["client_id", "client_secret"]) == names)
      #expect(form["client_secret"] == (names.contains("client_secret") ? secret : nil))
    }
  }

  @Test func `the token has the response's values, and its lifetime begins at the response`()
    async throws
  {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.token(
        members: #""expires_in":"3600","refresh_token":"R","scope":"a b","example_parameter":1"#)
    ).register()
    let token = try await fixture.oauth.signIn()
    #expect(token.expirationDate == fixture.clock.now + 3600)
    #expect(token.issueDate == fixture.clock.now)
    #expect(token.refreshToken == "R" && token.scope == "a b" && token.tokenType == "Bearer")
    #expect(token.additionalFields == ["example_parameter": .integer(1)])
  }

  @Test func `the configured parameters are added to the authorization and the token request`()
    async throws
  {
    let fixture = OAuthFixture()
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "client", redirectURI: "com.example.app:/cb", provider: .sequencing,
        authorizationParameters: ["prompt": "consent"], tokenParameters: ["audience": "a&b"]))
    _ = try await fixture.oauth.signIn()
    #expect(fixture.opened.first?.parameters["mobile"] == "1")
    #expect(fixture.opened.first?.parameters["prompt"] == "consent")
    #expect(fixture.http.forms.first?["audience"] == "a&b")
    #expect(
      fixture.http.requests.first?.url.absoluteString == "https://sequencing.com/oauth2/token")
  }

  /// The response's scope, the scopes that the app requires, and the token's scope or `nil` for
  /// none.
  ///
  /// The request asks for `demo`.
  static let grants: [(String, Set<String>, String?)] = [
    (#""a""#, [], "a"), (#""a b""#, ["b"], "a b"), (#""a""#, ["b"], nil), (#""""#, ["a"], nil),
    ("null", ["demo"], "demo"), (#"["a","b"]"#, ["b"], "a b"), (#"["a"]"#, ["demo"], nil),
    ("{}", ["demo"], nil), ("5", ["demo"], nil), (#"["demo",1]"#, ["demo"], nil),
  ]

  @Test(arguments: grants)
  func `a sign-in fails if a required scope was not granted`(
    granted: String, required: Set<String>, scope: String?
  ) async throws {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.token(members: #""scope":\#(granted)"#)
    )
    .register { $0.requiredScopes = required }
    if let scope {
      #expect(try await fixture.oauth.signIn().scope == scope)
    } else {
      await failure(.insufficientScope) { try await fixture.oauth.signIn() }
      #expect(fixture.oauth.result.token == nil)
    }
  }

  @Test func `a failed sign-in keeps the previous token`() async throws {
    let fixture = try OAuthFixture().register()
    _ = try await fixture.oauth.signIn()
    fixture.http.answer(ScriptedTransport.json(#"{"error":"invalid_grant"}"#, status: 400))
    await failure(.invalidGrant) { try await fixture.oauth.signIn() }
    #expect(fixture.oauth.result.token?.accessToken == "T")
    #expect(await fixture.store.load("default")?.token.accessToken == "T")
  }

  /// Some servers repeat the secrets of a request, encoded or decoded.
  @Test(arguments: [ClientAuthentication.basic, .post], [400, 200, 401, 500])
  func `the error contains no secret of the request, even if the server repeats it`(
    method: ClientAuthentication, status: Int
  ) async throws {
    for hasCode in [true, false] {
      try await expectNoEcho(method, status, hasCode: hasCode)
    }
  }

  private func expectNoEcho(
    _ method: ClientAuthentication, _ status: Int, hasCode: Bool
  ) async throws {
    let (secret, code) = ("C4N4RY secret+%\u{FC}/&", "C4N4RY-code/1+2==")
    let fixture = OAuthFixture(
      answer: { request in
        guard case .bytes(let body) = request.body else { throw URLError(.unknown) }
        let echo = String(decoding: body, as: UTF8.self)
        let readable = echo.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
        let text = "\(readable) \(echo) \(request.headers["Authorization"] ?? "")"
        let answer =
          hasCode
          ? ["error": "invalid_grant", "error_description": text, "error_uri": text]
          : ["message": text]
        return WebResponse(
          status: status, headers: ["Content-Type": "application/json"],
          body: try JSONEncoder().encode(answer))
      },
      browser: DelegateOutcomeTests.answers("code=C4N4RY-code%2F1%2B2%3D%3D"))
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "client", clientSecret: secret, redirectURI: "com.example.app:/cb",
        provider: .endpoints(authorization: "https://s.example/a", token: "https://s.example/t"),
        clientAuthentication: method))
    let error = try #require(await failure { try await fixture.oauth.signIn() })
    #expect((error.code == .invalidGrant) == hasCode)
    let form = try #require(fixture.http.forms.first)
    #expect(form["code"] == code)
    let header = fixture.http.requests.first?.headers["Authorization"]?.dropFirst("Basic ".count)
    let texts = everyText(of: error) + everyText(of: error.response as Any)
    for text in [texts, error.response?.errorDescription, error.response?.errorURI] {
      guard let text else {
        #expect(!hasCode, "the error has the server's texts")
        continue
      }
      #expect(!text.contains("C4N4RY"))
      #expect(!text.contains(try #require(form["code_verifier"])))
      if let header { #expect(!text.contains(header)) }
    }
  }

  /// The useful parts of the description stay.
  @Test func `a one-letter secret is not removed from the words of an error description`()
    async throws
  {
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.json(
        #"{"error":"invalid_grant","error_description":"a code was used before"}"#, status: 400),
      browser: DelegateOutcomeTests.answers("code=a")
    ).register(secret: "e")
    let error = await failure(.invalidGrant) { try await fixture.oauth.signIn() }
    #expect(error?.response?.errorDescription == "a code was used before")
  }
}
