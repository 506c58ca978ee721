import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A single timer serves many accounts, and renews each at its own time.
@Suite("The timer of many sessions", .timeLimit(.minutes(1))) struct SessionTimersTests {
  let clock = ManualClock()
  let store = MemoryTokenStore()
  /// Sends tokens that never expire, so each session is renewed once.
  let http = ScriptedTransport(ScriptedTransport.token(members: #""scope":"demo""#))

  /// The numbers of the renewed sessions, in order.
  var renewed: [Int] {
    http.forms.compactMap { $0["refresh_token"].flatMap(Int.init) }
  }

  /// Creates sessions in this order.
  ///
  /// The session with number n is due in span n, counted from 0. Each span has 1000 s. After a
  /// session in `moves`, the date is moved by that many seconds.
  func sessions(
    _ order: [Int], clock: (any WallClock)? = nil, moves: [Int: TimeInterval] = [:]
  ) async throws -> [Int: AuthorizationModule] {
    var environment = ClientEnvironment()
    environment.clock = clock ?? self.clock
    environment.tokenStore = store
    environment.transport = http
    let configuration = try ClientConfiguration(
      clientID: "client", redirectURI: "com.example.app:/cb",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"))
    var modules: [Int: AuthorizationModule] = [:]
    for number in order {
      // The timer renews a token 550 to 600 s before its end.
      let life = 5600 + 1000 * Double(number)
      let token = SQToken(
        accessToken: "T", expirationDate: self.clock.now + life, refreshToken: "\(number)",
        issueDate: self.clock.now)
      await store.save(AccountRecord(id: "\(number)", clientID: "client", token: token))
      let module = AuthorizationModule(
        configuration: configuration, environment: environment, accountID: "\(number)")
      try await module.restore()
      module.refreshesAutomatically = true
      modules[number] = module
      if let seconds = moves[number] { self.clock.moveDate(by: seconds) }
    }
    return modules
  }

  /// Advances the clock span by span, and checks that only the due sessions are renewed.
  func pass(_ numbers: [Int]) async throws {
    let before = renewed
    clock.advance(by: 5000)
    for number in 0...(numbers.max() ?? 0) {
      clock.advance(by: number == 0 ? 100 : 1000)
      let expected = before + numbers.filter { $0 <= number }
      try await eventually { renewed.count >= expected.count }
      #expect(renewed == expected, "in the span \(number)")
    }
  }

  @Test(arguments: [
    [0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 1, 5, 2, 4], [5, 6, 3, 4, 1, 2, 0],
  ])
  func `each session is renewed at its own time, in whatever order the sessions start`(order: [Int])
    async throws
  {
    let modules = try await sessions(order)
    try await pass(order.sorted())
    withExtendedLifetime(modules) {}
  }

  @Test(arguments: [
    // The last session takes the removed one's place in the heap, and must move up from there:
    ([2, 3, 1, 6, 4, 5, 0], 6),
    // The last session must move down from there; in the last two cases, it is itself removed:
    ([0, 1, 2, 3, 4, 5, 6], 1), ([0, 1, 2, 3, 4, 5, 6], 0), ([0, 1, 2, 3, 4, 5, 6], 6), ([0], 0),
  ])
  func `a stopped session is not renewed, and the other sessions are renewed at their own times`(
    order: [Int], gone: Int
  )
    async throws
  {
    let modules = try await sessions(order)
    modules[gone]?.refreshesAutomatically = false
    try await pass(order.filter { $0 != gone }.sorted())
    // No sleeping task is left that could renew a session later.
    try await eventually { clock.sleepers == 0 }
    clock.advance(by: 1e6)
    #expect(!renewed.contains(gone))
    withExtendedLifetime(modules) {}
  }

  @Test(arguments: [1, 2, 3])
  func `after random stops and starts, each running session is renewed at its own time`(
    seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let order = (0..<24).shuffled(using: &random)
    let modules = try await sessions(order)
    for number in order.shuffled(using: &random) {
      modules[number]?.refreshesAutomatically = false
      if Bool.random(using: &random) { modules[number]?.refreshesAutomatically = true }
    }
    try await pass(order.filter { modules[$0]?.refreshesAutomatically == true }.sorted())
    withExtendedLifetime(modules) {}
  }

  @Test
  func `a session whose token is invalidated is renewed at once, and not again at its old time`()
    async throws
  {
    let modules = try await sessions([0, 1, 2, 3, 4, 5, 6])
    modules[5]?.invalidateAccessToken()
    try await eventually { renewed == [5] }
    try await pass([0, 1, 2, 3, 4, 6])
    withExtendedLifetime(modules) {}
  }

  @Test func `when the timer wakes up, all due sessions are renewed and the other session is not`()
    async throws
  {
    let modules = try await sessions([2, 0, 3, 1])
    clock.advance(by: 7200)
    try await eventually { renewed.count >= 3 }
    #expect(Set(renewed) == [0, 1, 2] && renewed.count == 3)
    clock.advance(by: 1000)
    try await eventually { renewed.count >= 4 }
    #expect(renewed.last == 3)
    withExtendedLifetime(modules) {}
  }

  @Test(arguments: [-300.0, -32_400])
  func `if the date is moved back, each session is renewed after its planned wait`(seconds: Double)
    async throws
  {
    let modules = try await sessions([2, 0, 3, 1])
    clock.moveDate(by: seconds)
    try await pass([0, 1, 2, 3])
    withExtendedLifetime(modules) {}
  }

  @Test func `if the date is moved forward, the sessions that are due by it are renewed`()
    async throws
  {
    let modules = try await sessions([1, 0, 6, 5], moves: [0: -100_000])
    clock.moveDate(by: 105_500)
    try await eventually { renewed.count >= 3 }
    #expect(Set(renewed) == [0, 5, 6] && renewed.count == 3)
    clock.moveDate(by: 1000)
    try await eventually { renewed.count >= 4 }
    #expect(renewed.last == 1)
    withExtendedLifetime(modules) {}
  }

  /// An app's own clock, which ends a sleep when the test says so and ignores cancellation.
  final class DeafClock: WallClock {
    private let state: Locked<(now: Date, looks: Int, sleeps: [Gate])>
    init(now: Date) { state = Locked((now, 0, [])) }

    /// The number of times that the date was read.
    var looks: Int { state.withLock(\.looks) }
    var sleeps: [Gate] { state.withLock(\.sleeps) }
    var now: Date {
      state.withLock { state in
        state.looks += 1
        return state.now
      }
    }

    func sleep(until date: Date) async throws {
      let gate = Gate(isOpen: false)
      state.withLock { $0.sleeps.append(gate) }
      await gate.pass()
    }
  }

  @Test func `a sleeping task that was replaced renews nothing when it wakes up`() async throws {
    let deaf = DeafClock(now: clock.now)
    let modules = try await sessions([1], clock: deaf)
    try await eventually { deaf.sleeps.count == 1 }
    // The session is due earlier now, so a new sleeper replaces the first one.
    modules[1]?.invalidateAccessToken()
    try await eventually { deaf.sleeps.count == 2 }
    let looks = deaf.looks
    deaf.sleeps.first?.open()
    try await eventually { deaf.looks > looks }
    #expect(renewed.isEmpty)
    deaf.sleeps.last?.open()
    try await eventually { renewed == [1] }
    #expect(deaf.sleeps.count == 2)
    withExtendedLifetime(modules) {}
  }
}
