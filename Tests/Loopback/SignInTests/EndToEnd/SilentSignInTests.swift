import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Sign-ins that show no page, and sign-ins with different options.
@Suite("Sign-ins with options", .timeLimit(.minutes(2))) struct SilentSignInTests {
  @Test func `a user with a provider session is signed in without a page`() async throws {
    let party = try await OpenIDFixture(.es256)
    // All sign-ins use one browser, which keeps the provider's cookies.
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { _ = try await visitor.visit($0) }
    let user = try await party.signIn()
    party.sandbox.forgetRequests()
    let again = try #require(try await party.oauth.signInSilently().idToken)
    #expect(again.subject == user.subject && again != user)
    // Other users of the machine can read the browser's command, but not a pushed request.
    let pushed = try #require(party.sandbox.requests(to: .pushedAuthorization).first)
    #expect(pushed.form("prompt") == "none")
    #expect(pushed.form("id_token_hint") == user.compactForm)
    let request = try #require(party.sandbox.requests(to: .authorization).first)
    #expect(request.query.map(\.name) == ["client_id", "request_uri"])
    #expect(party.sandbox.requests(to: .login).isEmpty)
    #expect(party.sandbox.requests(to: .consent).isEmpty)
  }

  @Test func `if a server refuses the pushed request, the browser's URL carries it`() async throws {
    let party = try await OpenIDFixture(.es256)
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { _ = try await visitor.visit($0) }
    let user = try await party.signIn()
    party.sandbox.forgetRequests()
    party.sandbox.misbehave(
      at: .pushedAuthorization, .error("unauthorized_client"))
    #expect(try await party.oauth.signInSilently().idToken?.subject == user.subject)
    let request = try #require(party.sandbox.requests(to: .authorization).first)
    #expect(request.query("id_token_hint") == user.compactForm)
    // A server in trouble gets no second request.
    party.sandbox.forgetRequests()
    party.sandbox.misbehave(at: .pushedAuthorization, .unavailable(retryAfter: 5))
    let error = await failure { try await party.oauth.signInSilently() }
    #expect(error?.status == 503 && party.sandbox.requests(to: .authorization).isEmpty)
  }

  @Test func `after a restart, a silent sign-in names the stored user to the provider`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let user = try await party.signIn()
    party.sandbox.forgetRequests()
    // This server takes no pushed requests.
    party.sandbox.misbehave(
      at: .metadata, .member("pushed_authorization_request_endpoint", nil), times: nil)
    let oauth = SQOAuth()
    oauth.environment = party.oauth.environment
    oauth.environment.metadata.expire(party.sandbox.issuer.absoluteString)
    oauth.register(try #require(party.oauth.module.configuration))
    #expect(try await oauth.signInSilently().idToken?.subject == user.subject)
    let request = try #require(party.sandbox.requests(to: .authorization).first)
    #expect(request.query("id_token_hint") == user.compactForm)
  }

  @Test func `after the registration of another server, that server gets no hint of the user`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let other = try await OpenIDFixture(.es256)
    try await party.signIn()
    party.oauth.register(try #require(other.oauth.module.configuration))
    await failure(.loginRequired) { try await party.oauth.signInSilently() }
    let request = try #require(other.sandbox.requests(to: .authorization).first)
    #expect(request.query("prompt") == "none" && request.query("id_token_hint") == nil)
  }

  @Test func `a silent sign-in that needs the user fails and shows no page`() async throws {
    let party = try await OpenIDFixture(.es256)
    let error = await failure(.loginRequired) { try await party.oauth.signInSilently() }
    #expect(error?.isCancellation == false)
    #expect(party.sandbox.requests(to: .authorization).count == 1)
    #expect(party.sandbox.requests(to: .login).isEmpty)
    #expect(party.fixture.tokenRequests.isEmpty)
  }

  @Test func `max_age 0 makes the user log in again`() async throws {
    let party = try await OpenIDFixture(.es256)
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { _ = try await visitor.visit($0) }
    try await party.signIn()
    party.sandbox.forgetRequests()
    var options = SignInOptions()
    options.maxAge = .zero
    let user = try await party.signIn(options)
    #expect(user.authenticationDate != nil)
    #expect(!party.sandbox.requests(to: .login).isEmpty)
  }

  @Test func `a sign-in with other options is rejected while one is in progress`() async throws {
    let party = try await OpenIDFixture(.es256)
    let gate = Gate(isOpen: false)
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { url in
      await gate.pass()
      _ = try await visitor.visit(url)
    }
    var options = SignInOptions()
    options.loginHint = "alice"
    let first = begin { [oauth = party.oauth, options] in
      try await oauth.signIn(with: options)
    }
    try await gate.isHolding()
    var others = SignInOptions()
    others.loginHint = "bob"
    await failure(.signInUnderWay) { try await party.oauth.signIn(with: others) }
    await failure(.signInUnderWay) { try await party.oauth.signInSilently() }
    // A call with the options of the running sign-in, or without options, joins that sign-in.
    let same = begin { [oauth = party.oauth, options] in
      try await oauth.signIn(with: options)
    }
    let any = begin { [oauth = party.oauth] in try await oauth.signIn() }
    gate.open()
    let token = try await first.value
    #expect(try await same.value == token)
    #expect(try await any.value == token)
    #expect(party.fixture.tokenRequests.count == 1)
  }

  @Test
  func `a sign-in with pages waits for the end of a silent one and does not share its failure`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let recorder = EventRecorder()
    let observer = recorder.observer()
    party.oauth.environment.observer = observer
    let gate = Gate(isOpen: false)
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { url in
      if url.query()?.contains("prompt=none") == true { await gate.pass() }
      _ = try await visitor.visit(url)
    }
    let silent = begin { [oauth = party.oauth] in try await oauth.signInSilently() }
    try await gate.isHolding()
    let shown = begin { [oauth = party.oauth] in try await oauth.signIn() }
    try await eventually("the sign-in with pages is the one under way") {
      party.oauth.module.signIns.underWay?.options.isSilent == false
    }
    gate.open()
    await failure(.loginRequired) { try await silent.value }
    #expect(try await shown.value.idToken != nil)
    #expect(party.fixture.tokenRequests.count == 1)
    await observer.flush()
    let phases = recorder.events.compactMap { event -> String? in
      guard case .signIn(.browser(let isSilent)) = event.subject else { return nil }
      return (isSilent ? "silent " : "shown ") + (event.phase == .begin ? "begin" : "end")
    }
    #expect(phases == ["silent begin", "silent end", "shown begin", "shown end"])
  }

  // MARK: Cancelling

  /// A sign-in with pages that waits for a silent one, to which the browser sends no redirect.
  private struct Waiting {
    let silent: Task<SQToken, any Error>
    let shown: Task<SQToken, any Error>
    let silentPage: AuthorizationURL
  }

  private func waiting(_ party: OpenIDFixture) async throws -> Waiting {
    let opened = Locked<AuthorizationURL?>(nil)
    let visitor = SandboxVisitor()
    party.oauth.environment.userAgent = CustomUserAgent { url in
      let page = try AuthorizationURL(url)
      if page.parameters["prompt"] == "none" {
        opened.withLock { $0 = page }
      } else {
        _ = try await visitor.visit(url)
      }
    }
    let silent = begin { [oauth = party.oauth] in try await oauth.signInSilently() }
    let page = try await eventually("the silent page is open") { opened.withLock(\.self) }
    let shown = begin { [oauth = party.oauth] in try await oauth.signIn() }
    try await eventually("the sign-in with pages is the one under way") {
      party.oauth.module.signIns.underWay?.options.isSilent == false
    }
    return Waiting(silent: silent, shown: shown, silentPage: page)
  }

  @Test
  func `cancelling a sign-in with pages also cancels the silent sign-in before it`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let waiting = try await waiting(party)
    party.oauth.cancelSignIn()
    #expect(!party.oauth.isSigningIn)
    #expect(
      party.oauth.receiveRedirect(try waiting.silentPage.redirect("code=abc")) == .tooLate)
    await failure(.cancelled) { try await waiting.silent.value }
    await failure(.cancelled) { try await waiting.shown.value }
    #expect(party.fixture.tokenRequests.isEmpty && party.oauth.currentToken == nil)
    // The user can sign in again at once.
    #expect(try await party.oauth.signIn().idToken != nil)
  }

  @Test
  func `when the only caller of a silent sign-in is cancelled, the sign-in with pages begins`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let waiting = try await waiting(party)
    waiting.silent.cancel()
    await failure(.cancelled) { try await waiting.silent.value }
    #expect(try await waiting.shown.value.idToken != nil)
    #expect(party.fixture.tokenRequests.count == 1)
  }

  @Test
  func `a silent sign-in is under way again if the sign-in that waits for it is cancelled`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let waiting = try await waiting(party)
    waiting.shown.cancel()
    await failure(.cancelled) { try await waiting.shown.value }
    #expect(party.oauth.module.signIns.underWay?.options.isSilent == true)
    // A further sign-in with pages waits for it too, and cancelling reaches both.
    let shown = begin { [oauth = party.oauth] in try await oauth.signIn() }
    try await eventually("the sign-in with pages is the one under way") {
      party.oauth.module.signIns.underWay?.options.isSilent == false
    }
    party.oauth.cancelSignIn()
    #expect(
      party.oauth.receiveRedirect(try waiting.silentPage.redirect("code=abc")) == .tooLate)
    await failure(.cancelled) { try await waiting.silent.value }
    await failure(.cancelled) { try await shown.value }
    #expect(party.fixture.tokenRequests.isEmpty)
  }

  @Test func `a call for access that began before a silent sign-in failed opens the browser`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    let module = party.oauth.module
    // `requestAccess()` reads the count before it looks for a token.
    let endCount = module.signIns.endCount
    await failure(.loginRequired) { try await party.oauth.signInSilently() }
    let token = try await module.signIn(SignIn.Request(), since: endCount, on: nil)?.token
    #expect(token?.idToken != nil && !party.sandbox.requests(to: .login).isEmpty)
  }

  // MARK: The form post

  @Test func `with response_mode form_post, the browser posts the code to the SDK's receiver`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    var options = SignInOptions()
    options.responseMode = .formPost
    let user = try await party.signIn(options)
    #expect(user.subject == SandboxUser.alice.subject)
    let request = try #require(party.sandbox.requests(to: .authorization).first)
    #expect(request.query("response_mode") == "form_post")
    let visit = try await eventually("the visit is over") { party.fixture.visited.first }
    let code = try #require(visit.form.first { $0.name == "code" }?.value)
    #expect(visit.redirect.hasPrefix("http://127.0.0.1:") && !visit.redirect.contains("?"))
    #expect(visit.pages.last?.status == 200)
    #expect(party.fixture.tokenRequests.map { $0.form("code") } == [code])
  }

  @Test
  func `the SDK accepts a form post that the app received, and refuses one for another address`()
    async throws
  {
    let party = try await OpenIDFixture(.es256)
    try party.fixture.register(
      clientID: "relying-party", secret: OpenIDFixture.secret,
      redirectURI: "com.example.app:/callback", scope: "openid"
    ) { $0.idTokenAlgorithm = .es256 }
    var client = SandboxClient(
      id: "relying-party", secret: OpenIDFixture.secret,
      redirectURIs: ["com.example.app:/callback"])
    client.idTokenAlgorithm = .es256
    party.sandbox.register(client)
    let visitor = SandboxVisitor()
    let oauth = party.oauth
    oauth.environment.userAgent = CustomUserAgent { [weak oauth] url in
      let visit = try await visitor.visit(url)
      let form = Data(
        visit.form.map { "\($0.name)=\(FormCoding.encodeValue($0.value))" }
          .joined(separator: "&").utf8)
      #expect(oauth?.receiveRedirect(form: form, at: "com.example.app:/other") == .foreignAddress)
      #expect(
        oauth?.receiveRedirect(form: Data("<html>".utf8), at: visit.redirect) == .foreignAddress)
      #expect(oauth?.receiveRedirect(form: form, at: visit.redirect) == .answered)
    }
    var options = SignInOptions()
    options.responseMode = .formPost
    #expect(try await oauth.signIn(with: options).idToken != nil)
  }
}
