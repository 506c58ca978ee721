import Dispatch
import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How the SDK calls a delegate's methods.
///
/// `CallbackMatrixTests` tests the queues and actors.
@Suite(.timeLimit(.minutes(1))) struct DelegateCallTests {
  /// A delegate whose `async` code calls the delegate's own methods.
  ///
  /// The compiler could choose default methods of the same names instead.
  private final class Calling: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    let calls = Locked<[String]>([])
    func userIsSuccessfullyAuthorized(_ token: SQToken) {}
    func userIsNotAuthorized() { add("not authorized") }
    func userIsNotAuthorized(because error: SQOAuthError) { add("because \(error.code)") }
    func userDidCancelAuthorization() { add("cancelled") }
    func tokenIsRefreshed(_ token: SQToken) {}
    func sessionIsReplaced(_ token: SQToken) { add("replaced") }
    func tokenRefreshDidFail(_ error: SQOAuthError) { add("failed") }
    func sessionDidEnd(_ reason: SessionEnd) { add("ended") }

    func callAll() async {
      await Task.yield()
      userIsNotAuthorized()
      userIsNotAuthorized(because: SQOAuthError(.serverError, "x"))
      userDidCancelAuthorization()
      sessionIsReplaced(SQToken(accessToken: "T"))
      tokenRefreshDidFail(SQOAuthError(.serverError, "x"))
      sessionDidEnd(.signedOut)
    }

    private func add(_ call: String) { calls.withLock { $0.append(call) } }
  }

  @Test
  func `a delegate's async code calls the delegate's own methods, not the protocol's defaults`()
    async
  {
    let delegate = Calling()
    await delegate.callAll()
    #expect(
      delegate.calls.withLock(\.self) == [
        "not authorized", "because server_error", "cancelled", "replaced", "failed", "ended",
      ])
  }

  /// A delegate whose async method `userIsSuccessfullyAuthorized` waits for a gate.
  private final class Slow: AuthorizationDelegate, TokenRefreshDelegate, Sendable {
    let gate = Gate(isOpen: false)
    let calls = Locked<[String]>([])

    func userIsSuccessfullyAuthorized(_ token: SQToken) async {
      calls.withLock { $0.append("authorized") }
      await gate.pass()
      calls.withLock { $0.append("done") }
    }
    func userIsNotAuthorized() {}
    func tokenIsRefreshed(_ token: SQToken) async { calls.withLock { $0.append("refreshed") } }
  }

  @Test func `the SDK calls the next delegate method only after an async method has returned`()
    async throws
  {
    let slow = Slow()
    let fixture = try OAuthFixture(
      answer: ScriptedTransport.token(members: #""refresh_token":"R""#)
    )
    .register()
    fixture.oauth.authorizationDelegate = slow
    fixture.oauth.tokenRefreshDelegate = slow
    try await fixture.oauth.signIn()
    try await eventually { slow.calls.withLock(\.self) == ["authorized"] }
    try await fixture.oauth.refresh()
    slow.gate.open()
    try await eventually {
      slow.calls.withLock(\.self) == ["authorized", "done", "refreshed"]
    }
  }

  @globalActor private actor Elsewhere {
    static let shared = Elsewhere()
  }

  /// A delegate that is usable only on its actor, which the SDK does not know.
  @Elsewhere private final class Unreachable: @Elsewhere AuthorizationDelegate {
    static let kept = Unreachable()
    func userIsSuccessfullyAuthorized(_ token: SQToken) {}
    func userIsNotAuthorized() {}
    func listen(to oauth: SQOAuth) { oauth.authorizationDelegate = self }
  }

  @Test(.ownThreads)
  func `an actor-isolated delegate that the SDK cannot call stops the program with advice`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let fixture = try OAuthFixture().register()
      await Unreachable.kept.listen(to: fixture.oauth)
      try await fixture.oauth.signIn()
      try await Task.sleep(for: .seconds(60))
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.contains("write `nonisolated` before the protocol's name"))
  }

  @Test(.ownThreads) func `a callback that waits for a blocked main thread prints one warning`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let watch = MainThreadWatch.shared
      let looks = Locked<[@Sendable () -> Void]>([])
      watch.setTimer { look in looks.withLock { $0.append(look) } }
      let isFree = DispatchSemaphore(value: 0)
      let fixture = try OAuthFixture().register()
      for number in 1...2 {
        DispatchQueue.main.async { isFree.wait() }
        try await fixture.oauth.signIn()
        try await eventually { watch.waiting == 1 && !looks.withLock(\.isEmpty) }
        let all = looks.withLock(\.self)
        try #require(all.count == 1, "after the warning nobody looks again")
        if number == 1 { all[0]() }
        isFree.signal()
        _ = await fixture.delegate.events(number)
      }
    }
    let errors = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(errors.components(separatedBy: "blocked").count == 2, "\(errors)")
    #expect(errors.contains("dispatchMain()") && errors.contains("callbackQueue"))
  }

  @Test(.ownThreads)
  func `a blocked-thread warning does not end a program whose standard error pipe has no reader`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      var ends: [Int32] = [-1, -1]
      let own = dup(2)
      try #require(pipe(&ends) == 0 && dup2(ends[1], 2) == 2)
      ends.forEach { close($0) }
      let watch = MainThreadWatch.shared
      watch.setTimer { look in look() }
      _ = watch.begin()
      // Restores standard error, because the test's process writes to it at its end.
      try #require(dup2(own, 2) == 2)
    }
  }
}
