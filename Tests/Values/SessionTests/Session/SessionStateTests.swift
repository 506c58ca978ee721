import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The decisions of a session without any I/O: use, join, start, absent or fail.
@Suite struct SessionStateTests {
  static let now = Date(timeIntervalSince1970: 1_750_000_000)

  static func record(
    _ access: String = "T1", refresh: String? = "R1", life: Double? = 3600, issued: Double? = 0,
    grant: AccountRecord.Grant? = nil
  ) -> AccountRecord {
    AccountRecord(
      id: "a", clientID: "c", grant: grant,
      token: SQToken(
        accessToken: access, expirationDate: life.map { now + (issued ?? 0) + $0 },
        refreshToken: refresh, issueDate: issued.map { now + $0 }))
  }

  /// Returns a session that has a token.
  static func holding(_ record: AccountRecord = record()) -> SessionState {
    var state = SessionState()
    state.hold(record, at: now, jitter: 0)
    return state
  }

  /// Describes a step in a word.
  static func word(_ step: SessionState.Step) -> String {
    switch step {
    case .use(let token): "use \(token.accessToken)"
    case .join: "join"
    case .start: "start"
    case .absent: "absent"
    case .lapsed: "lapsed"
    case .fail(let error): "fail \(error.code)"
    }
  }

  /// Returns what a caller with this need must do at this time, without changing the state.
  func step(_ state: SessionState, _ need: SessionState.Need, at moment: Double) -> String {
    var state = state
    return Self.word(state.step(need, at: Self.now + moment))
  }

  /// Every need, in the order of the tables.
  static let needs: [SessionState.Need] = [
    .valid, .replacing("T1"), .replacing("T0"), .new(since: 0), .due,
  ]

  func steps(_ state: SessionState, at moment: Double) -> [String] {
    Self.needs.map { step(state, $0, at: moment) }
  }

  /// The token lives for 3600 s.
  ///
  /// It is due at 3204 s and returned until 3570 s.
  @Test(
    arguments: [
      (0, ["use T1", "start", "use T1", "start", "use T1"]),
      (3203, ["use T1", "start", "use T1", "start", "use T1"]),
      (3204, ["use T1", "start", "use T1", "start", "start"]),
      (3570, ["start", "start", "start", "start", "start"]),
      (9999, ["start", "start", "start", "start", "start"]),
      (-60, ["use T1", "start", "use T1", "start", "use T1"]),
      (-61, ["start", "start", "start", "start", "start"]),
    ] as [(Double, [String])])
  func `a token is used or renewed depending on the caller's need and the token's age`(
    moment: Double, expected: [String]
  ) {
    #expect(steps(Self.holding(), at: moment) == expected)
  }

  /// The state of each account has room for several errors, and so has each wait for a token.
  @Test func `an optional SQOAuthError has the size of one machine word`() {
    #expect(MemoryLayout<SQOAuthError?>.size == MemoryLayout<Int>.size)
  }

  @Test func `an empty session has no token for any caller`() {
    #expect(steps(SessionState(), at: 0) == Array(repeating: "absent", count: 5))
  }

  @Test func `a token that cannot be renewed is used until it expires`() {
    let state = Self.holding(Self.record(refresh: nil))
    #expect(steps(state, at: 3599) == ["use T1", "lapsed", "use T1", "lapsed", "use T1"])
    #expect(steps(state, at: 3600) == Array(repeating: "lapsed", count: 5))
    #expect(state.dueAt(renews: true) == nil)
  }

  @Test func `a client credentials token is renewed although it has no refresh token`() {
    let state = Self.holding(
      Self.record(refresh: nil, grant: .clientCredentials(scope: nil)))
    #expect(step(state, .valid, at: 3570) == "start")
    #expect(state.dueAt(renews: true) == Self.now + 3204)
  }

  @Test func `each caller that needs a new token joins a running renewal`() throws {
    var state = Self.holding()
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: Self.now) else {
      Issue.record("no renewal was started")
      return
    }
    #expect(steps(state, at: 0) == ["use T1", "join", "use T1", "join", "use T1"])
    #expect(steps(state, at: 3600) == Array(repeating: "join", count: 5))
    state.endRenewal(renewal, at: Self.now)
    #expect(
      step(state, .new(since: 0), at: 0) == "use T1", "a caller from before the end gets its token")
    #expect(step(state, .new(since: 1), at: 0) == "start")
  }

  @Test func `each caller that needs a new token waits while another token is being taken over`() {
    var state = Self.holding()
    let (takeover, void) = state.beginTakeover()
    #expect(void == nil)
    #expect(steps(state, at: 0) == ["use T1", "join", "use T1", "join", "use T1"])
    #expect(steps(state, at: 3600) == Array(repeating: "join", count: 5))
    state.end(takeover)
    #expect(step(state, .new(since: 0), at: 0) == "start")
  }

  @Test func `taking over a token invalidates a running renewal and an earlier takeover`()
    throws
  {
    var state = Self.holding()
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: Self.now) else {
      Issue.record("no renewal was started")
      return
    }
    let (first, void) = state.beginTakeover()
    #expect(void?.work === renewal.work)
    #expect(!state.isCurrent(renewal) && state.isCurrent(first))
    state.endRenewal(renewal, at: Self.now)
    #expect(step(state, .new(since: 0), at: 0) == "join", "the takeover is still under way")
    let (second, _) = state.beginTakeover()
    #expect(!state.isCurrent(first) && state.isCurrent(second))
    state.end(first)
    #expect(step(state, .new(since: 0), at: 0) == "join", "the second one is still under way")
    state.end(second)
    #expect(step(state, .new(since: 0), at: 0) == "start")
  }

  @Test func `the failure of an invalidated renewal is ignored`() {
    var state = Self.holding()
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: Self.now) else {
      Issue.record("no renewal was started")
      return
    }
    let (takeover, _) = state.beginTakeover()
    state.hold(Self.record("T2"), at: Self.now, jitter: 0)
    state.end(takeover)
    let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: Self.now)
    #expect(!counts)
    #expect(step(state, .new(since: 0), at: 0) == "start")
    #expect(state.renewals == 0)
  }

  @Test func `callers that need a new token get a renewal's error until its back-off ends`() {
    var state = Self.holding()
    let failed = Self.now + 3300
    guard case .start(let renewal, _) = state.step(.due, at: failed) else {
      Issue.record("no renewal was started")
      return
    }
    let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: failed)
    #expect(counts)
    let refusal = "fail server_error"
    #expect(steps(state, at: 3300.5) == ["use T1", refusal, "use T1", refusal, refusal])
    #expect(state.dueAt(renews: true) == failed + 1, "the timer tries again then")
    #expect(steps(state, at: 3301) == ["use T1", "start", "use T1", "start", "start"])
    // A clock that moves back does not lengthen the back-off.
    #expect(step(state, .new(since: 0), at: 3299) == "start")
  }

  @Test func `if an early renewal fails, the old token is used until it expires`() {
    var state = Self.holding()
    let failed = Self.now + 3570
    guard case .start(let renewal, _) = state.step(.valid, at: failed) else {
      Issue.record("no renewal was started")
      return
    }
    let counts = state.fail(
      renewal, SQOAuthError(.serverError, "x", retryAfter: .seconds(120)), at: failed)
    #expect(counts)
    #expect(step(state, .valid, at: 3599) == "use T1")
    #expect(step(state, .replacing("T1"), at: 3599) == "fail server_error")
    #expect(step(state, .valid, at: 3600) == "fail server_error")
    #expect(step(state, .valid, at: 3690) == "start")
  }

  @Test func `consecutive failures double the back-off, and a token resets it`() {
    var state = Self.holding()
    var moment = 4000.0
    for seconds in [1.0, 2, 4, 8, 16, 32, 60, 60] {
      guard case .start(let renewal, _) = state.step(.valid, at: Self.now + moment) else {
        Issue.record("no renewal was started")
        return
      }
      let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: Self.now + moment)
      #expect(counts)
      #expect(step(state, .valid, at: moment + seconds - 0.01) == "fail server_error")
      moment += seconds
    }
    state.hold(Self.record("T2", issued: moment), at: Self.now + moment, jitter: 0)
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: Self.now + moment) else {
      Issue.record("the token did not end the failure")
      return
    }
    let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: Self.now + moment)
    #expect(counts)
    #expect(step(state, .new(since: 0), at: moment + 1) == "start", "counted from 1 s again")
  }

  /// The token does not expire, or is not due for 3204 s.
  @Test(arguments: [nil, 3600] as [Double?])
  func `an ID token that waits for validation is due at once, and again after a failure's back-off`(
    life: Double?
  ) {
    let old = Self.record(life: life)
    #expect(Self.holding(old).dueAt(renews: true) == life.map { _ in Self.now + 3204 })
    let new = Self.record("T2", refresh: "R2", life: life).token
    var state = Self.holding(old.refreshed(new, attributes: [:], pending: new))
    #expect(state.dueAt(renews: true) == .distantPast && state.dueAt(renews: false) == nil)
    #expect(step(state, .valid, at: 0) == "use T1")
    guard case .start(let renewal, _) = state.step(.due, at: Self.now) else {
      Issue.record("no renewal was started")
      return
    }
    let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: Self.now)
    #expect(counts && state.dueAt(renews: true) == Self.now + 1)
    #expect(step(state, .due, at: 0.5) == "fail server_error")
    #expect(step(state, .due, at: 1) == "start")
  }

  @Test func `an invalidated token is due at once even if it does not expire`() {
    var state = Self.holding(Self.record(life: nil))
    #expect(state.dueAt(renews: true) == nil && step(state, .due, at: 1e9) == "use T1")
    state.invalidate()
    #expect(state.dueAt(renews: true) == .distantPast && step(state, .due, at: 0) == "start")
    state = Self.holding(Self.record(refresh: nil, life: nil))
    state.invalidate()
    #expect(state.dueAt(renews: true) == nil, "it cannot be renewed")
  }

  @Test func `an invalidated token is treated as expired until a new token replaces it`() {
    var state = Self.holding()
    state.invalidate()
    #expect(steps(state, at: 0) == Array(repeating: "start", count: 5))
    #expect(state.token?.accessToken == "T1" && state.usableToken(at: Self.now) == nil)
    #expect(state.unexpiredToken(at: Self.now) == nil)
    #expect(state.dueAt(renews: true) == .distantPast)
    state.hold(Self.record("T2"), at: Self.now, jitter: 0)
    #expect(step(state, .valid, at: 0) == "use T2")
  }

  @Test func `a sign-out erases the record and invalidates a running renewal or takeover`() {
    var state = Self.holding()
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: Self.now) else {
      Issue.record("no renewal was started")
      return
    }
    let void = state.end(.signedOut, isByApp: true)
    #expect(void?.work === renewal.work)
    #expect(!state.isCurrent(renewal) && state.record == nil && state.ends == 1)
    #expect(state.dueAt(renews: true) == nil && state.recordToSaveAgain(at: .distantFuture) == nil)
    #expect(step(state, .valid, at: 0) == "absent")
    let (takeover, _) = state.beginTakeover()
    #expect(state.end(.signedOut, isByApp: true)?.work === takeover.work)
    #expect(!state.isCurrent(takeover) && state.ends == 2)
  }

  @Test
  func `the end of a session is reported after earlier events, and only if there was a token`() {
    var state = SessionState()
    _ = state.end(.signedOut, isByApp: true)
    #expect(!state.hasEvents)
    state.hold(Self.record(), at: Self.now, jitter: 0)
    state.report(.refreshFailed(SQOAuthError(.serverError, "x")))
    _ = state.end(.revoked, isByApp: true)
    guard case .refreshFailed? = state.nextEvent(), case .ended(.revoked)? = state.nextEvent()
    else {
      Issue.record("an event is wrong, or the order is")
      return
    }
    #expect(!state.hasEvents)
  }
}
