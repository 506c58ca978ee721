import SQBasics
import SQFoundation

/// A session of one account: it keeps the token in memory and in the store, and renews it.
///
/// At most one change of the token runs at a time, and it holds no lock while it runs.
/// ``SessionState`` decides what each caller does. ``Renewal`` gets a new token, and
/// ``StoredAccount`` calls the store.
package final class TokenSession: Sendable {
  private struct State {
    var core = SessionState()
    /// Whether the environment's clock shows the system's time.
    ///
    /// If so, the session reads the system's time without calling the environment's clock.
    var hasSystemClock = true
    /// Whether the timer renews the token before it expires.
    var isUpdating = false
    var isReporting = false
    /// Whether the session's owner was released.
    var isClosed = false
    /// How long before the end of the sign-in the session may report that end.
    var notice = Duration.zero
    /// The session's entry in a timer queue; `nil` if it has not needed one yet.
    var place: (queue: SessionTimers, place: SessionTimers.Place)?

    /// When the timer acts next; `nil` for never.
    ///
    /// Even if the timer does not renew tokens, it saves a token that the store failed to save, and
    /// reports that the sign-in ends soon.
    ///
    /// After the owner's release it only saves: the token may be the only copy of the next one-time
    /// refresh token.
    var dueAt: Date? {
      core.dueAt(renews: isUpdating && !isClosed, notice: isClosed ? .zero : notice)
    }
  }

  let context: ClientContext
  private let currentAccount: Locked<StoredAccount>
  let observers = EventObservers<SessionEvent>()
  package let observation = StoreObservation()
  private let state = Locked(State())

  init(_ context: ClientContext, accountID: String) {
    self.context = context
    currentAccount = Locked(
      StoredAccount(context, id: accountID, in: context.environment.storeChoice))
    readConfiguration()
    clockDidChange()
  }

  /// Makes a decision under the session's lock; the closure must not wait or call the app's code.
  ///
  /// The closure may read ``account``, and may take only the locks of the ``StoredAccount`` and the
  /// ``ClientContext``.
  @discardableResult
  func decide<Value>(_ decision: (inout SessionState) -> Value) -> Value {
    state.withLock { decision(&$0.core) }
  }

  /// The account in the environment's store.
  ///
  /// The app may set another store at any time. An operation with several steps reads this property
  /// once, so that all its steps use the same store.
  package var account: StoredAccount { currentAccount.withLock(\.self) }

  // MARK: Reading

  /// The current token; it may have expired, and any thread may read it.
  var token: SQToken? { decide(\.token) }

  /// The record with the current token.
  package var record: AccountRecord? { decide(\.record) }

  /// The number of times the session has ended, for any reason.
  package var ends: Int { decide(\.ends) }

  /// The current token if it is valid; it may be read on any thread.
  var validToken: SQToken? {
    // No clock is read under the lock, because the clock may be the app's own.
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

  /// The number of times the app has ended the session.
  ///
  /// A sign-in or another grant reads it when it begins, and passes it on together with its token.
  package var appEndCount: Int { decide(\.appEndCount) }

  /// The number of times the token was renewed.
  ///
  /// A caller reads this number before it asks for a token with ``SessionState/Need/new(since:)``.
  package var renewals: Int { decide(\.renewals) }
  /// The number of tokens that this process has obtained by its own refreshes.
  package var refreshes: Int { decide(\.refreshes) }

  /// The error of the last attempt to save the current token; `nil` if no attempt failed.
  package var unsavedError: SQOAuthError? { decide(\.unsavedError) }

  var now: Date { context.environment.clock.now }

  /// Adapts to an environment that may have a different clock or a different store.
  func environmentDidChange() {
    storeDidChange()
    clockDidChange()
  }

  /// If the app has set another store, uses it, and saves the record in memory there.
  private func storeDidChange() {
    let isOther = currentAccount.change { account in
      let choice = context.withEnvironment(\.storeChoice)
      guard !choice.isShared(with: account.choice) else { return false }
      account = StoredAccount(context, id: account.id, in: choice, after: account)
      return true
    }
    guard isOther else { return }
    observation.end()
    decide { $0.storeDidChange() }
    changed()
  }

  private func clockDidChange() {
    let hasSystemClock = context.environment.clock.showsSystemTime
    let isScheduled = state.withLock { state in
      state.hasSystemClock = hasSystemClock
      return state.place != nil
    }
    if isScheduled { reschedule() }
  }

  /// Adapts to a changed configuration; forgets a failure, unless the server asked to wait.
  package func configurationDidChange() {
    decide { $0.forgetFailure() }
    readConfiguration()
    reschedule()
  }

  private func readConfiguration() {
    // Read under the lock, so that of two registrations at once the later one counts.
    state.withLock { state in
      let (client, notice) = context.clientAndNotice
      state.core.register(client)
      state.notice = notice
    }
  }

  // MARK: Ending a token

  /// Marks the token as expired.
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
  /// It must be called after each change, outside the lock.
  func changed() {
    account.makeChanges(here: false)
    observe()
    report()
    reschedule()
  }

  /// When the timer acts next; `nil` for never.
  var dueAt: Date? { state.withLock(\.dueAt) }

  /// Whether the timer has something to do now, for the tests of schedules.
  var isDue: Bool {
    let (date, place) = state.withLock { ($0.dueAt, $0.place) }
    guard let date else { return false }
    return date <= now || place.map { $0.queue.hasPassed(date, of: $0.place) } ?? false
  }

  /// Whether an event has not been delivered to the observers yet.
  var isReporting: Bool { state.withLock { $0.isReporting || $0.core.hasEvents } }

  /// Stops the renewals by the timer permanently, because the session's owner was released.
  func close() {
    state.withLock { $0.isClosed = true }
    observation.close()
    reschedule()
  }

  private func reschedule() {
    let queue = context.environment.timers
    let (place, old) = state.withLock { state in
      let old = state.place
      // Most sessions that the timer does not renew never need an entry. An entry belongs to one
      // queue, so a different queue needs a new entry.
      if old == nil ? state.dueAt != nil : old?.queue !== queue {
        state.place = (queue, SessionTimers.Place())
      }
      return (state.place?.place, old)
    }
    guard let place else { return }
    if let old, old.place !== place { old.queue.reschedule(old.place, of: self) { nil } }
    queue.reschedule(place, of: self) {
      self.state.withLock { $0.place?.place === place ? $0.dueAt : nil }
    }
  }

  /// Does the timer's due work: saves the token, renews it, and reports that the sign-in ends soon.
  ///
  /// If the clock was moved back, it shows an earlier time than `date`. The work is due nevertheless,
  /// because the time until that date has passed.
  func tend(dueAt date: Date) async {
    // The timer's task may have inherited the observation of an unrelated operation.
    await Observation.$current.withValue(nil) { await doWork(dueAt: date) }
  }

  private func doWork(dueAt date: Date) async {
    let (start, end) = (now, untoldEnd)
    state.withLock { state in
      guard start < date, state.dueAt == date else { return }
      state.core.clockWasMovedBack(by: date.timeIntervalSince(start))
    }
    await saveAgain(at: start)
    // The error is ignored: an event reports it, and the next attempt is due after the back-off.
    let renews = state.withLock { $0.isUpdating && !$0.isClosed }
    if renews { _ = try? await token(.due) }
    // `date` applies only to the end that was known then: if the clock was moved back, the end of a
    // new token follows the clock's present date.
    let now = untoldEnd == end ? max(now, date) : now
    state.withLock { state in
      if !state.isClosed { state.core.tellEnd(at: now, notice: state.notice) }
    }
    changed()
  }

  /// The end of the sign-in, if it has not been reported yet.
  private var untoldEnd: Date? {
    state.withLock { $0.core.untoldEnd(notice: $0.notice)?.date }
  }

  /// Delivers the events in order, on one thread at a time.
  private func report() {
    let isMine = state.withLock { state in
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard isMine else { return }
    while let event = nextEvent() {
      observers.tell(event)
      if let subject = ClientEvent.Subject(event) {
        context.environment.tell(subject, accountID: account.id, in: nil)
      }
    }
  }

  private func nextEvent() -> SessionEvent? {
    state.withLock { state in
      let event = state.core.nextEvent()
      state.isReporting = event != nil
      return event
    }
  }
}
