import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A logout at the provider removes the local tokens, whatever its result, unless the store fails.
@Suite(.timeLimit(.minutes(2))) struct EndSessionTests {
  /// A user agent's error that repeats the page's address, as those of `open` and `xdg-open` do.
  struct Failure: LocalizedError {
    let url: URL
    var errorDescription: String? { "no program opens \(url.absoluteString)" }
  }

  private func isSignedOut(_ party: OpenIDFixture) async throws {
    #expect(party.oauth.currentToken == nil)
    #expect(!(try await party.oauth.restore()))
  }

  @Test func `the SDK receives the logout redirect at a loopback address`() async throws {
    let socket = try BoundSocket()
    let address = "http://127.0.0.1:\(socket.port)/signed-out"
    let party = try await OpenIDFixture {
      $0.clients[0].postLogoutRedirectURIs = [address]
    } change: {
      $0.postLogoutRedirectURI = try? RedirectURI(address)
    }
    try await party.signIn()
    try await party.oauth.endSession()
    try await eventually {
      party.fixture.visited.contains { $0.redirect.hasPrefix(address + "?state=") }
    }
    withExtendedLifetime(socket) {}
    try await isSignedOut(party)
  }

  @Test
  func `without a redirect URI, the logout request has no state, and the local tokens are removed`()
    async throws
  {
    let party = try await OpenIDFixture(change: { $0.postLogoutRedirectURI = nil })
    try await party.signIn()
    try await party.oauth.endSession()
    let request = try #require(party.sandbox.requests(to: .endSession).first)
    #expect(request.query("post_logout_redirect_uri") == nil && request.query("state") == nil)
    try await isSignedOut(party)
  }

  /// Returns a signed-in user whose client has no redirect URI for the logout.
  private func withoutRedirect() async throws -> OpenIDFixture {
    let party = try await OpenIDFixture(change: {
      $0.postLogoutRedirectURI = nil
      $0.signInTimeout = .seconds(30)
    })
    party.oauth.refreshesAutomatically = false
    try await party.signIn()
    return party
  }

  /// The command of a browser may run until the user closes the browser.
  @Test func `without a redirect URI, the logout ends before the user agent, and leaves it open`()
    async throws
  {
    let party = try await withoutRedirect()
    let browser = Gate(isOpen: false)
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in await browser.opened() }
    async let logout: Void = party.oauth.endSession()
    try await browser.isHolding()
    await party.fixture.clock.hasSleeper()
    party.fixture.clock.advance(by: 5)
    try await logout
    try await isSignedOut(party)
    #expect(browser.waiting == 1)
    await party.fixture.clock.hasSleeper()
    party.fixture.clock.advance(by: 25)
    try await eventually("the time limit ends the user agent's task") { browser.waiting == 0 }
  }

  /// The closure `willUseTerminal` of a `SystemBrowser` may wait for the app's user.
  @Test func `without a redirect URI, a logout whose terminal is never ready fails`()
    async throws
  {
    let party = try await withoutRedirect()
    let terminal = Gate(isOpen: false)
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in
      TerminalBrowserWait.current?.prepare()
      await terminal.pass()
    }
    let logout = Task { await failure(.timedOut) { try await party.oauth.endSession() } }
    try await terminal.isHolding()
    for seconds in [5.0, 25] {
      await party.fixture.clock.hasSleeper()
      party.fixture.clock.advance(by: seconds)
    }
    #expect(await logout.value?.message.contains("willUseTerminal") == true)
    terminal.open()
    try await isSignedOut(party)
  }

  @Test func `without a redirect URI, the logout throws the user agent's error`() async throws {
    let party = try await withoutRedirect()
    party.oauth.environment.userAgent = CustomUserAgent { url, _ in throw Failure(url: url) }
    let error = await failure(.browserUnavailable) { try await party.oauth.endSession() }
    #expect(error?.message.contains("no program opens http://127.0.0.1") == true)
    try await isSignedOut(party)
    try await eventually("no task waits for a time limit") { party.fixture.clock.sleepers == 0 }
  }

  @Test func `without a redirect URI, cancelling the logout cancels the user agent's task`()
    async throws
  {
    let party = try await withoutRedirect()
    let browser = Gate(isOpen: false)
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in await browser.opened() }
    let logout = Task { await failure(.cancelled) { try await party.oauth.endSession() } }
    try await browser.isHolding()
    logout.cancel()
    _ = await logout.value
    try await eventually("the user agent's task is cancelled") { browser.waiting == 0 }
    try await isSignedOut(party)
  }

  @Test func `without a logout endpoint, ending the session throws but removes the local tokens`()
    async throws
  {
    let party = try await OpenIDFixture()
    try await party.signIn()
    let sandbox = party.sandbox
    var configuration = try ClientConfiguration(
      clientID: "relying-party", clientSecret: OpenIDFixture.secret,
      redirectURI: "http://127.0.0.1/callback", scope: "openid",
      provider: .endpoints(
        authorization: sandbox.authorizationEndpoint.absoluteString,
        token: sandbox.tokenEndpoint.absoluteString, jwks: sandbox.keysEndpoint.absoluteString,
        issuer: sandbox.issuer.absoluteString))
    configuration.postLogoutRedirectURI = try RedirectURI("com.example.app:/signed-out")
    party.oauth.register(configuration)
    try await party.signIn()
    await failure(.endSessionUnsupported) { try await party.oauth.endSession() }
    #expect(sandbox.requests(to: .endSession).isEmpty)
    try await isSignedOut(party)
  }

  @Test func `the wait for the redirect has a time limit`() async throws {
    let party = try await OpenIDFixture(change: { $0.signInTimeout = .seconds(30) })
    party.oauth.refreshesAutomatically = false
    try await party.signIn()
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in }
    async let error = failure(.timedOut) { try await party.oauth.endSession() }
    await party.fixture.clock.hasSleeper()
    party.fixture.clock.advance(by: 30)
    _ = await error
    try await isSignedOut(party)
  }

  @Test func `if the browser does not open, the error gives the reason without the ID token`()
    async throws
  {
    let party = try await OpenIDFixture()
    let user = try await party.signIn()
    party.oauth.environment.userAgent = CustomUserAgent { url, _ in throw Failure(url: url) }
    let error = await failure(.browserUnavailable) { try await party.oauth.endSession() }
    let text = try #require(error?.message)
    #expect(text.contains("no program opens http://127.0.0.1"))
    #expect(text.contains("forgotten") && text.contains("id_token_hint=[removed]"))
    #expect(!text.contains(user.compactForm))
    try await isSignedOut(party)
  }

  @Test func `a user agent that cancels ends the wait for the redirect`() async throws {
    let party = try await OpenIDFixture()
    try await party.signIn()
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in throw CancellationError() }
    await failure(.cancelled) { try await party.oauth.endSession() }
    try await isSignedOut(party)
  }

  @Test func `a cancelled task ends the wait for the redirect`() async throws {
    let party = try await OpenIDFixture()
    party.oauth.refreshesAutomatically = false
    try await party.signIn()
    party.oauth.environment.userAgent = CustomUserAgent { _, _ in }
    let ending = Task { await failure(.cancelled) { try await party.oauth.endSession() } }
    await party.fixture.clock.hasSleeper()
    ending.cancel()
    _ = await ending.value
    #expect(party.fixture.clock.sleepers == 0)
    try await isSignedOut(party)
  }

  /// A refresh token that stays in the store is worse than a session that stays at the provider.
  @Test(arguments: [true, false])
  func `if the store cannot erase the tokens, ending the session throws the store's error`(
    reachesProvider: Bool
  )
    async throws
  {
    let party = try await OpenIDFixture()
    let store = ScriptedStore()
    party.oauth.environment.tokenStore = store
    try await party.signIn()
    store.fails(toErase: true)
    if !reachesProvider {
      party.oauth.environment.userAgent = CustomUserAgent { url, _ in throw Failure(url: url) }
    }
    await failure(.storeFailed) { try await party.oauth.endSession() }
    #expect(party.oauth.currentToken == nil)
    #expect(party.sandbox.requests(to: .endSession).isEmpty == !reachesProvider)
  }

  @Test func `after the registration of another server, no server logs anybody out`() async throws {
    let party = try await OpenIDFixture()
    let other = try await OpenIDFixture()
    try await party.signIn()
    party.oauth.register(try #require(other.oauth.module.configuration))
    let error = await failure(.invalidConfiguration) {
      try await party.oauth.endSession(revokesTokens: true)
    }
    #expect(error?.message.contains("still logged in") == true)
    #expect(other.sandbox.requests.isEmpty)
    #expect(party.sandbox.requests(to: .endSession).isEmpty)
    try await isSignedOut(party)
    // Without an account, the provider of the registered client may ask whom to log out.
    let url = other.sandbox.endSessionEndpoint.absoluteString
    party.oauth.environment.userAgent = CustomUserAgent { page, _ in
      #expect(page.absoluteString.hasPrefix(url) && page.query()?.contains("id_token") == false)
      throw CancellationError()
    }
    await failure(.cancelled) { try await party.oauth.endSession() }
  }
}
