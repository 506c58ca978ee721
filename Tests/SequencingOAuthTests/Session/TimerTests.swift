import Basics
import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// The token is renewed before it expires, once, for as long as there is a session.
@Suite("The timer", .timeLimit(.minutes(1))) struct TimerTests {
  @Test func `it starts with the sign-in and refreshes once when it is time`() async throws {
    let bench = try SessionFixture().withTimer()
    _ = try await bench.oauth.signIn()
    await bench.clock.hasSleeper()
    #expect(bench.module.refreshesAutomatically)
    bench.clock.advance(by: 3167.9)
    await bench.clock.hasSleeper()
    #expect(bench.refreshes.isEmpty)
    bench.clock.advance(by: 36.1)
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1"] && bench.clock.sleepers == 1)
    guard case .refreshed(let token) = bench.observer.events.first else { return }
    #expect(token.refreshToken == "R2")
    #expect(await bench.store.content() == "T2 R2")
    for round in 3...10 {
      bench.clock.advance(by: 3204)
      #expect(await bench.observer.words(round - 1).last == "refreshed T\(round)")
      await bench.clock.hasSleeper()
    }
    #expect(bench.refreshes.count == 9 && bench.clock.sleepers == 1)
  }

  /// A clock that records the times until which tasks sleep.
  final class NotingClock: WallClock {
    let clock: ManualClock
    private let notes = Locked<[Date]>([])
    var dates: [Date] { notes.withLock(\.self) }
    init(_ clock: ManualClock) { self.clock = clock }
    var now: Date { clock.now }
    func sleep(until date: Date) async throws {
      notes.withLock { $0.append(date) }
      try await clock.sleep(until: date)
    }
  }

  @Test func `clients of one server are spread`() async throws {
    var moments: [Double] = []
    for _ in 0..<40 {
      let bench = try SessionFixture()
      let clock = NotingClock(bench.clock)
      bench.oauth.environment.clock = clock
      try await bench.updating()
      moments.append(try #require(clock.dates.last).timeIntervalSince(bench.clock.now))
    }
    #expect(moments.allSatisfy { (3168...3204).contains($0) })
    #expect(Set(moments).count > 20)
    #expect((moments.max() ?? 0) - (moments.min() ?? 0) > 20)
  }

  @Test func `started again and again it is one`() async throws {
    let bench = try await SessionFixture().updating()
    let token = try #require(bench.module.currentToken)
    for _ in 0..<10 {
      bench.module.refreshesAutomatically = true
      bench.oauth.launchTokenTimerUpdate(with: token)
    }
    await bench.clock.hasSleeper()
    #expect(bench.clock.sleepers == 1)
    bench.clock.advance(by: 3204)
    _ = await bench.observer.words(1)
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1"] && bench.clock.sleepers == 1)
  }

  @Test func `callers at the same moment join it`() async throws {
    let bench = try await SessionFixture().updating()
    let module = bench.module
    bench.server.gate.close()
    bench.clock.advance(by: 3600)
    try await bench.server.gate.isHolding()
    let callers = (0..<100).map { _ in begin { try await module.token() } }
    bench.server.gate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(bench.refreshes == ["R1"])
  }

  @Test func `a failure is told and tried again when its back-off is over`() async throws {
    let bench = try await SessionFixture().updating()
    bench.server.always(ScriptedHTTPClient.json("", status: 500))
    bench.clock.advance(by: 3204)
    for (attempts, seconds) in [(1, 1.0), (2, 2), (3, 4), (4, 8)] {
      #expect(await bench.observer.words(attempts).last == "failed server_error")
      await bench.clock.hasSleeper()
      bench.clock.advance(by: seconds - 0.01)
      await bench.clock.hasSleeper()
      #expect(bench.refreshes.count == attempts)
      #expect(bench.module.validToken?.accessToken == "T1", "it lives on")
      bench.clock.advance(by: 0.01)
    }
    #expect(await bench.observer.words(5).count == 5)
    bench.server.always(nil)
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 16)
    #expect(await bench.observer.words(6).last == "refreshed T2")
    await bench.clock.hasSleeper()
    #expect(bench.clock.sleepers == 1 && bench.memory == "T2 R2")
  }

  @Test func `after a long time offline it goes on`() async throws {
    let bench = try await SessionFixture().updating()
    bench.server.always { _ in throw SQOAuthError(.connectionFailed, "offline") }
    for _ in 0..<50 {
      let count = bench.refreshes.count
      bench.clock.advance(by: 3600)
      try await eventually { bench.refreshes.count > count }
      await bench.clock.hasSleeper()
    }
    #expect(bench.memory == "T1 R1" && bench.refreshes.count == 50)
    bench.server.always(nil)
    bench.clock.advance(by: 60)
    try await eventually { bench.memory == "T2 R2" }
  }

  @Test func `a day later there is one refresh, not one for each hour`() async throws {
    let bench = try await SessionFixture().updating()
    bench.clock.advance(by: 86_400)
    _ = await bench.observer.words(1)
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1"])
  }

  @Test func `a clock that is moved back costs one refresh and no more`() async throws {
    let bench = try await SessionFixture().updating()
    bench.clock.advance(by: -86_400)
    #expect(bench.module.validToken == nil)
    #expect(try await bench.module.token().accessToken == "T2")
    await bench.clock.hasSleeper()
    #expect(try await bench.module.token().accessToken == "T2")
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(2).last == "refreshed T3")
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1", "R2"] && bench.clock.sleepers == 1)
  }

  @Test func `an invalidated token is replaced at once`() async throws {
    let bench = try await SessionFixture().updating()
    bench.module.invalidateAccessToken()
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    await bench.clock.hasSleeper()
    #expect(bench.refreshes == ["R1"])
  }

  /// A server that says `"expires_in":0` must not be asked without end.
  @Test(arguments: [0, 1]) func `tokens that are over at once make no storm`(
    lifetime: Int
  ) async throws {
    let bench = try await SessionFixture(lifetime: lifetime).restored()
    bench.module.refreshesAutomatically = true
    try await eventually("the timer sleeps, or storms") {
      bench.clock.sleepers > 0 || bench.refreshes.count > 50
    }
    let count = bench.refreshes.count
    #expect(count <= 1)
    bench.clock.advance(by: 1)
    try await eventually { bench.refreshes.count == count + 1 && bench.clock.sleepers == 1 }
    bench.module.refreshesAutomatically = false
  }

  @Test(arguments: ["sign-out", "off", "clear"])
  func `it stops`(how: String) async throws {
    let bench = try await SessionFixture().updating()
    switch how {
    case "sign-out": bench.oauth.userDidSignOut()
    case "off": bench.module.refreshesAutomatically = false
    default: try await bench.module.clearAccessToken()
    }
    try await eventually { bench.clock.sleepers == 0 }
    bench.clock.advance(by: 86_400)
    bench.clock.advance(by: 86_400)
    #expect(bench.requests.isEmpty && bench.clock.sleepers == 0)
  }

  @Test func `it starts again with the next sign-in`() async throws {
    let bench = try await SessionFixture().updating()
    bench.oauth.userDidSignOut()
    _ = try await bench.oauth.signIn()
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 3204)
    #expect(await bench.observer.words(2) == ["ended signedOut", "refreshed T3"])
    #expect(bench.refreshes == ["R2"])
  }

  @Test func `it goes by the clock that the app has set last`() async throws {
    let bench = try await SessionFixture().updating()
    let other = ManualClock()
    bench.oauth.environment.clock = other
    await other.hasSleeper()
    try await eventually { bench.clock.sleepers == 0 }
    bench.clock.advance(by: 86_400)
    #expect(bench.requests.isEmpty)
    other.advance(by: 3204)
    #expect(await bench.observer.words(1) == ["refreshed T2"])
    await other.hasSleeper()
    #expect(bench.refreshes == ["R1"] && other.sleepers == 1 && bench.clock.sleepers == 0)
  }

  @Test func `a token that cannot be refreshed, or has no expiry, needs none`() async throws {
    let bench = try await SessionFixture(lifetime: nil).restored()
    bench.module.refreshesAutomatically = true
    #expect(bench.clock.sleepers == 0)
    let other = try SessionFixture()
    other.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T", expirationDate: other.clock.now + 60))
    try await eventually { await other.store.content() == "T -" }
    #expect(other.clock.sleepers == 0)
    other.clock.advance(by: 86_400)
    #expect(other.requests.isEmpty)
  }
}
