import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How a session compares itself with its store: the preferred record, and what the store lacks.
@Suite struct SessionStateStoreTests {
  let now = SessionStateTests.now

  func record(
    _ access: String, _ refresh: String? = "R1", issued: Double? = 0
  ) -> AccountRecord {
    SessionStateTests.record(access, refresh: refresh, issued: issued)
  }

  /// Returns an account whose session has seen the record `seen` in the store, or no record.
  func account(_ seen: AccountRecord?) -> StoredAccount {
    let environment = ClientEnvironment()
    let context = ClientContext(.failure(.notSignedIn), environment)
    let account = StoredAccount(context, id: "a", in: environment.storeChoice)
    if let seen { account.saw(seen) }
    return account
  }

  @Test(
    arguments: [
      // The session stored its record and finds another one, so another process has saved
      // in the meantime.
      (true, 0, -10, true), (true, 0, 10, true), (true, nil, nil, true),
      // The session has not stored its record, so it compares ages if both are known.
      (false, 0, -10, false), (false, 0, 0, false), (false, 0, 10, true), (false, nil, 10, false),
      (false, 0, nil, false),
    ] as [(Bool, Double?, Double?, Bool)])
  func `a stored record wins if it is newer, or if it replaced the one that the session saved`(
    isStored: Bool, held: Double?, stored: Double?, prefers: Bool
  ) {
    let mine = record("T1", issued: held)
    let account = account(isStored ? mine : nil)
    #expect(account.prefers(record("T2", "R2", issued: stored), to: mine) == prefers)
    #expect(account.wasSeen == isStored)
  }

  @Test func `a stored record with the same tokens is not preferred, even if its date differs`() {
    let account = account(record("T1"))
    #expect(!account.prefers(record("T1", "R1", issued: 99), to: record("T1", "R1")))
    #expect(account.prefers(record("T1", "R2"), to: record("T1", "R1")), "rotated")
  }

  /// A process that must validate an ID token stores the refresh token first.
  @Test func `a new access token in the store is reported, and a new refresh token is not`() {
    var state = SessionStateTests.holding(record("T1"))
    state.takeFromStore(record("T1", "R2"), at: now)
    #expect(state.record == record("T1", "R2") && !state.hasEvents)
    state.takeFromStore(record("T2", "R2"), at: now)
    guard case .takenOver(let token)? = state.nextEvent() else {
      Issue.record("the access token is not reported")
      return
    }
    #expect(token.accessToken == "T2" && !state.hasEvents)
  }

  @Test func `an erasure makes the session forget the record that it saw in the store`() {
    let account = account(record("T1"))
    _ = account.add(.erase)
    #expect(!account.wasSeen)
  }

  @Test func `a record that could not be saved is saved again after its back-off`() throws {
    let mine = record("T1")
    var state = SessionStateTests.holding(mine)
    state.didSave(mine, SQOAuthError(.storeFailed, "x"), at: now)
    #expect(state.unsavedError?.code == .storeFailed)
    #expect(state.recordToSaveAgain(at: now + 0.9) == nil)
    #expect(state.recordToSaveAgain(at: now + 1) == mine)
    #expect(state.dueAt(renews: true) == now + 1)
    #expect(state.dueAt(renews: false) == now + 1)
    state.didSave(mine, SQOAuthError(.storeFailed, "x"), at: now + 1)
    #expect(state.dueAt(renews: true) == now + 3)
    state.didSave(mine, nil, at: now + 3)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil && state.unsavedError == nil)
    #expect(state.dueAt(renews: true) == now + 3204)
  }

  @Test func `a failure to save an older record is ignored`() {
    var state = SessionStateTests.holding(record("T2"))
    state.didSave(record("T1"), SQOAuthError(.storeFailed, "x"), at: now)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil && state.unsavedError == nil)
  }

  @Test func `after the app sets another store, the record is due for saving until it is there`() {
    let mine = record("T1")
    var state = SessionStateTests.holding(mine)
    state.didSave(mine, SQOAuthError(.storeFailed, "the first store"), at: now)
    state.storeDidChange()
    #expect(state.unsavedError == nil && state.recordToSaveAgain(at: now) == mine)
    #expect(state.dueAt(renews: false) == .distantPast)
    state.didSave(mine, SQOAuthError(.storeFailed, "the other store"), at: now)
    #expect(state.recordToSaveAgain(at: now) == nil && state.dueAt(renews: false) == now + 1)
    // The end of a change in the first store brings the newest record there.
    let next = record("T2", "R2")
    state.hold(next, at: now, jitter: 0)
    #expect(state.recordToSaveAgain(at: now) == next)
    state.didMove(mine)
    #expect(state.recordToSaveAgain(at: now) == next, "the store has an older record")
    state.didMove(next)
    #expect(state.recordToSaveAgain(at: nil) == nil)
    #expect(state.dueAt(renews: false) == nil)
  }

  @Test func `without a record or a change, another store has nothing to save`() {
    var state = SessionState()
    state.storeDidChange()
    #expect(state.dueAt(renews: true) == nil)
    state.hold(record("T1"), at: now, jitter: 0)
    #expect(state.recordToSaveAgain(at: nil) == nil)
  }

  /// An old record that is saved later would replace the newer one.
  @Test func `an unsaved record is not saved again after a new record replaces it`() {
    let old = record("T1")
    var state = SessionStateTests.holding(old)
    state.didSave(old, SQOAuthError(.storeFailed, "x"), at: now)
    state.hold(record("T2"), at: now, jitter: 0)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
  }

  /// If the old token were saved after the new record, the old token would replace the record.
  @Test func `a failed save of an old token is not retried while a new token is requested`() {
    let old = record("T1")
    var state = SessionStateTests.holding(old)
    state.didSave(old, SQOAuthError(.storeFailed, "x"), at: now)
    let (takeover, _) = state.beginTakeover()
    #expect(state.dueAt(renews: true) == now + 3204)
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
    state.end(takeover)
    guard case .start(let renewal, _) = state.step(.new(since: 0), at: now) else {
      Issue.record("no renewal was started")
      return
    }
    #expect(state.recordToSaveAgain(at: now + 1e6) == nil)
    let counts = state.fail(renewal, SQOAuthError(.serverError, "x"), at: now)
    #expect(counts)
    #expect(state.recordToSaveAgain(at: now + 1e6) == old)
  }
}
