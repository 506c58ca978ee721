import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The life of one account's token: in memory, in the store, from one refresh to the next.
///
/// One change of the token is under way at a time, and no lock is held while it is. ``SessionState``
/// decides what each caller does; ``Renewal`` and ``StoredAccount`` do it.
final class TokenSession: Sendable {
  private struct State {
    var core = SessionState()
    /// Whether the clock is the system's, which needs no call through a protocol.
    var hasSystemClock = true
    /// Whether the timer renews the token before it expires.
    var isUpdating = false
    var isReporting = false
    /// Whether the session's owner is gone.
    var isClosed = false
    /// Where the session waits for its time.
    var place: (queue: TimerQueue, place: TimerQueue.Place)?

    /// When there is something to do.
    ///
    /// A token that the store refused is saved again whether or not the timer renews tokens.
    var dueAt: Date? { isClosed ? nil : core.dueAt(renews: isUpdating) }
  }

  let context: ClientContext
  let account: StoredAccount
  let observers = SessionObservers()
  private let state = Locked(State())

  init(_ context: ClientContext, accountID: String) {
    self.context = context
    account = StoredAccount(context, id: accountID)
    clockDidChange()
  }

  /// Makes one decision under the session's lock; it must not wait, nor call anything of the app's.
  ///
  /// Of the SDK's own locks only the account's and the context's may be taken meanwhile.
  @discardableResult
  func decide<Value>(_ decision: (inout SessionState) -> Value) -> Value {
    state.withLock { decision(&$0.core) }
  }

  // MARK: Reading

  /// The current token, from any thread; it may have expired.
  var token: SQToken? { decide(\.token) }

  /// The current token if it is valid, from any thread.
  var validToken: SQToken? {
    // Asked before the lock is taken, since a clock may be the app's own.
    let now = SystemClock().now
    let (token, isSystems) = state.withLock { state in
      state.hasSystemClock ? (state.core.usableToken(at: now), true) : (nil, false)
    }
    if isSystems { return token }
    let itsNow = self.now
    return state.withLock { $0.core.usableToken(at: itsNow) }
  }

  /// Whether a server should take the token as it is.
  var isAuthorized: Bool {
    let now = now
    return decide { $0.unexpiredToken(at: now) } != nil
  }

  /// How often the app ended the session.
  ///
  /// What brings a token notes it when it begins.
  var epoch: Int { decide(\.dismissals) }

  /// How often the token was renewed.
  ///
  /// A caller that wants a fresh token notes it when it asks.
  var renewals: Int { decide(\.renewals) }

  /// Why the store does not have the token that is held; `nil` when it has.
  var unsavedError: SQOAuthError? { decide(\.unsavedError) }

  var now: Date { context.environment.clock.now }

  /// Takes note of the environment's clock.
  func clockDidChange() {
    let clock = context.environment.clock
    let isScheduled = state.withLock { state in
      state.hasSystemClock = clock.showsSystemTime
      return state.place != nil
    }
    if isScheduled { reschedule() }
  }

  /// Takes note of another client: a failure of the client before says nothing about it.
  func configurationDidChange() {
    decide { $0.forgetFailure() }
    reschedule()
  }

  // MARK: Asking for a token

  /// The token that a caller needs; the first caller that needs a renewal starts it.
  ///
  /// A caller that is cancelled stops waiting; the renewal goes on for the others.
  func token(_ need: SessionState.Need) async throws(SQOAuthError) -> SQToken {
    while true {
      let now = now
      switch decide({ $0.step(need, at: now) }) {
      case .use(let token):
        return token
      case .fail(let error):
        throw error
      case .absent:
        if try await restore() { continue }
        guard try context.actsInOwnName() else { throw .notSignedIn }
        try await obtain()
      case .join(let change):
        if let token = try await result(of: change, need) { return token }
      case .start(let change, let record):
        start(Renewal(self, change), of: record)
        if let token = try await result(of: change, need) { return token }
      }
    }
  }

  private func start(_ renewal: Renewal, of record: AccountRecord) {
    renewal.change.work.start(here: true) {
      let outcome = await renewal.run(record)
      self.changed()
      renewal.change.work.outcome.resolve(outcome)
    }
  }

  /// The token that a change brought a caller; `nil` when the caller has to ask again.
  private func result(
    of change: TokenChange, _ need: SessionState.Need
  ) async throws(SQOAuthError) -> SQToken? {
    guard let outcome = await change.work.outcome.value() else { throw .waitCancelled }
    do throws(SQOAuthError) {
      return try outcome.get()
    } catch {
      // After an early renewal the old token has some time left: a caller is better off with it.
      let now = now
      if case .valid = need, let token = decide({ $0.unexpiredToken(at: now) }) { return token }
      throw error
    }
  }

  /// Returns when no change of the token is under way.
  func settled() async throws(SQOAuthError) {
    while let change = decide(\.changeUnderWay) {
      guard await change.work.outcome.value() != nil else { throw .waitCancelled }
    }
  }

  /// Makes the token count as expired.
  func invalidate() {
    decide { $0.invalidate() }
    changed()
  }

  // MARK: The timer

  /// Whether the session renews its token before it expires, without being asked.
  var isUpdating: Bool { state.withLock(\.isUpdating) }

  func updates(_ isOn: Bool) {
    state.withLock { $0.isUpdating = isOn }
    changed()
  }

  /// Reports what happened and sets the timer; called after each change, outside the lock.
  func changed() {
    account.makeChanges(here: false)
    report()
    reschedule()
  }

  /// When the timer has something to do.
  var dueAt: Date? { state.withLock(\.dueAt) }

  /// Whether an event is on its way to the observers.
  var isReporting: Bool { state.withLock { $0.isReporting || $0.core.hasEvents } }

  /// Stops the timer for good, when the session's owner goes.
  func close() {
    state.withLock { $0.isClosed = true }
    reschedule()
  }

  private func reschedule() {
    let queue = context.environment.timers
    let (place, old) = state.withLock { state in
      let old = state.place
      // Most sessions that are not renewed by the timer never need a place; and a place belongs to
      // its queue, so another queue gets another one.
      if old == nil ? state.dueAt != nil : old?.queue !== queue {
        state.place = (queue, TimerQueue.Place())
      }
      return (state.place?.place, old)
    }
    guard let place else { return }
    if let old, old.place !== place { old.queue.reschedule(old.place, of: self) { nil } }
    queue.reschedule(place, of: self) {
      self.state.withLock { $0.place?.place === place ? $0.dueAt : nil }
    }
  }

  /// Does what is due.
  func tend() async {
    await saveAgain(at: now)
    // An event reports its failure, and the next attempt is due when the back-off is over.
    let renews = state.withLock { $0.isUpdating && !$0.isClosed }
    if renews { _ = try? await token(.due) }
    changed()
  }

  /// Delivers events in the order in which they happened, on one thread at a time.
  private func report() {
    let isMine = state.withLock { state in
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard isMine else { return }
    while let event = nextEvent() { observers.tell(event) }
  }

  private func nextEvent() -> SessionEvent? {
    state.withLock { state in
      let event = state.core.nextEvent()
      state.isReporting = event != nil
      return event
    }
  }
}
