import Foundation
import SequencingOAuth
import Testing

@Suite(.timeLimit(.minutes(1))) struct SystemClockTests {
  let clock = SystemClock()

  @Test func `the clock returns the current date and time`() {
    let before = Date()
    let now = clock.now
    #expect(before <= now && now <= Date())
  }

  @Test(arguments: [Duration.seconds(Int64.max) * 18, .seconds(Int64.max)])
  func `a wait of any duration can be cancelled`(duration: Duration) async {
    let wait = Task { try await clock.sleep(for: duration) }
    await Task.yield()
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
  }

  @Test func `showsSystemTime is false by default for a custom clock`() {
    struct FixedClock: WallClock {
      let now = Date.distantPast
      func sleep(until date: Date) async throws {}
    }
    #expect(clock.showsSystemTime && !FixedClock().showsSystemTime)
  }

  /// The SDK holds no lock when it calls a clock.
  @Test func `a clock may use the account while the SDK asks it`() {
    final class AskingClock: WallClock {
      let oauth: SQOAuth
      init(_ oauth: SQOAuth) { self.oauth = oauth }
      var now: Date { Date() }
      var showsSystemTime: Bool { oauth.isAuthorized }
      func sleep(until date: Date) async throws {}
    }
    let oauth = SQOAuth()
    oauth.environment.clock = AskingClock(oauth)
    #expect(!oauth.environment.clock.showsSystemTime)
    oauth.environment.clock = SystemClock()
  }

  @Test func `a clock may use the account manager while the SDK asks it`() async throws {
    final class AskingClock: WallClock {
      /// It is set before any other thread uses the clock.
      nonisolated(unsafe) weak var manager: AccountManager?
      var now: Date { Date() }
      var showsSystemTime: Bool { manager?.module(id: "a") != nil }
      func sleep(until date: Date) async throws {}
    }
    let clock = AskingClock()
    var environment = ClientEnvironment()
    environment.clock = clock
    let manager = AccountManager(store: MemoryTokenStore(), environment: environment)
    clock.manager = manager
    let configuration = try ClientConfiguration(
      clientID: "client", redirectURI: "com.example.app:/cb",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"))
    let module = try await manager.account(configuration, id: "a")
    #expect(manager.module(id: "a") === module)
  }

  @Test(arguments: [-1e9, -1, 0])
  func `a sleep until a past date returns at once`(seconds: TimeInterval) async throws {
    try await clock.sleep(until: clock.now + seconds)
    try await clock.sleep(until: .distantPast)
  }

  @Test func `a sleep does not return before its date`() async throws {
    let date = clock.now + 0.05
    try await clock.sleep(until: date)
    #expect(clock.now >= date)
  }

  @Test func `a cancelled task ends a sleep of any length`() async {
    for date in [Date.distantFuture, clock.now + 3600, Date(timeIntervalSince1970: 1e300)] {
      let sleeping = Task { try await clock.sleep(until: date) }
      await Task.yield()
      sleeping.cancel()
      await #expect(throws: CancellationError.self) { try await sleeping.value }
    }
  }
}
