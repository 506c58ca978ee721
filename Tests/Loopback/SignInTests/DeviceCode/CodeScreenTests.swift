import Dispatch
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The app's screen for a device code, which the app shows for as long as the sign-in lasts.
@Suite(.timeLimit(.minutes(1))) struct CodeScreenTests {
  private struct Broken: Error, Equatable {}

  /// Waits until the task is cancelled.
  private static func untilCancelled() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    continuation.finish()
  }

  @Test
  func `the end of the sign-in cancels the code screen, and the call waits for the screen to end`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let shown = Locked<DeviceAuthorization?>(nil)
    let hasEnded = Locked(false)
    let signIn = Task { () async throws in
      try await fixture.oauth.signInWithDeviceCode(showing: { authorization in
        shown.withLock { $0 = authorization }
        await Self.untilCancelled()
        for _ in 0..<100 { await Task.yield() }
        hasEnded.withLock { $0 = true }
        // If the screen throws after the sign-in has ended, the sign-in still succeeds.
        throw Broken()
      })
    }
    let authorization = try await eventually { shown.withLock(\.self) }
    #expect(hasEnded.withLock(\.self) == false)
    try await fixture.user(enters: authorization)
    try await fixture.passUntilNextPoll()
    let token = try await signIn.value
    #expect(hasEnded.withLock(\.self) && fixture.sandbox.isActive(token.accessToken))
  }

  @Test func `if the code screen throws, the sign-in is cancelled with that error as the cause`()
    async throws
  {
    let fixture = try await DeviceFixture()
    let error = await failure(.cancelled) {
      try await fixture.oauth.signInWithDeviceCode(showing: { _ in throw Broken() })
    }
    #expect(error?.cause is Broken)
    #expect(!fixture.oauth.isSigningIn && fixture.polls.isEmpty)
  }

  @Test func `the sign-in continues after a code screen that returns at once`() async throws {
    let fixture = try await DeviceFixture()
    let shown = Locked<DeviceAuthorization?>(nil)
    let signIn = Task { () async throws in
      try await fixture.oauth.signInWithDeviceCode(showing: { authorization in
        shown.withLock { $0 = authorization }
      })
    }
    let authorization = try await eventually { shown.withLock(\.self) }
    try await fixture.user(.deny, enters: authorization)
    try await fixture.passUntilNextPoll()
    let error = await failure(.accessDenied) { try await signIn.value }
    #expect(error?.cause == nil)
  }

  @Test func `cancelling the sign-in cancels the code screen`() async throws {
    let fixture = try await DeviceFixture()
    let isShown = Locked(false)
    let hasEnded = Locked(false)
    let signIn = Task { () async throws in
      try await fixture.oauth.signInWithDeviceCode(showing: { _ in
        isShown.withLock { $0 = true }
        await Self.untilCancelled()
        hasEnded.withLock { $0 = true }
        throw Broken()
      })
    }
    try await eventually { isShown.withLock(\.self) }
    signIn.cancel()
    let error = await failure(.cancelled) { try await signIn.value }
    #expect(hasEnded.withLock(\.self) && error?.cause == nil && !fixture.oauth.isSigningIn)
  }

  @Test func `cancelling the sign-in ends it although the app's queue is still busy`() async throws
  {
    let fixture = try await DeviceFixture()
    let (queue, work) = (DispatchQueue(label: "busy"), DispatchSemaphore(value: 0))
    fixture.oauth.callbackQueue = queue
    queue.async { work.wait() }
    let signIn = Task { () async throws in try await fixture.signIn() }
    try await eventually("the sign-in waits for its user") { fixture.clock.sleepers > 0 }
    signIn.cancel()
    try await eventually("the sign-in ends") { !fixture.oauth.isSigningIn }
    work.signal()
    await failure(.cancelled) { try await signIn.value }
    #expect(fixture.shown.isEmpty && fixture.polls.isEmpty)
  }
}
