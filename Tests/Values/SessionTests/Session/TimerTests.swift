import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// While a session lasts, each token is renewed once before it expires.
@Suite("The timer", .timeLimit(.minutes(1))) struct TimerTests {
  @Test func `the timer starts with the sign-in and refreshes each token once when it is due`()
    async throws
  {
    let fixture = try SessionFixture().withTimer()
    _ = try await fixture.oauth.signIn()
    await fixture.clock.hasSleeper()
    #expect(fixture.module.refreshesAutomatically)
    fixture.clock.advance(by: 3167.9)
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes.isEmpty)
    fixture.clock.advance(by: 36.1)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1"] && fixture.clock.sleepers == 1)
    guard case .refreshed(let token) = fixture.observer.events.first else { return }
    #expect(token.refreshToken == "R2")
    #expect(await fixture.store.content() == "T2 R2")
    for round in 3...10 {
      fixture.clock.advance(by: 3204)
      #expect(await fixture.observer.words(round - 1).last == "refreshed T\(round)")
      await fixture.clock.hasSleeper()
    }
    #expect(fixture.refreshes.count == 9 && fixture.clock.sleepers == 1)
  }

  /// A clock that records the dates until which tasks sleep.
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

  @Test func `the refreshes of one server's clients are spread over time`() async throws {
    var moments: [Double] = []
    for _ in 0..<40 {
      let fixture = try SessionFixture()
      let clock = NotingClock(fixture.clock)
      fixture.oauth.environment.clock = clock
      try await fixture.updating()
      moments.append(try #require(clock.dates.last).timeIntervalSince(fixture.clock.now))
    }
    #expect(moments.allSatisfy { (3168...3204).contains($0) })
    #expect(Set(moments).count > 20)
    #expect((moments.max() ?? 0) - (moments.min() ?? 0) > 20)
  }

  @Test func `starting the timer repeatedly causes only one refresh`() async throws {
    let fixture = try await SessionFixture().updating()
    let token = try #require(fixture.module.currentToken)
    for _ in 0..<10 {
      fixture.module.refreshesAutomatically = true
      fixture.oauth.launchTokenTimerUpdate(with: token)
    }
    await fixture.clock.hasSleeper()
    #expect(fixture.clock.sleepers == 1)
    fixture.clock.advance(by: 3204)
    _ = await fixture.observer.words(1)
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1"] && fixture.clock.sleepers == 1)
  }

  @Test func `callers at the same moment join the timer's refresh`() async throws {
    let fixture = try await SessionFixture().updating()
    let module = fixture.module
    fixture.server.gate.close()
    fixture.clock.advance(by: 3600)
    try await fixture.server.gate.isHolding()
    let callers = (0..<100).map { _ in begin { try await module.token() } }
    fixture.server.gate.open()
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `a failure is reported, and the refresh is repeated after its back-off`() async throws
  {
    let fixture = try await SessionFixture().updating()
    fixture.server.always(ScriptedTransport.json("", status: 500))
    fixture.clock.advance(by: 3204)
    for (attempts, seconds) in [(1, 1.0), (2, 2), (3, 4), (4, 8)] {
      #expect(await fixture.observer.words(attempts).last == "failed server_error")
      await fixture.clock.hasSleeper()
      fixture.clock.advance(by: seconds - 0.01)
      await fixture.clock.hasSleeper()
      #expect(fixture.refreshes.count == attempts)
      #expect(fixture.module.validToken?.accessToken == "T1", "the old token is still valid")
      fixture.clock.advance(by: 0.01)
    }
    #expect(await fixture.observer.words(5).count == 5)
    fixture.server.always(nil)
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 16)
    #expect(await fixture.observer.words(6).last == "refreshed T2")
    await fixture.clock.hasSleeper()
    #expect(fixture.clock.sleepers == 1 && fixture.memory == "T2 R2")
  }

  @Test func `the timer goes on after a long time offline`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.server.always { _ in throw SQOAuthError(.connectionFailed, "offline") }
    for _ in 0..<50 {
      let count = fixture.refreshes.count
      fixture.clock.advance(by: 3600)
      try await eventually { fixture.refreshes.count > count }
      await fixture.clock.hasSleeper()
    }
    #expect(fixture.memory == "T1 R1" && fixture.refreshes.count == 50)
    fixture.server.always(nil)
    fixture.clock.advance(by: 60)
    try await eventually { fixture.memory == "T2 R2" }
  }

  @Test func `if the clock jumps by a day, the timer refreshes only once`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.clock.advance(by: 86_400)
    _ = await fixture.observer.words(1)
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `a clock that moves back causes only one refresh`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.clock.advance(by: -86_400)
    #expect(fixture.module.validToken == nil)
    #expect(try await fixture.module.token().accessToken == "T2")
    await fixture.clock.hasSleeper()
    #expect(try await fixture.module.token().accessToken == "T2")
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(2).last == "refreshed T3")
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1", "R2"] && fixture.clock.sleepers == 1)
  }

  /// The token is still valid by the clock that was moved back by 300 s.
  @Test(arguments: [-300.0, -32_400])
  func `if the date is moved back, the timer refreshes after the planned wait`(seconds: Double)
    async throws
  {
    let fixture = try await SessionFixture().updating()
    fixture.clock.advance(by: 1800)
    fixture.clock.moveDate(by: seconds)
    fixture.clock.advance(by: 1367.9)
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes.isEmpty)
    fixture.clock.advance(by: 36.1)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(2).last == "refreshed T3")
    await fixture.clock.hasSleeper()
    #expect(fixture.refreshes == ["R1", "R2"] && fixture.clock.sleepers == 1)
  }

  @Test(arguments: [-300.0, -32_400])
  func `if the date is moved back, a failed refresh is repeated only after its back-off`(
    seconds: Double
  ) async throws {
    let fixture = try await SessionFixture().updating()
    fixture.server.always(ScriptedTransport.json("", status: 500))
    fixture.clock.moveDate(by: seconds)
    fixture.clock.advance(by: 3204)
    for (attempts, pause) in [(1, 1.0), (2, 2), (3, 4)] {
      #expect(await fixture.observer.words(attempts).last == "failed server_error")
      await fixture.clock.hasSleeper()
      fixture.clock.advance(by: pause - 0.01)
      await fixture.clock.hasSleeper()
      #expect(fixture.refreshes.count == attempts)
      fixture.clock.advance(by: 0.01)
    }
    #expect(await fixture.observer.words(4).count == 4)
    // Another step back does not lengthen the pause.
    fixture.server.always(nil)
    await fixture.clock.hasSleeper()
    fixture.clock.moveDate(by: seconds)
    fixture.clock.advance(by: 8)
    #expect(await fixture.observer.words(5).last == "refreshed T2")
  }

  @Test(arguments: [3600, nil] as [Int?])
  func `the timer refreshes an invalidated token at once`(lifetime: Int?) async throws {
    let fixture = try await SessionFixture(lifetime: lifetime).restored().withTimer()
    fixture.module.invalidateAccessToken()
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    // Only a token that expires is due again.
    try await eventually { fixture.clock.sleepers == (lifetime == nil ? 0 : 1) }
    try await fixture.module.flush()
    #expect(fixture.refreshes == ["R1"])
  }

  /// A server that sends `"expires_in":0` must not get requests without a pause.
  @Test(arguments: [0, 1])
  func `tokens with a lifetime of 0 or 1 s are refreshed at most once per second`(
    lifetime: Int
  ) async throws {
    let fixture = try await SessionFixture(lifetime: lifetime).restored()
    fixture.module.refreshesAutomatically = true
    try await eventually("the timer sleeps, or sends too many requests") {
      fixture.clock.sleepers > 0 || fixture.refreshes.count > 50
    }
    let count = fixture.refreshes.count
    #expect(count <= 1)
    fixture.clock.advance(by: 1)
    try await eventually { fixture.refreshes.count == count + 1 && fixture.clock.sleepers == 1 }
    fixture.module.refreshesAutomatically = false
  }

  @Test(arguments: ["sign-out", "off", "clear"])
  func `the timer stops after a sign-out, or when the app turns it off`(how: String) async throws {
    let fixture = try await SessionFixture().updating()
    switch how {
    case "sign-out": fixture.oauth.userDidSignOut()
    case "off": fixture.module.refreshesAutomatically = false
    default: try await fixture.module.signOut()
    }
    try await eventually { fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    fixture.clock.advance(by: 86_400)
    #expect(fixture.requests.isEmpty && fixture.clock.sleepers == 0)
  }

  @Test func `the timer starts again with the next sign-in`() async throws {
    let fixture = try await SessionFixture().updating()
    fixture.oauth.userDidSignOut()
    _ = try await fixture.oauth.signIn()
    await fixture.clock.hasSleeper()
    fixture.clock.advance(by: 3204)
    #expect(await fixture.observer.words(2) == ["ended signedOut", "refreshed T3"])
    #expect(fixture.refreshes == ["R2"])
  }

  @Test func `the timer uses the clock that the app has set last`() async throws {
    let fixture = try await SessionFixture().updating()
    let other = ManualClock()
    fixture.oauth.environment.clock = other
    await other.hasSleeper()
    try await eventually { fixture.clock.sleepers == 0 }
    fixture.clock.advance(by: 86_400)
    #expect(fixture.requests.isEmpty)
    other.advance(by: 3204)
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    await other.hasSleeper()
    #expect(fixture.refreshes == ["R1"] && other.sleepers == 1 && fixture.clock.sleepers == 0)
  }

  @Test func `a token without an expiration or without a refresh token needs no timer`()
    async throws
  {
    let fixture = try await SessionFixture(lifetime: nil).restored()
    fixture.module.refreshesAutomatically = true
    #expect(fixture.clock.sleepers == 0 && fixture.module.session.dueAt == nil)
    let other = try SessionFixture()
    other.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T", expirationDate: other.clock.now + 60))
    try await eventually { await other.store.content() == "T -" }
    #expect(other.clock.sleepers == 0 && other.module.session.dueAt == nil)
    other.clock.advance(by: 86_400)
    #expect(other.requests.isEmpty)
  }
}
