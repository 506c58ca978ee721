import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Device sign-ins with several callers, with a delegate, and during a sign-in in the browser.
@Suite(.timeLimit(.minutes(1))) struct DeviceJoiningTests {
  @Test func `a second call joins the sign-in and shows the same code`() async throws {
    let fixture = try await DeviceFixture()
    let (first, authorization) = try await fixture.begin()
    let (second, again) = try await fixture.begin()
    #expect(authorization == again && fixture.sandbox.requests(to: .deviceAuthorization).count == 1)
    first.cancel()
    await failure(.cancelled) { try await first.value }
    #expect(fixture.oauth.isSigningIn, "the second caller still waits")
    // A call without a code closure joins too.
    let third = Task.immediate { () async throws in try await fixture.oauth.signIn() }
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    #expect(try await second.value.accessToken == third.value.accessToken)
    #expect(fixture.polls.count == 1)
  }

  @Test func `the sign-in ends when its last caller is cancelled`() async throws {
    let fixture = try await DeviceFixture()
    let (first, _) = try await fixture.begin()
    first.cancel()
    await failure(.cancelled) { try await first.value }
    #expect(!fixture.oauth.isSigningIn)
  }

  @Test func `a device sign-in does not join a sign-in in the browser`() async throws {
    let fixture = try await DeviceFixture()
    let redirectURI = "com.example.sandbox:/callback"
    fixture.oauth.register(
      try ClientConfiguration(
        clientID: "sandbox-app", redirectURI: redirectURI,
        provider: .issuer(fixture.sandbox.issuer.absoluteString)))
    fixture.oauth.environment.userAgent = CustomUserAgent { _ in }
    let browser = Task { () async throws in try await fixture.oauth.signIn() }
    try await eventually { fixture.oauth.isSigningIn }
    await failure(.signInUnderWay) { try await fixture.signIn() }
    browser.cancel()
    await failure(.cancelled) { try await browser.value }
    // In the reverse order, a sign-in in the browser does not join a device sign-in.
    let (device, _) = try await fixture.begin()
    await failure(.signInUnderWay) { try await fixture.oauth.signIn(with: SignInOptions()) }
    device.cancel()
    await failure(.cancelled) { try await device.value }
  }

  @Test func `a code is requested only if there is no valid token`() async throws {
    let fixture = try await DeviceFixture()
    let (signIn, authorization) = try await fixture.begin()
    let waiting = Task { () async throws in try await fixture.requestAccess() }
    try await eventually { fixture.shown.count == 2 }
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    let token = try await signIn.value
    #expect(try await waiting.value == token)
    #expect(try await fixture.requestAccess() == token && fixture.shown.count == 2)
  }

  @Test func `the completion is called after the code was shown`() async throws {
    let fixture = try await DeviceFixture()
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    let calls = Locked<[String]>([])
    fixture.oauth.signInWithDeviceCode { authorization in
      calls.withLock { $0.append(authorization.userCode) }
    } completion: { result in
      calls.withLock { $0.append((try? result.get()) == nil ? "failure" : "token") }
    }
    let code = try await eventually { calls.withLock(\.first) }
    try await SandboxVisitor().enterCode(code, at: fixture.sandbox.url(.device))
    try await fixture.passUntilNextPoll()
    try await eventually { calls.withLock { $0.count == 2 } }
    #expect(calls.withLock(\.self) == [code, "token"])
  }

  // MARK: Delegates

  @Test func `a delegate shows the code and gets the result`() async throws {
    let fixture = try await DeviceFixture()
    let delegate = CodeScreen()
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    fixture.oauth.authorizationDelegate = delegate
    fixture.oauth.authorizeUserWithDeviceCode()
    fixture.oauth.authorizeUserWithDeviceCode()
    let authorization = try await eventually { delegate.shown.last }
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    try await eventually { delegate.ends == ["signed in"] }
    #expect(delegate.shown == [authorization])
  }

  @Test func `a delegate may pass the code on to a delegate that cannot show it`() async throws {
    let fixture = try await DeviceFixture()
    let delegate = ForwardingScreen()
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    fixture.oauth.authorizationDelegate = delegate
    fixture.oauth.authorizeUserWithDeviceCode()
    let authorization = try await eventually { delegate.screen.shown.last }
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    try await eventually { !delegate.screen.ends.isEmpty }
    #expect(delegate.screen.ends == ["signed in"])
  }

  @Test func `a delegate that cannot show codes fails the sign-in unless a closure shows them`()
    async throws
  {
    let fixture = try await DeviceFixture()
    fixture.oauth.callbackQueue = DispatchQueue(label: "callbacks")
    fixture.oauth.authorizationDelegate = fixture.delegate
    fixture.oauth.authorizeUserWithDeviceCode()
    #expect(await fixture.delegate.events(1) == [.failed(.invalidConfiguration)])
    #expect(fixture.delegate.errors.first?.message.contains("userMustEnterCode") == true)
    let (signIn, authorization) = try await fixture.begin()
    fixture.oauth.authorizeUserWithDeviceCode()
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    let token = try await signIn.value
    #expect(await fixture.delegate.events(2).last == .authorized(token.accessToken))
  }

  @Test func `without a delegate, a sign-in ends unless a closure shows the code`() async throws {
    let fixture = try await DeviceFixture()
    let oauth = fixture.oauth
    oauth.callbackQueue = DispatchQueue(label: "callbacks")
    let code = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .deviceAuthorization, .hold(until: { await code.opened() }))
    oauth.authorizeUserWithDeviceCode()
    let end = try #require(oauth.module.signIns.underWay).work.outcome
    code.open()
    let error = await failure(.invalidConfiguration) { try await end.wait().get() }
    #expect(error?.message.contains("authorizationDelegate") == true)
    #expect(!oauth.isSigningIn && fixture.polls.isEmpty)

    let (signIn, authorization) = try await fixture.begin()
    oauth.authorizeUserWithDeviceCode()
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    #expect(try await signIn.value == oauth.currentToken)
  }

  @Test func `a sign-in ends if its SQOAuth is released before the code arrives`() async throws {
    let fixture = try await DeviceFixture()
    let code = Gate(isOpen: false)
    fixture.sandbox.misbehave(at: .deviceAuthorization, .hold(until: { await code.opened() }))
    let module: AuthorizationModule
    do {
      let released = SQOAuth(environment: fixture.oauth.environment)
      released.register(try #require(fixture.oauth.module.configuration))
      released.authorizeUserWithDeviceCode()
      module = released.module
    }
    let end = try #require(module.signIns.underWay).work.outcome
    code.open()
    await failure(.invalidConfiguration) { try await end.wait().get() }
    #expect(!module.isSigningIn && fixture.polls.isEmpty)
  }
}

/// A delegate that records the codes and the results.
private final class CodeScreen: AuthorizationDelegate, Sendable {
  private let state = Locked((shown: [DeviceAuthorization](), ends: [String]()))

  var shown: [DeviceAuthorization] { state.withLock(\.shown) }
  var ends: [String] { state.withLock(\.ends) }

  func userMustEnterCode(_ authorization: DeviceAuthorization) {
    state.withLock { $0.shown.append(authorization) }
  }

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    state.withLock { $0.ends.append("signed in") }
  }

  func userIsNotAuthorized() { state.withLock { $0.ends.append("not signed in") } }
}

/// A delegate that shows codes, and passes them on to a delegate that does not.
private final class ForwardingScreen: AuthorizationDelegate, Sendable {
  let screen = CodeScreen()
  private let other = RecordingDelegate()

  func userMustEnterCode(_ authorization: DeviceAuthorization) {
    screen.userMustEnterCode(authorization)
    other.userMustEnterCode(authorization)
  }

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    screen.userIsSuccessfullyAuthorized(token)
  }

  func userIsNotAuthorized() { screen.userIsNotAuthorized() }
}
