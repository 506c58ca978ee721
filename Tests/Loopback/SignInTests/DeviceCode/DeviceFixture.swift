import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// An `SQOAuth` and a sandbox with a common clock, and the app's screen for device codes.
final class DeviceFixture: Sendable {
  let oauth = SQOAuth()
  let sandbox: SandboxServer
  let clock: ManualClock
  let delegate = RecordingDelegate()
  private let screen = Locked<[DeviceAuthorization]>([])

  /// The device codes that the app has shown, in order.
  var shown: [DeviceAuthorization] { screen.withLock(\.self) }

  init(
    scope: String? = "demo", isConfidential: Bool = false,
    change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws {
    let clock = ManualClock(now: Date())
    self.clock = clock
    var options = SandboxOptions()
    options.now = { clock.now }
    change(&options)
    sandbox = try await SandboxServer.start(options)
    var environment = ClientEnvironment()
    environment.clock = clock
    oauth.environment = environment
    let client = isConfidential ? SandboxClient.service : .app
    oauth.register(
      try ClientConfiguration(
        clientID: client.id, clientSecret: client.secret, scope: scope,
        provider: .issuer(sandbox.issuer.absoluteString)))
  }

  /// Signs in and records the codes that are shown.
  func signIn(with options: SignInOptions? = nil) async throws(SQOAuthError) -> SQToken {
    let show = { @Sendable (authorization: DeviceAuthorization) in
      self.screen.withLock { $0.append(authorization) }
    }
    guard let options else { return try await oauth.signInWithDeviceCode(show: show) }
    return try await oauth.signInWithDeviceCode(with: options, show: show)
  }

  /// Gets a valid token and records the codes that are shown.
  func requestAccess() async throws(SQOAuthError) -> SQToken {
    try await oauth.requestAccessWithDeviceCode { @Sendable authorization in
      self.screen.withLock { $0.append(authorization) }
    }
  }

  /// Begins a sign-in and returns after the app has shown the code.
  func begin() async throws -> (signIn: Task<SQToken, any Error>, DeviceAuthorization) {
    let count = shown.count
    let task = Task { () async throws in try await self.signIn() }
    return (task, try await eventually { self.shown.count > count ? self.shown.last : nil })
  }

  /// Enters the code, and allows or denies access, as the user would.
  func user(
    _ decision: SandboxVisitor.Decision = .allow, enters authorization: DeviceAuthorization
  ) async throws {
    try await SandboxVisitor(decision: decision)
      .enterCode(authorization.userCode, at: authorization.verificationURI)
  }

  /// Advances the clock until the SDK has polled for the token, and returns the server's date.
  ///
  /// The clock moves only while the SDK sleeps, so the dates do not depend on the machine's speed.
  @discardableResult
  func passUntilNextPoll() async throws -> Date {
    let count = polls.count
    while polls.count == count {
      try await eventually("the SDK waits or asks") { clock.sleepers > 0 || polls.count > count }
      if polls.count == count { clock.advance(by: 1) }
    }
    return try #require(polls.last).date
  }

  var polls: [SandboxRequest] { sandbox.requests(to: .token) }
}
