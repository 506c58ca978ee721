import Basics
import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// `requestAccess`, which gets a token in any way that is possible.
@Suite("requestAccess", .timeLimit(.minutes(1))) struct RequestAccessTests {
  @Test func `without a token the browser opens, once`() async throws {
    let bench = try SessionFixture()
    #expect(try await bench.module.requestAccess().accessToken == "T1")
    #expect(bench.bench.opened.count == 1 && bench.requests == ["authorization_code"])
    #expect(try await bench.module.requestAccess().accessToken == "T1")
    #expect(bench.bench.opened.count == 1 && bench.requests.count == 1)
  }

  @Test func `a valid token costs nothing`() async throws {
    let bench = try await SessionFixture().restored()
    #expect(try await bench.module.requestAccess() == bench.module.currentToken)
    #expect(bench.requests.isEmpty && bench.bench.opened.isEmpty)
  }

  @Test func `a stored one costs nothing either`() async throws {
    let bench = try SessionFixture()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now)))
    #expect(try await bench.module.requestAccess().accessToken == "T1")
    #expect(bench.requests.isEmpty && bench.bench.opened.isEmpty)
  }

  @Test func `an expired one is refreshed and the browser stays closed`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.requestAccess().accessToken == "T2")
    #expect(bench.requests == ["refresh R1"] && bench.bench.opened.isEmpty)
  }

  @Test func `a refresh that fails otherwise opens no browser`() async throws {
    let bench = try await SessionFixture().restored()
    bench.clock.advance(by: 3600)
    bench.server.always(ScriptedHTTPClient.json("", status: 500))
    await failure(.serverError) { try await bench.module.requestAccess() }
    #expect(bench.bench.opened.isEmpty && bench.memory == "T1 R1")
  }

  @Test func `an expired one without a refresh token opens the browser`() async throws {
    let bench = try SessionFixture()
    bench.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T0", expirationDate: bench.clock.now))
    #expect(try await bench.module.requestAccess().accessToken == "T1")
    #expect(bench.bench.opened.count == 1 && bench.memory == "T1 R1")
  }

  @Test func `a refused one is cleared and the browser opens, for all callers once`() async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    bench.server.next(SessionEndTests.invalidGrant)
    bench.server.signInGate.close()
    let callers = (0..<50).map { _ in begin { try await module.requestAccess() } }
    try await bench.server.gate.isHolding()
    bench.server.gate.open()
    try await bench.server.signInGate.isHolding()
    #expect(bench.memory == nil)
    try await eventually { await bench.store.content() == nil }
    bench.server.signInGate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(bench.requests == ["refresh R1", "authorization_code"])
    #expect(bench.bench.opened.count == 1)
  }

  /// Lets two callers wait for a refresh that is refused; one of them continues only when the other
  /// has got the browser's answer.
  private func latecomer(
    to bench: SessionFixture
  ) async throws -> (first: Result<SQToken, any Error>, second: Result<SQToken, any Error>) {
    let module = bench.module
    bench.clock.advance(by: 3600)
    bench.server.gate.close()
    bench.server.next(SessionEndTests.invalidGrant)
    let executor = HoldingExecutor()
    let second = Task(executorPreference: executor) { try await module.requestAccess() }
    try await bench.server.gate.isHolding()
    try await executor.rests()
    executor.hold()
    let first = begin { try await module.requestAccess() }
    bench.server.gate.open()
    let outcome = await first.result
    executor.letGo()
    return (outcome, await second.result)
  }

  @Test func `one that comes late has the token that another's sign-in brought`() async throws {
    let bench = try await SessionFixture().restored()
    let (first, second) = try await latecomer(to: bench)
    #expect(try first.get().accessToken == "T2" && second.get().accessToken == "T2")
    #expect(bench.requests == ["refresh R1", "authorization_code"])
    #expect(bench.bench.opened.count == 1)
  }

  @Test func `one that comes later still, without a look at the token, begins no sign-in`()
    async throws
  {
    let bench = try SessionFixture()
    let endCount = bench.module.signIns.endCount
    _ = try await bench.module.signIn()
    #expect(try await bench.module.signIn(since: endCount) == nil)
    #expect(bench.bench.opened.count == 1)
  }

  @Test func `one that comes late does not ask a user again who has said no`() async throws {
    let bench = try await SessionFixture(browser: { bench, page in
      bench.oauth.handleRedirect(try page.redirect("error=access_denied"))
    }).restored()
    let (first, second) = try await latecomer(to: bench)
    failure(.accessDenied) { try first.get() }
    failure(.accessDenied) { try second.get() }
    #expect(bench.bench.opened.count == 1 && bench.memory == nil)
  }

  @Test func `one that comes late is told of a sign-in that was cancelled`() async throws {
    let bench = try await SessionFixture(browser: { bench, _ in bench.oauth.module.cancelSignIn() })
      .restored()
    let (first, second) = try await latecomer(to: bench)
    failure(.cancelled) { try first.get() }
    failure(.cancelled) { try second.get() }
    #expect(bench.bench.opened.count == 1)
  }

  @Test func `a later call after a sign-in that failed opens the browser again`() async throws {
    let refuses = Locked(true)
    let bench = try SessionFixture(browser: { bench, page in
      if refuses.withLock(\.self) {
        bench.oauth.handleRedirect(try page.redirect("error=access_denied"))
      } else {
        try await OAuthFixture.allow(bench, page)
      }
    })
    await failure(.accessDenied) { try await bench.module.requestAccess() }
    refuses.withLock { $0 = false }
    #expect(try await bench.module.requestAccess().accessToken == "T1")
    #expect(bench.bench.opened.count == 2)
  }

  @Test func `a user who says no is an error, and nothing hangs`() async throws {
    let bench = try SessionFixture(browser: { bench, page in
      bench.oauth.handleRedirect(try page.redirect("error=access_denied"))
    })
    let error = await failure(.accessDenied) { try await bench.module.requestAccess() }
    #expect(error?.isCancellation == true && bench.memory == nil)
  }
}
