import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Sign-ins of a web application's users, on one host or on several.
@Suite(.timeLimit(.minutes(5))) struct WebSignInTests {
  @Test func `one host begins a sign-in, and another host finishes it from the stored WebSignIn`()
    async throws
  {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let kept = try JSONDecoder().decode(WebSignIn.self, from: JSONEncoder().encode(signIn))
    #expect(kept == signIn)
    let redirect = try await fixture.visit(url)
    let account = try await fixture.host()
      .finishSignIn(kept, redirect: redirect, fixture.configuration)
    let token = try #require(account.currentToken)
    let subject = try #require(token.idToken?.subject)
    #expect(subject == SandboxUser.alice.subject && fixture.sandbox.isActive(token.accessToken))
    let issuer = fixture.sandbox.issuer.absoluteString
    #expect(account.accountID == "\(subject) at \(issuer)")
    // A third host finds the account in the store.
    let third = try await fixture.host()
      .account(fixture.configuration, id: account.accountID)
    #expect(try await third.token().accessToken == token.accessToken)
  }

  @Test func `a web application can push its authorization requests`() async throws {
    let fixture = try await WebFixture { $0.pushesAuthorizationRequests = true }
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let query = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems)
    #expect(query.map(\.name) == ["client_id", "request_uri"])
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: try await fixture.visit(url), fixture.configuration)
    #expect(account.currentToken != nil)
    #expect(fixture.sandbox.requests(to: .pushedAuthorization).count == 1)
  }

  @Test func `two users who sign in at the same time get their own accounts`() async throws {
    let fixture = try await WebFixture()
    let (host, configuration) = (fixture.host(), fixture.configuration)
    let (first, alice) = try await host.beginSignIn(configuration)
    let (second, bob) = try await host.beginSignIn(configuration)
    let bobsRedirect = try await fixture.visit(second, as: .bob)
    let alicesRedirect = try await fixture.visit(first)
    await failure(.stateMismatch) {
      try await host.finishSignIn(alice, redirect: bobsRedirect, configuration)
    }
    let bobs = try await host.finishSignIn(bob, redirect: bobsRedirect, configuration)
    let alices = try await host.finishSignIn(alice, redirect: alicesRedirect, configuration)
    #expect(bobs.currentToken?.idToken?.subject == SandboxUser.bob.subject)
    #expect(alices.currentToken?.idToken?.subject == SandboxUser.alice.subject)
    #expect(await fixture.store.list().count == 2 && fixture.tokenRequests == 2)
  }

  @Test func `a redirect identifies its sign-in, and an invented redirect identifies no sign-in`()
    async throws
  {
    let fixture = try await WebFixture()
    let host = fixture.host()
    var (kept, redirects): ([String: WebSignIn], [String]) = ([:], [])
    for _ in 0..<2 {
      let (url, signIn) = try await host.beginSignIn(fixture.configuration)
      kept[signIn.name] = signIn
      redirects.append(try await fixture.visit(url))
    }
    #expect(kept.count == 2)
    let queries = redirects.map { $0.drop { $0 != "?" }.dropFirst() }
    for made in [
      "", "?", "?x", "?state", "?state=", "?state=a&code=b", "?\(queries[0])&\(queries[1])",
      "#?\(queries[0])",
    ] {
      let name = WebSignIn.name(inRedirect: WebFixture.redirectURI + made)
      #expect(name.flatMap { kept[$0] } == nil, "\(made)")
    }
    for redirect in redirects.reversed() {
      let name = try #require(WebSignIn.name(inRedirect: redirect))
      // A server at the redirect URI sees only the request target: the path and the query.
      let target = redirect.dropFirst("https://app.example.com".count)
      #expect(WebSignIn.name(inRedirect: String(target)) == name)
      let signIn = try #require(kept[name])
      #expect(name.utf8.count == 22 && !redirect.contains(name))
      _ = try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(fixture.tokenRequests == 2)
  }

  @Test func `an authorization response can be posted as a form only if the sign-in asks for it`()
    async throws
  {
    let fixture = try await WebFixture()
    var options = SignInOptions()
    options.responseMode = .formPost
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration, with: options)
    let visit = try await SandboxVisitor().visit(url)
    let form = visit.form.map {
      "\(FormCoding.encodeValue($0.name))=\(FormCoding.encodeValue($0.value))"
    }
    let body = Data(form.joined(separator: "&").utf8)
    #expect(WebSignIn.name(inForm: body) == signIn.name)
    for made in ["", "state", "code=a", "\u{E9}"] {
      #expect(WebSignIn.name(inForm: Data(made.utf8)) == nil)
    }
    let (_, unposted) = try await fixture.host().beginSignIn(fixture.configuration)
    await failure(.invalidAuthorizationResponse) {
      try await fixture.host().finishSignIn(unposted, form: body, fixture.configuration)
    }
    for wrong in [Data(), Data("<html>".utf8)] {
      await failure(.invalidAuthorizationResponse) {
        try await fixture.host().finishSignIn(signIn, form: wrong, fixture.configuration)
      }
    }
    #expect(fixture.tokenRequests == 0)
    let account = try await fixture.host()
      .finishSignIn(signIn, form: body, fixture.configuration)
    #expect(account.isAuthorized)
  }

  @Test func `the host that finishes a sign-in enforces the max_age of its request`() async throws {
    let fixture = try await WebFixture()
    var options = SignInOptions()
    options.maxAge = .seconds(60)
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration, with: options)
    let redirect = try await fixture.visit(url)
    fixture.sandbox.misbehave(
      at: .token, .idToken { $0.claims["auth_time"] = .integer(1_000_000_000) })
    await failure(.idTokenAuthenticationDate) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(await fixture.store.list().isEmpty)
  }

  /// The time after the login is for consent, for example.
  @Test func `a login after the request is not too old 200 s later, even with a max_age of zero`()
    async throws
  {
    let fixture = try await WebFixture(changeSandbox: { $0.codeLifetime = .seconds(300) })
    var options = SignInOptions()
    options.maxAge = .zero
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration, with: options)
    let kept = try JSONDecoder().decode(WebSignIn.self, from: JSONEncoder().encode(signIn))
    let redirect = try await fixture.visit(url)
    fixture.clock.advance(by: 200)
    let account = try await fixture.host()
      .finishSignIn(kept, redirect: redirect, fixture.configuration)
    #expect(account.currentToken?.idToken?.subject == SandboxUser.alice.subject)
  }

  @Test func `the app can choose the account ID, even without an ID token`() async throws {
    let fixture = try await WebFixture(scope: "demo")
    let host = fixture.host()
    let (url, signIn) = try await host.beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    await failure(.idTokenMissing) {
      try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(fixture.tokenRequests == 0, "the code is not spent")
    let account = try await host.finishSignIn(
      signIn, redirect: redirect, fixture.configuration, id: { _ in "visitor 7" })
    #expect(account.accountID == "visitor 7" && account.isAuthorized)
    #expect(host.module(id: "visitor 7") == nil, "the manager does not keep the account")
    let kept = try await host.account(fixture.configuration, id: "visitor 7")
    #expect(host.module(id: "visitor 7") === kept)
    host.release(id: "visitor 7")
    #expect(host.module(id: "visitor 7") == nil)
    #expect(await fixture.store.list() == ["visitor 7"])
  }

  @Test func `additional parameters of the redirect are kept with the token`() async throws {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url) + "&realmId=1234&scope=read&x=%E9&y=1&y=2"
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: redirect, fixture.configuration)
    let token = try #require(account.currentToken)
    #expect(token.redirectParameters == ["realmId": "1234", "scope": "read"])
    #expect(token.scope != "read", "the redirect does not set the scope")
    #expect(try await account.refresh().redirectParameters["realmId"] == "1234")
    let stored = await fixture.store.load(account.accountID)
    #expect(stored?.token.redirectParameters["realmId"] == "1234")
  }

  @Test func `a redirect with an error but no state is rejected and does not end the sign-in`()
    async throws
  {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let error = await failure(.stateMismatch) {
      try await fixture.host().finishSignIn(
        signIn, redirect: WebFixture.redirectURI + "?error=access_denied", fixture.configuration)
    }
    #expect(error?.message.contains("access_denied") == true && error?.isCancellation == false)
    let redirect = try await fixture.visit(url)
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: redirect, fixture.configuration)
    #expect(account.isAuthorized)
  }

  @Test func `without a verifiable ID token the app must choose the account ID`() async throws {
    let fixture = try await WebFixture()
    fixture.sandbox.misbehave(at: .metadata, .member("jwks_uri", nil), times: 10)
    let host = fixture.host()
    let (url, signIn) = try await host.beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    await failure(.openIDUnsupported) {
      try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(fixture.tokenRequests == 0, "the code is not used")
    let account = try await host.finishSignIn(
      signIn, redirect: redirect, fixture.configuration, id: { _ in "visitor 7" })
    #expect(account.isAuthorized && account.currentToken?.idToken == nil)
  }

  /// The number of sign-ins that each of eight tasks begins: ten thousand in all, but a tenth of
  /// them with a sanitizer, which makes each sign-in slow.
  private static let share = isSanitized ? 125 : 1250

  @Test func `ten thousand sign-ins can be in progress, and finished accounts are released`()
    async throws
  {
    let fixture = try await WebFixture()
    let (host, configuration) = (fixture.host(), fixture.configuration)
    let (share, count) = (Self.share, 8 * Self.share)
    let begun = try await withThrowingTaskGroup(of: [(url: URL, signIn: WebSignIn)].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var begun: [(url: URL, signIn: WebSignIn)] = []
          while begun.count < share {
            begun.append(try await host.beginSignIn(configuration))
            // With the metadata in memory, no call waits, so other tests would get no thread.
            await Task.yield()
          }
          return begun
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(begun.count == count && Set(begun.map(\.signIn.request.state)).count == count)
    #expect(fixture.sandbox.requests(to: .metadata).count == 1)
    // Some sign-ins are finished at the same time, in any order.
    let finished = try await withThrowingTaskGroup(of: Weak.self) { group in
      for (url, signIn) in stride(from: count / 20, to: count, by: count / 10).map({ begun[$0] }) {
        group.addTask {
          let account = try await host.finishSignIn(
            signIn, redirect: try await fixture.visit(url), configuration)
          #expect(account.isAuthorized)
          return Weak(account: account)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(finished.count == 10 && fixture.tokenRequests == 10)
    try await eventually("no module is left") {
      finished.allSatisfy { $0.account == nil }
    }
  }

  private struct Weak: Sendable {
    weak let account: AuthorizationModule?
  }

  // MARK: Sign-ins that end without a token

  @Test func `a denial by the user has its own error code`() async throws {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url, .deny)
    let error = await failure(.accessDenied) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(error?.isCancellation == true && fixture.tokenRequests == 0)
  }

  @Test func `a sign-in can be finished only once across all hosts`() async throws {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    _ = try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    await failure(.webSignInUsed) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(fixture.tokenRequests == 1)
  }

  @Test func `a redirect that is repeated during the code exchange gets the same account`()
    async throws
  {
    let fixture = try await WebFixture()
    let host = fixture.host()
    let (url, signIn) = try await host.beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    let release = OneShot<Void>()
    fixture.sandbox.misbehave(at: .token, .hold(until: { await release.wait() }))
    async let first = host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    try await eventually("the code is sent") { fixture.tokenRequests == 1 }
    async let second = host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    // A redirect with an added parameter is refused. Only the same redirect gets the account.
    await failure(.webSignInUsed) {
      try await host.finishSignIn(signIn, redirect: redirect + "&x=y", fixture.configuration)
    }
    // Another host does not wait for the first host's code exchange, and refuses the redirect.
    await failure(.webSignInUsed) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    try await eventually("the second request waits") { host.webSignIns.callers == [2] }
    release.resolve(())
    let accounts = try await [first, second]
    #expect(accounts[0] === accounts[1] && accounts[0].isAuthorized)
    #expect(fixture.tokenRequests == 1 && host.webSignIns.callers.isEmpty)
    await failure(.webSignInUsed) {
      try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
  }

  @Test
  func `if the code exchange fails, simultaneous calls with one redirect throw the same error`()
    async throws
  {
    let fixture = try await WebFixture()
    let host = fixture.host()
    let (url, signIn) = try await host.beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    let release = OneShot<Void>()
    fixture.sandbox.misbehave(
      at: .token, .hold(until: { await release.wait() }, then: .status(500)))
    let calls = (1...2).map { _ in
      Task {
        await failure(nil) {
          try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
        }
      }
    }
    try await eventually("the code is sent, and the other call waits") {
      fixture.tokenRequests == 1 && host.webSignIns.callers == [2]
    }
    release.resolve(())
    for call in calls { #expect(await call.value?.code == .serverError) }
    #expect(fixture.tokenRequests == 1 && host.webSignIns.callers.isEmpty)
  }

  @Test func `a sign-in cannot be finished after its timeout`() async throws {
    let fixture = try await WebFixture { $0.signInTimeout = .seconds(100) }
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    #expect(abs(signIn.expirationDate.timeIntervalSince(fixture.clock.now) - 100) <= 1)
    let redirect = try await fixture.visit(url)
    fixture.clock.advance(by: 162)
    let error = await failure(.timedOut) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(error?.message.contains(" s ago by this host's clock") == true)
    #expect(fixture.tokenRequests == 0)
  }

  @Test func `a host whose clock is ahead by less than the tolerance can finish a sign-in`()
    async throws
  {
    let fixture = try await WebFixture { $0.signInTimeout = .seconds(100) }
    let ends = NotedEnds()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    fixture.clock.advance(by: 159)
    let redirect = try await fixture.visit(url)
    let host = AccountManager(
      store: fixture.store, environment: fixture.environment(oneTimeValues: ends))
    let account = try await host.finishSignIn(signIn, redirect: redirect, fixture.configuration)
    #expect(account.isAuthorized)
    #expect(ends.noted == [signIn.expirationDate.addingTimeInterval(60)])
  }

  @Test func `a sign-in of another client or server is rejected`() async throws {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    let others = [
      try ClientConfiguration(
        clientID: "other", redirectURI: WebFixture.redirectURI,
        provider: fixture.configuration.provider),
      try ClientConfiguration(
        clientID: "web", redirectURI: WebFixture.redirectURI,
        provider: .endpoints(
          authorization: "https://evil.example/a", token: "https://evil.example/t")),
    ]
    for other in others {
      await failure(.webSignInInvalid) {
        try await fixture.host().finishSignIn(signIn, redirect: redirect, other)
      }
    }
    #expect(fixture.tokenRequests == 0)
  }

  @Test(arguments: [
    "/callback", "https://other.example.com/callback", "https://app.example.com/callback2",
    "https://app.example.com:8443/callback", "http://app.example.com/callback", "",
  ])
  func `a redirect that does not match the redirect URI is rejected`(address: String) async throws {
    let fixture = try await WebFixture()
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    // Only the address is wrong; the code and the state are right.
    let answer = String(redirect.dropFirst(WebFixture.redirectURI.count))
    for wrong in [address + answer, address] {
      await failure(.invalidAuthorizationResponse) {
        try await fixture.host().finishSignIn(signIn, redirect: wrong, fixture.configuration)
      }
    }
    #expect(fixture.tokenRequests == 0)
    let account = try await fixture.host()
      .finishSignIn(signIn, redirect: redirect, fixture.configuration)
    #expect(account.isAuthorized)
  }

  @Test func `a wrong issuer is rejected before the code is sent`() async throws {
    let fixture = try await WebFixture()
    fixture.sandbox.misbehave(at: .authorization, .issuer(.wrong))
    let (url, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let redirect = try await fixture.visit(url)
    await failure(.issuerMismatch) {
      try await fixture.host().finishSignIn(signIn, redirect: redirect, fixture.configuration)
    }
    #expect(fixture.tokenRequests == 0)
  }

  @Test func `no description of a sign-in shows its secrets`() async throws {
    let fixture = try await WebFixture()
    let (_, signIn) = try await fixture.host().beginSignIn(fixture.configuration)
    let text = everyText(of: signIn) + everyText(of: signIn.request)
    for secret in [signIn.request.state, signIn.request.verifier, signIn.request.identity.nonce] {
      #expect(!text.contains(try #require(secret)))
    }
  }
}

/// A list of one-time values that notes until when each must be remembered.
private final class NotedEnds: OneTimeValues {
  private let ends = Locked<[Date]>([])

  var noted: [Date] { ends.withLock(\.self) }

  func isFirstUse(of value: String, until end: Date, at now: Date) -> Bool {
    ends.withLock { $0.append(end) }
    return true
  }
}
