import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import struct SequencingOAuth.PKCE
@testable import TestSupport

/// Sign-ins over real sockets: the server's requests and the app's results.
@Suite("End to end: signing in", .timeLimit(.minutes(1))) struct EndToEndSignInTests {
  @Test(arguments: [true, false], ["http://127.0.0.1/callback", "com.example.sandbox:/callback"])
  func `a public client signs in with discovery and with manual endpoints`(
    byHand: Bool, redirectURI: String
  ) async throws {
    let fixture = try await SandboxFixture().register(redirectURI: redirectURI, byHand: byHand)
    let token = try await fixture.oauth.signIn()
    #expect(fixture.sandbox.isActive(token.accessToken))
    #expect(token.scope == "demo" && token.tokenType.lowercased() == "bearer")
    #expect(fixture.sandbox.isActive(try #require(token.refreshToken)))
    let lifetime = try #require(token.expirationDate).timeIntervalSince(fixture.clock.now)
    #expect(lifetime == 3600)
    #expect(await fixture.delegate.events(1) == [.authorized(token.accessToken)])

    let steps = fixture.endpoints.compactMap(\.self).filter { $0 != .login && $0 != .consent }
    #expect(steps.filter { $0 == .metadata }.count == (byHand ? 0 : 1))
    #expect(steps.filter { $0 == .authorization }.count >= 1)
    #expect(fixture.tokenRequests.count == 1 && steps.last == .token)
    #expect(fixture.sandbox.requests.allSatisfy { $0.endpoint != nil }, "no other path was asked")
  }

  @Test func `the server receives exactly the parameters of the specifications`() async throws {
    let fixture = try await SandboxFixture().register()
    _ = try await fixture.oauth.signIn()
    let authorize = try #require(fixture.sandbox.requests(to: .authorization).first)
    let token = try #require(fixture.tokenRequests.first)
    #expect(
      Set(authorize.query.map(\.name)) == [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge",
        "code_challenge_method",
      ])
    #expect(authorize.query.count == 7)
    #expect(token.method == "POST" && token.path == "/token" && token.query.isEmpty)
    #expect(
      token.form.map(\.name) == [
        "grant_type", "code", "redirect_uri", "code_verifier", "client_id",
      ])
    #expect(token.form("redirect_uri") == authorize.query("redirect_uri"))
    let verifier = try #require(token.form("code_verifier"))
    #expect(PKCE(verifier: verifier).challenge == authorize.query("code_challenge"))
    #expect(token.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(token.header("Accept") == "application/json")
    #expect(token.header("Authorization") == nil && token.header("Cookie") == nil)
    for request in fixture.sandbox.requests {
      #expect(!request.path.contains(verifier))
      #expect(request.query.allSatisfy { $0.value != verifier })
    }
  }

  @Test(arguments: [ClientAuthentication.basic, .post])
  func `a confidential client authenticates with client_secret_basic or client_secret_post`(
    method: ClientAuthentication
  ) async throws {
    var options = SandboxOptions()
    let (id, secret) = ("my client:%\u{FC}+&=", "p:%20+&=\u{20AC} ")
    let redirects = SandboxClient.loopbackRedirectURIs
    options.clients.append(
      SandboxClient(id: id, secret: secret, name: "Odd", redirectURIs: redirects))
    let fixture = try await SandboxFixture(options)
      .register(clientID: id, secret: secret, authentication: method)
    let token = try await fixture.oauth.signIn()
    #expect(fixture.sandbox.isActive(token.accessToken))
    let request = try #require(fixture.tokenRequests.first)
    #expect(fixture.tokenRequests.count == 1, "no method is tried out")
    if method == .basic {
      #expect(request.header("Authorization")?.hasPrefix("Basic ") == true)
      #expect(request.form("client_secret") == nil && request.form("client_id") == nil)
    } else {
      #expect(request.header("Authorization") == nil)
      #expect(request.form("client_secret") == secret && request.form("client_id") == id)
    }
  }

  @Test func `a wrong secret fails with invalid_client after one request`() async throws {
    let fixture = try await SandboxFixture()
      .register(clientID: "sandbox-service", secret: "C4N4RY")
    let error = try #require(await fixture.fail(.invalidClient))
    #expect(error.status == 401 && !error.requiresSignIn)
    #expect(!everyText(of: error).contains("C4N4RY"))
    #expect(fixture.tokenRequests.count == 1)
    #expect(await fixture.delegate.events(1) == [.failed(.invalidClient)])
  }

  @Test(arguments: [SandboxVisitor.Decision.deny, .cancel])
  func `if the user denies or cancels, no token request is sent`(decision: SandboxVisitor.Decision)
    async throws
  {
    let fixture = try await SandboxFixture(decision: decision).register()
    await failure(.accessDenied) { try await fixture.oauth.signIn() }
    #expect(await fixture.delegate.events(1) == [.cancelled])
    #expect(fixture.tokenRequests.isEmpty)
  }

  /// A redirect that was already used must not answer another sign-in.
  @Test func `the redirect of one sign-in is rejected by the next`() async throws {
    let fixture = try await SandboxFixture().register()
    _ = try await fixture.oauth.signIn()
    let state = try #require(fixture.sandbox.requests(to: .authorization).first?.query("state"))
    let code = try #require(fixture.tokenRequests.first?.form("code"))
    let pages = Kept()
    fixture.oauth.environment.userAgent = CustomUserAgent { pages.set(try AuthorizationURL($0)) }
    fixture.oauth.authorizeUser()
    try await eventually { pages.page != nil && fixture.clock.sleepers > 0 }
    let page = try #require(pages.page)
    let replay = try page.forged(
      "code=\(code)&state=\(state)&iss=\(fixture.sandbox.issuer.absoluteString)")
    #expect(RawClient.status(try await RawClient.get(replay)) == 400)
    #expect(fixture.oauth.isSigningIn && fixture.tokenRequests.count == 1)
    fixture.oauth.cancelSignIn()
    #expect(await fixture.delegate.events(2).last == .cancelled)
  }

  /// A code that was issued for one sign-in is injected into another.
  @Test func `a code of another sign-in is rejected by PKCE`() async throws {
    let fixture = try await SandboxFixture().register(redirectURI: "com.example.sandbox:/callback")
    let stolen = Kept()
    let visitor = SandboxVisitor()
    fixture.oauth.environment.userAgent = CustomUserAgent { url in
      let page = try AuthorizationURL(url)
      let redirect = try await visitor.visit(url).redirect
      guard stolen.page != nil else {
        // The attacker keeps the first code and never redeems it.
        stolen.set(try AuthorizationURL(try #require(URL(string: redirect))))
        fixture.oauth.cancelSignIn()
        return
      }
      let code = try #require(stolen.page?.parameters["code"])
      fixture.oauth.handleRedirect(
        try page.redirect("code=\(code)&iss=\(fixture.sandbox.issuer.absoluteString)"))
    }
    await failure(.cancelled) { try await fixture.oauth.signIn() }
    await failure(.invalidGrant) { try await fixture.oauth.signIn() }
    #expect(fixture.tokenRequests.count == 1 && fixture.oauth.result.token == nil)
  }

  /// An attacker's server sends the user to the honest server and waits for the code.
  @Test func `in a mix-up attack, the sign-in fails before the code is sent`() async throws {
    let honest = try await SandboxFixture()
    let attacker = try await SandboxFixture()
    attacker.sandbox.misbehave(
      at: .metadata,
      .member(
        "authorization_endpoint", .string(honest.sandbox.authorizationEndpoint.absoluteString)),
      times: nil)
    try attacker.register()
    _ = await attacker.fail(.issuerMismatch)
    #expect(honest.sandbox.requests(to: .authorization).count >= 1)
    #expect(attacker.tokenRequests.isEmpty && honest.tokenRequests.isEmpty)
  }

  @Test func `two sign-ins at two servers do not interfere`() async throws {
    let (first, second) = (try await SandboxFixture(), try await SandboxFixture())
    try first.register()
    try second.register()
    async let one = first.oauth.signIn()
    async let two = second.oauth.signIn()
    let tokens = try await [one, two]
    #expect(first.sandbox.isActive(tokens[0].accessToken))
    #expect(second.sandbox.isActive(tokens[1].accessToken))
    #expect(!first.sandbox.isActive(tokens[1].accessToken))
    #expect(first.tokenRequests.count == 1 && second.tokenRequests.count == 1)
  }
}

/// A box in which a closure passes the address of a sign-in page to the test.
private final class Kept: Sendable {
  private let state = Locked<AuthorizationURL?>(nil)
  var page: AuthorizationURL? { state.withLock(\.self) }
  func set(_ page: AuthorizationURL) { state.withLock { $0 = page } }
}
