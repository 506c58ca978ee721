import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// `requestAccess`, which gets a token in any possible way.
@Suite("requestAccess", .timeLimit(.minutes(1))) struct RequestAccessTests {
  @Test func `without a token, the browser opens once`() async throws {
    let fixture = try SessionFixture()
    #expect(try await fixture.module.requestAccess().accessToken == "T1")
    #expect(fixture.fixture.opened.count == 1 && fixture.requests == ["authorization_code"])
    #expect(try await fixture.module.requestAccess().accessToken == "T1")
    #expect(fixture.fixture.opened.count == 1 && fixture.requests.count == 1)
  }

  @Test func `a valid token needs no request`() async throws {
    let fixture = try await SessionFixture().restored()
    #expect(try await fixture.module.requestAccess() == fixture.module.currentToken)
    #expect(fixture.requests.isEmpty && fixture.fixture.opened.isEmpty)
  }

  @Test func `a stored token needs no request`() async throws {
    let fixture = try SessionFixture()
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    #expect(try await fixture.module.requestAccess().accessToken == "T1")
    #expect(fixture.requests.isEmpty && fixture.fixture.opened.isEmpty)
  }

  @Test func `an expired token is refreshed without the browser`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.requestAccess().accessToken == "T2")
    #expect(fixture.requests == ["refresh R1"] && fixture.fixture.opened.isEmpty)
  }

  @Test func `a refresh that fails with status 500 does not open the browser`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.always(ScriptedTransport.json("", status: 500))
    await failure(.serverError) { try await fixture.module.requestAccess() }
    #expect(fixture.fixture.opened.isEmpty && fixture.memory == "T1 R1")
  }

  @Test func `an expired token without a refresh token opens the browser`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T0", expirationDate: fixture.clock.now))
    #expect(try await fixture.module.requestAccess().accessToken == "T1")
    #expect(fixture.fixture.opened.count == 1 && fixture.memory == "T1 R1")
  }

  @Test
  func `if a refresh is rejected, the token is erased and the browser opens once for all callers`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    fixture.server.next(SessionEndTests.invalidGrant)
    fixture.server.signInGate.close()
    let callers = (0..<50).map { _ in begin { try await module.requestAccess() } }
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    try await fixture.server.signInGate.isHolding()
    #expect(fixture.memory == nil)
    try await eventually { await fixture.store.content() == nil }
    fixture.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(fixture.requests == ["refresh R1", "authorization_code"])
    #expect(fixture.fixture.opened.count == 1)
  }

  /// Makes two callers wait for a refresh that is rejected.
  ///
  /// The second caller continues only after the first caller's call has ended.
  private func latecomer(
    to fixture: SessionFixture
  ) async throws -> (first: Result<SQToken, any Error>, second: Result<SQToken, any Error>) {
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    fixture.server.next(SessionEndTests.invalidGrant)
    let executor = HoldingExecutor()
    let second = Task(executorPreference: executor) { try await module.requestAccess() }
    try await fixture.server.gate.isHolding()
    try await executor.rests()
    executor.hold()
    let first = begin { try await module.requestAccess() }
    fixture.server.gate.open()
    let outcome = await first.result
    executor.letGo()
    return (outcome, await second.result)
  }

  @Test func `a late caller gets the token of another caller's sign-in`() async throws {
    let fixture = try await SessionFixture().restored()
    let (first, second) = try await latecomer(to: fixture)
    #expect(try first.get().accessToken == "T2" && second.get().accessToken == "T2")
    #expect(fixture.requests == ["refresh R1", "authorization_code"])
    #expect(fixture.fixture.opened.count == 1)
  }

  @Test func `no sign-in starts if another one has ended since the caller began`()
    async throws
  {
    let fixture = try SessionFixture()
    let endCount = fixture.module.signIns.endCount
    _ = try await fixture.module.signIn()
    #expect(try await fixture.module.signIn(SignIn.Request(), since: endCount, on: nil) == nil)
    #expect(fixture.fixture.opened.count == 1)
  }

  // MARK: The end of the session

  @Test func `if the app signs the user out during the refresh, the browser does not open`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let caller = begin { try await module.requestAccess() }
    try await fixture.server.gate.isHolding()
    fixture.oauth.userDidSignOut()
    fixture.server.gate.open()
    await failure(.notAuthorized) { try await caller.value }
    #expect(fixture.fixture.opened.isEmpty && fixture.memory == nil)
    _ = try await module.requestAccess()
    #expect(fixture.fixture.opened.count == 1, "a call after the sign-out signs the user in")
  }

  @Test func `if the app revokes the token meanwhile, the browser does not open`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    let revoking = Gate(isOpen: false)
    let end = begin { try await module.session.end(.revoked) { _ in await revoking.pass() } }
    try await revoking.isHolding()
    let caller = begin { try await module.requestAccess() }
    revoking.open()
    try await end.value
    await failure(.notAuthorized) { try await caller.value }
    #expect(fixture.fixture.opened.isEmpty && fixture.requests.isEmpty)
  }

  @Test func `a call with a completion that came before a sign-out does not open the browser`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let result = await withCheckedContinuation { done in
      module.requestAccess { done.resume(returning: $0) }
      fixture.oauth.userDidSignOut()
    }
    fixture.server.gate.open()
    failure(.notAuthorized) { try result.get() }
    #expect(fixture.fixture.opened.isEmpty)
  }

  /// The caller's refresh may be refused at the moment of the sign-out.
  @Test func `no sign-in starts if the app has signed the user out since the caller began`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let endCount = fixture.module.signIns.endCount
    try await fixture.oauth.signOut()
    await failure(.cancelled) {
      try await fixture.module.signIn(SignIn.Request(), since: endCount, on: nil)
    }
    #expect(fixture.fixture.opened.isEmpty)
  }

  /// Otherwise a waiting call could read the session before the sign-out ends it, and begin a
  /// sign-in that the sign-out no longer cancels.
  @Test func `a sign-out has ended the session when it cancels the sign-in under way`() async throws
  {
    let fixture = try await SessionFixture().restored()
    let session = fixture.module.session
    let ends = Locked<[Int]>([])
    let running = Gate(isOpen: false)
    fixture.module.signIns.start(SignIn.Request()) { _ in
      await withTaskCancellationHandler {
        await running.opened()
      } onCancel: {
        ends.withLock { $0.append(session.appEndCount) }
      }
      return .failure(.signInCancelled)
    }
    try await running.isHolding()
    try await fixture.oauth.signOut()
    #expect(ends.withLock(\.self) == [1])
  }

  @Test func `a sign-in that waits for a silent one does not begin after a revocation`()
    async throws
  {
    let fixture = try await SessionFixture(browser: { fixture, page in
      if page.parameters["prompt"] != "none" { try await OAuthFixture.allow(fixture, page) }
    }).restored()
    let module = fixture.module
    let silent = begin { try await module.signInSilently() }
    let page = try await fixture.fixture.isWaiting()
    fixture.server.next(SessionEndTests.invalidGrant)
    await failure(.invalidGrant) { try await module.refresh() }
    let caller = begin { try await module.requestAccess() }
    try await eventually { module.signIns.underWay?.options.isSilent == false }
    try await module.adopt(fixture.server.issue(at: fixture.clock.now))
    try await module.session.end(.revoked) { _ in }
    #expect(fixture.oauth.handleRedirect(try page.redirect("error=login_required")))
    await failure(.loginRequired) { try await silent.value }
    await failure(.cancelled) { try await caller.value }
    #expect(fixture.fixture.opened.count == 1 && fixture.memory == nil)
  }

  // MARK: Refused sign-ins

  @Test(arguments: [SQOAuthError.Code.serverError, .accessDenied])
  func `a failed sign-in for one user ends a wait for any user only if the user refused`(
    code: SQOAuthError.Code
  ) async throws {
    let fixture = try SessionFixture(browser: { fixture, page in
      if page.parameters["login_hint"] == nil {
        try await OAuthFixture.allow(fixture, page)
      } else {
        fixture.oauth.handleRedirect(try page.redirect("error=\(code.rawValue)"))
      }
    })
    let module = fixture.module
    let endCount = module.signIns.endCount
    var options = SignInOptions()
    options.requiresSameUser = true
    options.loginHint = "alice"
    await failure(code) { try await module.signIn(with: options) }
    let same = SignIn.Request(place: .browser, options: options)
    await failure(code) { try await module.signIn(same, since: endCount, on: nil) }
    #expect(fixture.fixture.opened.count == 1)
    if code == .accessDenied {
      await failure(code) { try await module.signIn(SignIn.Request(), since: endCount, on: nil) }
      #expect(fixture.fixture.opened.count == 1)
    } else {
      let gain = try await module.signIn(SignIn.Request(), since: endCount, on: nil)
      #expect(gain?.token.accessToken == "T1" && fixture.fixture.opened.count == 2)
    }
  }

  @Test func `a late caller does not ask again if the user has denied access`() async throws {
    let fixture = try await SessionFixture(browser: { fixture, page in
      fixture.oauth.handleRedirect(try page.redirect("error=access_denied"))
    }).restored()
    let (first, second) = try await latecomer(to: fixture)
    failure(.accessDenied) { try first.get() }
    failure(.accessDenied) { try second.get() }
    #expect(fixture.fixture.opened.count == 1 && fixture.memory == nil)
  }

  @Test func `a late caller gets the error of a cancelled sign-in`() async throws {
    let fixture = try await SessionFixture(browser: { fixture, _ in
      fixture.oauth.module.cancelSignIn()
    })
    .restored()
    let (first, second) = try await latecomer(to: fixture)
    failure(.cancelled) { try first.get() }
    failure(.cancelled) { try second.get() }
    #expect(fixture.fixture.opened.count == 1)
  }

  @Test func `a new call after a failed sign-in opens the browser again`() async throws {
    let refuses = Locked(true)
    let fixture = try SessionFixture(browser: { fixture, page in
      if refuses.withLock(\.self) {
        fixture.oauth.handleRedirect(try page.redirect("error=access_denied"))
      } else {
        try await OAuthFixture.allow(fixture, page)
      }
    })
    await failure(.accessDenied) { try await fixture.module.requestAccess() }
    refuses.withLock { $0 = false }
    #expect(try await fixture.module.requestAccess().accessToken == "T1")
    #expect(fixture.fixture.opened.count == 2)
  }

  @Test func `a user who denies access causes an error, and nothing hangs`() async throws {
    let fixture = try SessionFixture(browser: { fixture, page in
      fixture.oauth.handleRedirect(try page.redirect("error=access_denied"))
    })
    let error = await failure(.accessDenied) { try await fixture.module.requestAccess() }
    #expect(error?.isCancellation == true && fixture.memory == nil)
  }
}
