import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Complete sign-ins with a code on another device, at a sandbox (RFC 8628).
@Suite(.timeLimit(.minutes(1))) struct DeviceSignInTests {
  @Test(arguments: [false, true])
  func `a user signs in on another device`(isConfidential: Bool) async throws {
    let fixture = try await DeviceFixture(scope: "openid demo", isConfidential: isConfidential)
    let (signIn, authorization) = try await fixture.begin()
    #expect(authorization.verificationURI == fixture.sandbox.url(.device))
    #expect(
      authorization.verificationURIComplete?.query() == "user_code=\(authorization.userCode)")
    #expect(authorization.expirationDate == fixture.clock.now.addingTimeInterval(600))
    #expect(fixture.oauth.isSigningIn && fixture.polls.isEmpty)
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    let token = try await signIn.value
    #expect(fixture.sandbox.isActive(token.accessToken) && token.scopes == ["openid", "demo"])
    #expect(token.idToken?.subject == SandboxUser.alice.subject)
    #expect(fixture.oauth.result.token?.accessToken == token.accessToken)
    #expect(!fixture.oauth.isSigningIn)
    let request = try #require(fixture.sandbox.requests(to: .deviceAuthorization).last)
    #expect(request.form("scope") == "openid demo")
    #expect(request.form("client_id") == (isConfidential ? "sandbox-service" : "sandbox-app"))
    #expect((request.header("authorization") != nil) == isConfidential)
    // A refresh shows that this session works like any other.
    #expect(try await fixture.oauth.refresh().accessToken != token.accessToken)
  }

  @Test func `the SDK polls at the server's interval and slows down for good after slow_down`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    let start = fixture.clock.now
    fixture.sandbox.misbehave(at: .token, .error("slow_down"))
    var dates = [start]
    for _ in 0..<4 { dates.append(try await fixture.passUntilNextPoll()) }
    let steps = zip(dates.dropFirst(), dates).map { Int($0.timeIntervalSince($1).rounded()) }
    #expect(steps == [5, 10, 10, 10])
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    _ = try await signIn.value
  }

  @Test func `a Retry-After delays only the next poll`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, _) = try await fixture.begin()
    fixture.sandbox.misbehave(at: .token, .tooManyRequests(retryAfter: 42))
    var dates: [Date] = []
    for _ in 0..<3 { dates.append(try await fixture.passUntilNextPoll()) }
    let steps = zip(dates.dropFirst(), dates).map { Int($0.timeIntervalSince($1).rounded()) }
    #expect(steps == [42, 5])
    fixture.sandbox.misbehave(at: .token, .error("too_many_requests", status: 429))
    for _ in 0..<2 { try await fixture.passUntilNextPoll() }
    signIn.cancel()
    await failure(.cancelled) { try await signIn.value }
  }

  @Test func `a failing server is polled less often, and the sign-in continues`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    fixture.sandbox.misbehave(at: .token, .cut(.beforeProcessing))
    fixture.sandbox.misbehave(at: .token, .status(502))
    fixture.sandbox.misbehave(at: .token, .error("temporarily_unavailable", status: 503))
    var dates: [Date] = []
    for _ in 0..<5 { dates.append(try await fixture.passUntilNextPoll()) }
    let steps = zip(dates.dropFirst(), dates).map { Int($0.timeIntervalSince($1).rounded()) }
    #expect(steps == [10, 20, 40, 5])
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    _ = try await signIn.value
  }

  @Test func `a user who denies access cancels the sign-in, and no token is kept`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(.deny, enters: authorization)
    try await fixture.passUntilNextPoll()
    let error = await failure(.accessDenied) { try await signIn.value }
    #expect(error?.isCancellation == true)
    #expect(fixture.oauth.result.token == nil && !fixture.oauth.isSigningIn)
  }

  @Test func `Microsoft's code for a denial is access_denied, and the response keeps it`()
    async throws
  {
    let fixture = try await DeviceFixture(isConfidential: true)
    let (signIn, _) = try await fixture.begin()
    fixture.sandbox.misbehave(at: .token, .error("authorization_declined"))
    try await fixture.passUntilNextPoll()
    let error = await failure(.accessDenied) { try await signIn.value }
    #expect(error?.response?.error.rawValue == "authorization_declined")
    #expect(error?.status == 400 && error?.isCancellation == true)
    // The refusal is not about the client's secret.
    #expect(error?.message.contains("secret") == false, "\(error?.message ?? "")")
  }

  @Test(arguments: [true, false])
  func `an expired code ends the sign-in`(serverKnowsFirst: Bool) async throws {
    let fixture = try await DeviceFixture { $0.deviceCodeLifetime = .seconds(12) }
    let (signIn, authorization) = try await fixture.begin()
    #expect(authorization.expirationDate == fixture.clock.now.addingTimeInterval(12))
    if serverKnowsFirst {
      fixture.sandbox.advance(by: .seconds(60))
      try await fixture.passUntilNextPoll()
    } else {
      for _ in 0..<2 { try await fixture.passUntilNextPoll() }
      try await eventually("the SDK waits") { fixture.clock.sleepers > 0 }
      fixture.clock.advance(by: 5)
    }
    let error = await failure(.expiredToken) { try await signIn.value }
    #expect(error?.isCancellation == true && (error?.response != nil) == serverKnowsFirst)
    #expect(fixture.polls.count == (serverKnowsFirst ? 1 : 2))
  }

  @Test func `the error for an expired code says that the server failed at the last poll`()
    async throws
  {
    let fixture = try await DeviceFixture { $0.deviceCodeLifetime = .seconds(12) }
    fixture.sandbox.misbehave(at: .token, .status(500), times: 2)
    let (signIn, _) = try await fixture.begin()
    for _ in 0..<2 { try await fixture.passUntilNextPoll() }
    try await eventually("the SDK waits") { fixture.clock.sleepers > 0 }
    fixture.clock.advance(by: 60)
    let error = await failure(.expiredToken) { try await signIn.value }
    #expect(
      error?.message.hasPrefix("the server did not say whether the user has signed in") == true)
    #expect(error?.message.contains("status 500") == true, "\(error?.message ?? "")")
    #expect(error?.isCancellation == false, "the user may have been done")
  }

  @Test func `a code that the server says has expired during an outage is no cancellation`()
    async throws
  {
    let fixture = try await DeviceFixture()
    fixture.sandbox.misbehave(at: .token, .status(503))
    let (signIn, _) = try await fixture.begin()
    try await fixture.passUntilNextPoll()
    fixture.sandbox.advance(by: .seconds(600))
    try await fixture.passUntilNextPoll()
    let error = await failure(.expiredToken) { try await signIn.value }
    #expect(error?.response != nil && error?.isCancellation == false)
  }

  @Test(arguments: [(5, [5, 12]), (30, [12])])
  func `the last poll is 2 s before the code expires, even with a long interval`(
    interval: Int, times: [Int]
  ) async throws {
    let fixture = try await DeviceFixture {
      $0.deviceCodeLifetime = .seconds(14)
      $0.deviceInterval = .seconds(interval)
    }
    let (signIn, authorization) = try await fixture.begin()
    let start = fixture.clock.now
    var dates: [Date] = []
    for _ in times.dropLast() { dates.append(try await fixture.passUntilNextPoll()) }
    try await fixture.user(enters: authorization)
    dates.append(try await fixture.passUntilNextPoll())
    #expect(fixture.sandbox.isActive(try await signIn.value.accessToken))
    #expect(dates.map { Int($0.timeIntervalSince(start).rounded()) } == times)
  }

  @Test(arguments: [
    SandboxMisbehaviour.error("invalid_grant"), .error("invalid_client", status: 401), .html,
    .member("access_token", nil),
  ])
  func `invalid_grant, invalid_client or a malformed response ends the sign-in at once`(
    _ answer: SandboxMisbehaviour
  ) async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(enters: authorization)
    fixture.sandbox.misbehave(at: .token, answer)
    try await fixture.passUntilNextPoll()
    let error = await failure { try await signIn.value }
    #expect(error?.isCancellation == false)
    #expect(fixture.polls.count == 1 && fixture.oauth.result.token == nil)
  }

  @Test func `a cancelled sign-in stops polling`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, _) = try await fixture.begin()
    try await eventually("the SDK waits") { fixture.clock.sleepers > 0 }
    fixture.oauth.cancelSignIn()
    await failure(.cancelled) { try await signIn.value }
    fixture.clock.advance(by: 100)
    let (next, _) = try await fixture.begin()
    next.cancel()
    await failure(.cancelled) { try await next.value }
    #expect(fixture.polls.isEmpty && fixture.shown.count == 2)
  }

  @Test func `tokens that arrive after a cancellation are revoked`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(enters: authorization)
    let answer = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
    try await fixture.passUntilNextPoll()
    fixture.oauth.cancelSignIn()
    await failure(.cancelled) { try await signIn.value }
    #expect(fixture.sandbox.requests(to: .revocation).isEmpty)
    answer.open()
    try await fixture.oauth.module.flush()
    #expect(fixture.sandbox.requests(to: .revocation).count == 2, "both tokens are revoked")
    #expect(fixture.oauth.result.token == nil)
  }

  @Test(arguments: [-100_000.0, 100_000])
  func `a changed system date neither expires the code nor stops the polls`(
    seconds: Double
  ) async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    var dates = [try await fixture.passUntilNextPoll()]
    try await eventually("the SDK waits") { fixture.clock.sleepers > 0 }
    fixture.clock.moveDate(by: seconds)
    #expect(fixture.clock.sleepers > 0 && fixture.polls.count == 1, "no poll before its time")
    // The server shares the client's clock. The server's date is corrected, so only the client's
    // date is wrong.
    fixture.sandbox.advance(by: .seconds(-seconds))
    for _ in 0..<2 { dates.append(try await fixture.passUntilNextPoll()) }
    let steps = zip(dates.dropFirst(), dates).map { Int($0.timeIntervalSince($1).rounded()) }
    #expect(steps == [5, 5])
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    #expect(try await signIn.value.scope == "demo")
  }

  @Test func `an ID token with a wrong signature makes the sign-in fail`() async throws {
    let fixture = try await DeviceFixture(scope: "openid")
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(enters: authorization)
    fixture.sandbox.misbehave(at: .token, .idToken(.wrongSignature))
    try await fixture.passUntilNextPoll()
    await failure(.idTokenSignature) { try await signIn.value }
    #expect(fixture.oauth.result.token == nil)
  }

  @Test func `without an ID token the user is signed in without an identity`()
    async throws
  {
    let fixture = try await DeviceFixture(scope: "openid demo")
    let (signIn, authorization) = try await fixture.begin()
    try await fixture.user(enters: authorization)
    fixture.sandbox.misbehave(at: .token, .idToken(.missing))
    try await fixture.passUntilNextPoll()
    let token = try await signIn.value
    #expect(token.idToken == nil && fixture.sandbox.isActive(token.accessToken))
    let reason = await failure(.idTokenMissing) { try await fixture.oauth.idToken() }
    #expect(reason?.message.contains("sent no ID token") == true)
    #expect(try await fixture.oauth.refresh().idToken?.subject == SandboxUser.alice.subject)
  }

  @Test func `a sign-in with max_age requires an ID token`() async throws {
    let fixture = try await DeviceFixture(scope: "openid")
    var options = SignInOptions()
    options.maxAge = .seconds(60)
    let signIn = Task { [options] () async throws in try await fixture.signIn(with: options) }
    let authorization = try await eventually { fixture.shown.last }
    try await fixture.user(enters: authorization)
    fixture.sandbox.misbehave(at: .token, .idToken(.missing))
    try await fixture.passUntilNextPoll()
    await failure(.idTokenMissing) { try await signIn.value }
    #expect(fixture.oauth.result.token == nil)
  }

  @Test func `a login after the request for a code is not too old at a late poll`() async throws {
    let fixture = try await DeviceFixture(scope: "openid")
    var options = SignInOptions()
    options.maxAge = .zero
    let signIn = Task { [options] () async throws in try await fixture.signIn(with: options) }
    let authorization = try await eventually { fixture.shown.last }
    try await fixture.user(enters: authorization)
    fixture.sandbox.misbehave(at: .token, .tooManyRequests(retryAfter: 120))
    for _ in 0..<2 { try await fixture.passUntilNextPoll() }
    #expect(try await signIn.value.idToken?.subject == SandboxUser.alice.subject)
  }

  @Test func `the sign-in options become parameters of the request`() async throws {
    let fixture = try await DeviceFixture()
    var options = SignInOptions()
    options.scope = "openid"
    options.loginHint = "alice"
    options.nonce = "once"
    let signIn = Task { [options] () async throws in try await fixture.signIn(with: options) }
    let authorization = try await eventually { fixture.shown.last }
    let form = try #require(fixture.sandbox.requests(to: .deviceAuthorization).last)
    #expect(form.form("scope") == "openid" && form.form("login_hint") == "alice")
    #expect(form.form("nonce") == "once")
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    #expect(try await signIn.value.idToken?.claims["nonce"] == "once")
    options.responseMode = .formPost
    await failure(.invalidConfiguration) { try await fixture.signIn(with: options) }
  }

  @Test func `at a server without a device endpoint, the sign-in fails before a code is shown`()
    async throws
  {
    let fixture = try await DeviceFixture()
    fixture.sandbox.misbehave(at: .metadata, .member("device_authorization_endpoint", nil))
    await failure(.deviceAuthorizationUnsupported) { try await fixture.signIn() }
    #expect(fixture.shown.isEmpty)
  }

  @Test func `no description of a device authorization shows the code`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    #expect(!everyText(of: authorization).contains(authorization.userCode))
    signIn.cancel()
    await failure(.cancelled) { try await signIn.value }
  }
}
