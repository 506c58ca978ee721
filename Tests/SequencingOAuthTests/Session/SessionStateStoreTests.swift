import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// What a session makes of its store: which of two records it prefers, and what is still unsaved.
@Suite struct SessionStateStoreTests {
  let now = SessionStateTests.now

  func record(
    _ access: String, _ refresh: String? = "R1", issued: Double? = 0
  ) -> AccountRecord {
    SessionStateTests.record(access, refresh: refresh, issued: issued)
  }

  @Test(
    arguments: [
      // Whoever stored the held one and finds another: someone else was there since.
      (true, 0, -10, true), (true, 0, 10, true), (true, nil, nil, true),
      // Whoever has not stored the held one compares ages, where both are known.
      (false, 0, -10, false), (false, 0, 0, false), (false, 0, 10, true), (false, nil, 10, false),
      (false, 0, nil, false),
    ] as [(Bool, Double?, Double?, Bool)])
  func `another record in the store`(
    isStored: Bool, held: Double?, stored: Double?, prefers: Bool
  ) {
    let mine = record("T1", issued: held)
    let state = SessionStateTests.holding(mine, isStored: isStored)
    #expect(state.prefers(record("T2", "R2", issued: stored), to: mine) == prefers)
    #expect(state.wasStored == isStored)
  }

  @Test func `the same tokens are the same record, whatever else differs`() {
    let state = SessionStateTests.holding()
    #expect(!state.prefers(record("T1", "R1", issued: 99), to: record("T1", "R1")))
    #expect(state.prefers(record("T1", "R2"), to: record("T1", "R1")), "rotated")
  }

  @Test func `a record that could not be saved is due when its back-off is over`() throws {
    let mine = record("T1")
    var state = SessionStateTests.holding(mine)
    state.didSave(mine, SQOAuthError(.storeFailed, "x"), at: now)
    #expect(!state.wasStored && state.recordToSaveAgain(at: now + 0.9) == nil)
    #expect(state.recordToSaveAgain(at: now + 1) == mine)
    #expect(state.dueAt(renews: true) == now + 1)
    #expect(state.dueAt(renews: false) == now + 1)
    state.didSave(mine, SQOAuthError(.storeFailed, "x"), at: now + 1)
    #expect(state.dueAt(renews: true) == now + 3)
    state.didSave(mine, nil, at: now + 3)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil && state.wasStored)
    #expect(state.dueAt(renews: true) == now + 3204)
  }

  @Test func `what became of another record is of no interest`() {
    var state = SessionStateTests.holding(record("T2"))
    state.didSave(record("T1"), SQOAuthError(.storeFailed, "x"), at: now)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil && state.wasStored)
  }

  /// An old record that is saved later would replace the newer one.
  @Test(arguments: [true, false])
  func `a new record takes the place of one that was not saved`(isStored: Bool) {
    let old = record("T1")
    var state = SessionStateTests.holding(old)
    state.didSave(old, SQOAuthError(.storeFailed, "x"), at: now)
    if isStored { state.storeHolds(record("T2").token) }
    state.hold(record("T2"), at: now, jitter: 0)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
  }

  /// Behind the save of the new record it would replace that one.
  @Test func `while a new token is on its way the old one is not saved again`() {
    let old = record("T1")
    var state = SessionStateTests.holding(old)
    state.didSave(old, SQOAuthError(.storeFailed, "x"), at: now)
    let (takeover, _) = state.beginTakeover()
    #expect(state.dueAt(renews: true) == now + 3204)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
    state.end(takeover)
    guard case .start(let renewal) = state.step(.new(since: 0), at: now) else {
      Issue.record("it did not start")
      return
    }
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
    state.end(renewal, SQOAuthError(.serverError, "x"), at: now)
    #expect(state.recordToSaveAgain(at: now + 1e6) == old)
  }
}
