import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Signed requests (RFC 9101) and signed responses (JARM) of sign-ins.
@Suite(.timeLimit(.minutes(2))) struct SignedMessageTests {
  private func fixture(
    _ change: (inout ClientConfiguration) -> Void = { $0.profile = .fapi2MessageSigning }
  ) async throws -> ProfileFixture {
    var fixture = try await ProfileFixture(.fapi2MessageSigning) { _, client in
      client.authorizationResponseAlgorithm = .es256
    }
    fixture.register(change)
    return fixture
  }

  @Test
  func `a client with the FAPI 2.0 Message Signing profile signs in, refreshes and calls an API`()
    async throws
  {
    let fixture = try await fixture()
    let token = try await fixture.oauth.signIn()
    #expect(token.isBound && token.idToken != nil)
    try await fixture.oauth.refresh()
    #expect(try await fixture.callAPI().status == 200)
    #expect(try await fixture.oauth.userInfo().subject == token.idToken?.subject)
    let front = try #require(fixture.sandbox.requests(to: .authorization).first)
    #expect(front.query.map(\.name) == ["client_id", "request_uri"])
    let pushed = try #require(fixture.sandbox.requests(to: .pushedAuthorization).last)
    #expect(
      Set(pushed.form.map(\.name))
        == ["client_id", "request", "client_assertion", "client_assertion_type"])
    let object = try CompactJWS(try #require(pushed.form("request")))
    #expect(object.type == "oauth-authz-req+jwt" && object.keyID == fixture.key.keyID)
    let claims = try object.claims()
    #expect(claims["iss"] == .string(ProfileFixture.id) && claims["client_id"] == claims["iss"])
    #expect(claims["aud"] == .string(fixture.sandbox.issuer.absoluteString))
    #expect(claims["response_mode"] == "jwt" && claims["sub"] == nil)
    for name in ["exp", "nbf", "iat", "jti", "code_challenge", "state", "nonce", "dpop_jkt"] {
      #expect(claims[name] != nil, "\(name)")
    }
  }

  @Test(arguments: SandboxSignedResponseFault.allCases)
  func `a faulty signed response is refused before its code is redeemed`(
    fault: SandboxSignedResponseFault
  ) async throws {
    let fixture = try await fixture()
    fixture.sandbox.misbehave(at: .authorization, .signedResponse(fault))
    let isIgnored = [.stateMissing, .stateWrong, .notJWT, .missing, .doubled].contains(fault)
    let error =
      isIgnored
      ? await fixture.base.fail() : await failure { try await fixture.oauth.signIn() }
    #expect(error != nil, "\(fault)")
    #expect(fixture.tokenRequests.isEmpty && fixture.oauth.currentToken == nil)
    guard fault == .plain else { return }
    #expect(error?.message.hasPrefix("the redirect is not signed, although") == true)
  }

  @Test func `an unsigned error response is not reported as the server's error`() async throws {
    let fixture = try await fixture()
    fixture.oauth.environment.userAgent = CustomUserAgent { url, signIn in
      let redirect = try await SandboxVisitor().visit(url).redirect
      let text = redirect.split(separator: "=", maxSplits: 1)[1]
      let state = try #require(try CompactJWS(String(text)).claims()["state"]?.string)
      signIn.handleRedirect("com.example.sandbox:/callback?error=access_denied&state=\(state)")
    }
    let error = await failure(.invalidAuthorizationResponse) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("not signed") == true)
    #expect(error?.message.contains("access_denied") == true)
    #expect(fixture.tokenRequests.isEmpty)
  }

  @Test func `an error in a signed response is reported as the server's error`() async throws {
    var fixture = try await ProfileFixture(.fapi2MessageSigning) { _, client in
      client.authorizationResponseAlgorithm = .es256
    }
    fixture.register { $0.profile = .fapi2MessageSigning }
    let visitor = SandboxVisitor(decision: .deny)
    fixture.oauth.environment.userAgent = CustomUserAgent { url, signIn in
      signIn.handleRedirect(try await visitor.visit(url).redirect)
    }
    await failure(.accessDenied) { try await fixture.oauth.signIn() }
    #expect(fixture.tokenRequests.isEmpty)
  }

  @Test func `a sign-in can use a signed request in the URL and a signed response in a form post`()
    async throws
  {
    var fixture = try await ProfileFixture(
      redirectURI: "http://127.0.0.1/callback"
    ) { options, client in
      options.requestObjectAlgorithms = [.es256]
      options.requiresSignedRequests = true
      options.authorizationResponseAlgorithms = [.es256]
      client.authorizationResponseAlgorithm = .es256
    }
    fixture.register { $0.authorizationResponseAlgorithm = .es256 }
    var form = SignInOptions()
    form.responseMode = .formPost
    for options in [SignInOptions(), form] {
      _ = try await fixture.oauth.signIn(with: options)
      let front = try #require(fixture.sandbox.requests(to: .authorization).last)
      #expect(front.query.map(\.name) == ["client_id", "request"])
    }
    try await eventually { fixture.base.visited.count == 2 }
    #expect(fixture.base.visited.map { $0.form.map(\.name) } == [[], ["response"]])
  }

  @Test func `numbers, objects and arrays keep their JSON types in a signed request`() async throws
  {
    var fixture = try await ProfileFixture { options, _ in
      options.requestObjectAlgorithms = [.es256]
      options.requiresPushedAuthorizationRequests = true
      options.authorizationDetailsTypes = [.genomeFile]
    }
    fixture.register { $0.signsAuthorizationRequests = true }
    var options = SignInOptions()
    options.maxAge = .seconds(600)
    options.claims = ClaimsRequest(userInfo: ["email": .essential])
    options.authorizationDetails = [
      AuthorizationDetail(type: "genome_file", ["identifier": "7"])
    ]
    _ = try await fixture.oauth.signIn(with: options)
    let pushed = try #require(fixture.sandbox.requests(to: .pushedAuthorization).last)
    let claims = try CompactJWS(try #require(pushed.form("request"))).claims()
    #expect(claims["max_age"] == 600 && claims["claims"]?.object?["userinfo"] != nil)
    #expect(claims["authorization_details"]?.array?.count == 1)
  }

  @Test func `a request that is pushed again is signed again`() async throws {
    var fixture = try await ProfileFixture(.fapi2MessageSigning) { options, client in
      options.dpop.noncesRequiredBy = [.authorizationServer]
      client.authorizationResponseAlgorithm = .es256
    }
    fixture.register { $0.profile = .fapi2MessageSigning }
    try await fixture.oauth.signIn()
    let pushed = fixture.sandbox.requests(to: .pushedAuthorization)
    let objects = try pushed.map { try CompactJWS(try #require($0.form("request"))).claims() }
    #expect(objects.count == 2 && objects[0]["jti"] != objects[1]["jti"])
    #expect(objects[0]["state"] == objects[1]["state"])
  }

  @Test func `a pushed signed request has the time of the server that receives it`() async throws {
    var fixture = try await ProfileFixture { options, _ in
      options.requestObjectAlgorithms = [.es256]
    }
    fixture.register {
      $0.signsAuthorizationRequests = true
      $0.pushesAuthorizationRequests = true
    }
    // The endpoint is on another host than the token endpoint.
    let endpoint = fixture.sandbox.url(.pushedAuthorization).absoluteString
      .replacing("127.0.0.1", with: "localhost")
    fixture.sandbox.misbehave(
      at: .metadata, .member("pushed_authorization_request_endpoint", .string(endpoint)),
      times: nil)
    // This machine's clock is ahead, so the first request is not valid yet at the server.
    fixture.sandbox.advance(by: .seconds(-300))
    _ = try await fixture.oauth.signIn()
    #expect(fixture.sandbox.requests(to: .pushedAuthorization).count == 2)
  }

  /// The browser's request shows nothing of the server's clock, so no answer corrects its times.
  @Test func `a signed request in the URL is not expired after this machine's clock is corrected`()
    async throws
  {
    var fixture = try await ProfileFixture { options, _ in
      options.requestObjectAlgorithms = [.es256]
      options.requiresSignedRequests = true
    }
    fixture.register { _ in }
    // This machine's clock is an hour ahead, which a refused assertion shows.
    fixture.sandbox.advance(by: .seconds(-3600))
    try await fixture.oauth.requestAccessTokenAsClient(scope: "demo")
    #expect(fixture.tokenRequests.count == 2)
    // The sandbox shares the clock, but its own time stays right.
    fixture.base.clock.moveDate(by: -3600)
    fixture.sandbox.advance(by: .seconds(3600))
    #expect(try await fixture.oauth.signIn().idToken != nil)
  }

  /// RFC 9101 protects the parameters, so no parameter of the app may replace the client's claims.
  @Test func `no parameter of the app replaces a claim of the request`() async throws {
    var fixture = try await fixture()
    let configuration = try ClientConfiguration(
      clientID: ProfileFixture.id, clientKey: fixture.key,
      redirectURI: "com.example.sandbox:/callback", scope: "openid",
      provider: fixture.configuration.provider,
      authorizationParameters: ["aud": "other", "iss": "other", "exp": "1"])
    fixture.register {
      $0 = configuration
      $0.profile = .fapi2MessageSigning
    }
    try await fixture.oauth.signIn()
    let pushed = try #require(fixture.sandbox.requests(to: .pushedAuthorization).last)
    let claims = try CompactJWS(try #require(pushed.form("request"))).claims()
    #expect(claims["iss"] == .string(ProfileFixture.id))
    #expect(claims["aud"] == .string(fixture.sandbox.issuer.absoluteString))
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "client", provider: fixture.configuration.provider,
        authorizationParameters: ["dpop_jkt": "x"])
    }
  }

  @Test func `after a forged response a web application can still finish the sign-in`() async throws
  {
    let fixture = try await fixture()
    let manager = AccountManager(
      store: MemoryTokenStore(), environment: fixture.oauth.environment)
    let (url, begun) = try await manager.beginSignIn(fixture.configuration)
    let redirect = try await SandboxVisitor().visit(url).redirect
    let forged = String(redirect.dropLast(8)) + "AAAAAAAA"
    #expect(
      await failure {
        try await manager.finishSignIn(begun, redirect: forged, fixture.configuration)
      } != nil)
    _ = try await manager.finishSignIn(begun, redirect: redirect, fixture.configuration)
  }

  @Test func `a web application can identify the sign-in that a signed response belongs to`()
    async throws
  {
    let fixture = try await fixture()
    let environment = fixture.oauth.environment
    let manager = AccountManager(store: MemoryTokenStore(), environment: environment)
    let (url, begun) = try await manager.beginSignIn(fixture.configuration)
    let stored = try JSONDecoder().decode(WebSignIn.self, from: JSONEncoder().encode(begun))
    #expect(stored == begun)
    let redirect = try await SandboxVisitor().visit(url).redirect
    #expect(WebSignIn.name(inRedirect: redirect) == begun.name)
    let account = try await manager.finishSignIn(
      stored, redirect: redirect, fixture.configuration)
    #expect(account.currentToken?.isBound == true)
  }

  @Test func `if the server requires signed requests, a client without a key cannot sign in`()
    async throws
  {
    var fixture = try await ProfileFixture { options, client in
      options.requestObjectAlgorithms = [.es256]
      options.requiresSignedRequests = true
    }
    let configuration = try ClientConfiguration(
      clientID: ProfileFixture.id, redirectURI: "com.example.sandbox:/callback",
      provider: fixture.configuration.provider)
    fixture.register { $0 = configuration }
    await failure(.signInUnsupported) { try await fixture.oauth.signIn() }
    #expect(fixture.base.visited.isEmpty)
  }
}
