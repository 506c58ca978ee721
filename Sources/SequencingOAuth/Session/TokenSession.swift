import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One account's token: the session keeps it in memory and in the store, and renews it.
///
/// At most one change of the token is under way at a time, and no lock is held during it.
/// ``SessionState`` decides what each caller does. ``Renewal`` and ``StoredAccount`` do the work.
package final class TokenSession: Sendable {
  private struct State {
    var core = SessionState()
    /// Whether the environment's clock shows the system's time.
    ///
    /// If so, the session reads that time without calling the environment's clock.
    var hasSystemClock = true
    /// Whether the timer renews the token before it expires.
    var isUpdating = false
    var isReporting = false
    /// Whether the session's owner was released.
    var isClosed = false
    /// The session's place in a timer queue; `nil` if it needed none so far.
    var place: (queue: TimerQueue, place: TimerQueue.Place)?

    /// When the timer has something to do; `nil` for never.
    ///
    /// The timer saves a token that the store could not save, even if it does not renew tokens.
    var dueAt: Date? { isClosed ? nil : core.dueAt(renews: isUpdating) }
  }

  let context: ClientContext
  package let account: StoredAccount
  let observers = EventObservers<SessionEvent>()
  package let observation = StoreObservation()
  private let state = Locked(State())

  init(_ context: ClientContext, accountID: String) {
    self.context = context
    account = StoredAccount(context, id: accountID)
    clockDidChange()
  }

  /// Makes a decision under the session's lock; the closure must not wait, nor call the app's code.
  ///
  /// The only other locks that the closure may take are those of the account and the context.
  @discardableResult
  func decide<Value>(_ decision: (inout SessionState) -> Value) -> Value {
    state.withLock { decision(&$0.core) }
  }

  // MARK: Reading

  /// The current token, from any thread; it may have expired.
  var token: SQToken? { decide(\.token) }

  /// The record with the current token.
  package var record: AccountRecord? { decide(\.record) }

  /// How often the session ended, for any reason.
  package var ends: Int { decide(\.ends) }

  /// The current token if it is valid, from any thread.
  var validToken: SQToken? {
    // The time is read before the lock is taken, since the clock may be the app's own.
    let now = SystemClock().now
    let (token, isSystems) = state.withLock { state in
      state.hasSystemClock ? (state.core.usableToken(at: now), true) : (nil, false)
    }
    if isSystems { return token }
    let itsNow = self.now
    return state.withLock { $0.core.usableToken(at: itsNow) }
  }

  /// Whether there is a token that a server should still accept.
  var isAuthorized: Bool {
    let now = now
    return decide { $0.unexpiredToken(at: now) } != nil
  }

  /// How often the app ended the session.
  ///
  /// A sign-in or another grant reads it when it begins, and passes it on with its token.
  package var dismissals: Int { decide(\.dismissals) }

  /// How often the token was renewed.
  ///
  /// A caller reads it before it asks for a token that is ``SessionState/Need/new(since:)``.
  package var renewals: Int { decide(\.renewals) }
  /// How many tokens this process got by refreshes of its own.
  package var refreshes: Int { decide(\.refreshes) }

  /// Why the store could not save the token in memory; `nil` if the store has it.
  package var unsavedError: SQOAuthError? { decide(\.unsavedError) }

  var now: Date { context.environment.clock.now }

  /// Notes that the environment may have another clock or another store.
  func environmentDidChange() {
    observation.end()
    clockDidChange()
  }

  private func clockDidChange() {
    let clock = context.environment.clock
    let isScheduled = state.withLock { state in
      state.hasSystemClock = clock.showsSystemTime
      return state.place != nil
    }
    if isScheduled { reschedule() }
  }

  /// Notes that the client has changed, so that a failure of the old client no longer counts.
  func configurationDidChange() {
    decide { $0.forgetFailure() }
    reschedule()
  }

  // MARK: Asking for a token

  /// Gets the token that a caller needs; the first caller that needs a renewal starts it.
  ///
  /// A caller that is cancelled, or that has waited for the client's time limit, stops waiting; the
  /// renewal continues for the others.
  package func token(_ need: SessionState.Need) async throws(SQOAuthError) -> SQToken {
    let end = need.isOwn ? nil : endOfWait
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
        try await obtain(until: end)
      case .join(let change):
        if let token = try await result(of: change, need, until: end) { return token }
      case .start(let change, let record):
        start(Renewal(self, change, isUse: !need.isKeeping), of: record)
        if let token = try await result(of: change, need, until: end) { return token }
      }
    }
  }

  private func start(_ renewal: Renewal, of record: AccountRecord) {
    renewal.change.run {
      let outcome = await renewal.run(record)
      self.changed()
      return outcome
    }
  }

  /// Until when a caller waits: somewhat longer than the limit of a request, whose error says more.
  private var endOfWait: ContinuousClock.Instant {
    let limit = (try? context.configuration.get().timeout) ?? .zero
    return .now + limit + TokenChange.usualTime
  }

  /// Waits for a change's outcome; throws if the caller is cancelled or has waited long enough.
  func outcome(
    of change: TokenChange, until end: ContinuousClock.Instant?
  ) async throws(SQOAuthError) -> Renewal.Outcome {
    if let outcome = await change.outcome(until: end) { return outcome }
    throw Task.isCancelled ? .waitCancelled : .stillUnderWay
  }

  /// Waits for a change and returns its token; `nil` if the caller must ask again.
  private func result(
    of change: TokenChange, _ need: SessionState.Need, until end: ContinuousClock.Instant?
  ) async throws(SQOAuthError) -> SQToken? {
    do throws(SQOAuthError) {
      return try await outcome(of: change, until: end).get()
    } catch {
      // After an early renewal fails, the old token has some time left, so the caller gets it.
      let now = now
      if case .valid = need, let token = decide({ $0.unexpiredToken(at: now) }) { return token }
      throw error
    }
  }

  /// Waits until no change of the token is under way.
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

  /// Whether the timer renews the token before it expires.
  var isUpdating: Bool { state.withLock(\.isUpdating) }

  func updates(_ isOn: Bool) {
    state.withLock { $0.isUpdating = isOn }
    changed()
  }

  /// Makes the requested changes in the store, reports events and sets the timer.
  ///
  /// Call it after each change, outside the lock.
  func changed() {
    account.makeChanges(here: false)
    observe()
    report()
    reschedule()
  }

  /// When the timer has something to do; `nil` for never.
  var dueAt: Date? { state.withLock(\.dueAt) }

  /// Whether an event has not been delivered to the observers yet.
  var isReporting: Bool { state.withLock { $0.isReporting || $0.core.hasEvents } }

  /// Stops the timer for ever, because the session's owner is released.
  func close() {
    state.withLock { $0.isClosed = true }
    observation.close()
    reschedule()
  }

  private func reschedule() {
    let queue = context.environment.timers
    let (place, old) = state.withLock { state in
      let old = state.place
      // Most sessions that the timer does not renew never need a place. A place belongs to one
      // queue, so another queue needs another place.
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

  /// Saves and renews the token if it is time to; the timer calls it.
  func tend() async {
    await saveAgain(at: now)
    // An event reports a failure, and the next attempt is due when the back-off is over.
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
