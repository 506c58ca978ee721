import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The life of one account's token: in memory, in the store, from one refresh to the next.
///
/// One change of the token is under way at a time, whoever asks for it, and no lock is held while
/// it is. What decides is ``SessionState``; what is done about it is here.
final class TokenSession: Sendable {
  struct State {
    var core = SessionState()
    /// Whether the clock is the system's, which needs no call through a protocol.
    var hasSystemClock = true
    var writes = StoreWrites()
    var brake = RefusalBrake()
    /// Whether the token is renewed before it expires, without anyone asking.
    var isUpdating = false
    var events: [SessionEvent] = []
    var isTelling = false
    /// Whether nobody asks for the token any more.
    var isClosed = false
    /// Where the session waits for its time.
    var place: (queue: TimerQueue, place: TimerQueue.Place)?

    /// When there is something to do.
    ///
    /// A token that the store refused is saved again whether or not tokens are renewed by the timer.
    var dueAt: Date? { isClosed ? nil : core.dueAt(renews: isUpdating) }
  }

  let accountID: String
  let context: ClientContext
  let observers = SessionObservers()
  let state = Locked(State())
  /// Had while the session looks into the store and changes it.
  let lease: SessionLease

  init(_ context: ClientContext, accountID: String) {
    self.context = context
    self.accountID = accountID
    lease = SessionLease(accountID: accountID)
    clockDidChange()
  }

  // MARK: Reading

  /// The current token, from any thread; it may have expired.
  var token: SQToken? { state.withLock(\.core.token) }

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
    return state.withLock { $0.core.unexpiredToken(at: now) } != nil
  }

  /// How often the session was ended from outside; whatever may bring a token notes it when it
  /// begins.
  var epoch: Int { state.withLock(\.core.dismissals) }

  /// How often the token was renewed; whoever wants a fresh one notes it when it asks.
  var renewals: Int { state.withLock(\.core.renewals) }

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

  /// Takes note of another client: a failure of the one before says nothing of it.
  func configurationDidChange() {
    state.withLock { $0.core.forgetFailure() }
    reschedule()
  }

  // MARK: Asking for a token

  /// The token that a caller needs; renewed, by whoever comes first, where that is necessary.
  ///
  /// A caller that is cancelled stops waiting; the renewal goes on for the others.
  func token(_ need: SessionState.Need) async throws(SQOAuthError) -> SQToken {
    while true {
      let now = now
      switch state.withLock({ $0.core.step(need, at: now) }) {
      case .use(let token):
        return token
      case .fail(let error):
        throw error
      case .absent:
        if try await restore() { continue }
        guard try context.actsInOwnName() else { throw .notSignedIn }
        try await obtain()
      case .wait(let end):
        guard await end.value() != nil else { throw .waitCancelled }
      case .join(let renewal):
        if let token = try await result(of: renewal, need) { return token }
      case .start(let renewal):
        start(renewal)
        if let token = try await result(of: renewal, need) { return token }
      }
    }
  }

  /// What a renewal brought a caller; `nil` when it was made void.
  private func result(
    of renewal: SessionState.Renewal, _ need: SessionState.Need
  ) async throws(SQOAuthError) -> SQToken? {
    guard let outcome = await renewal.work.outcome.value() else { throw .waitCancelled }
    do throws(SQOAuthError) {
      return try outcome.get()
    } catch {
      // Renewed early, the old token has some time left; a caller is better off with it.
      let now = now
      if case .valid = need, let token = state.withLock({ $0.core.unexpiredToken(at: now) }) {
        return token
      }
      throw error
    }
  }

  /// Returns when no change of the token is under way.
  func settled() async throws(SQOAuthError) {
    while let change = state.withLock(\.core.changeUnderWay) {
      let isOver =
        switch change {
        case .renewal(let renewal): await renewal.work.outcome.value() != nil
        case .takeover(let takeover): await takeover.end.value() != nil
        }
      guard isOver else { throw .waitCancelled }
    }
  }

  /// Makes the token count as expired.
  func invalidate() {
    state.withLock { $0.core.invalidate() }
    changed()
  }

  // MARK: The timer

  /// Whether the session renews its token before it expires, without being asked.
  var isUpdating: Bool { state.withLock(\.isUpdating) }

  func updates(_ isOn: Bool) {
    state.withLock { $0.isUpdating = isOn }
    changed()
  }

  /// Tells what happened and sets the timer; called after each change, outside the lock.
  func changed() {
    runWrites(here: false)
    tell()
    reschedule()
  }

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
    await saveAgain()
    // Its failure is told as an event, and the next attempt is due when the back-off is over.
    let renews = state.withLock { $0.isUpdating && !$0.isClosed }
    if renews { _ = try? await token(.due) }
    changed()
  }

  /// Delivers events in the order in which they happened, whoever calls.
  private func tell() {
    let isMine = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isMine else { return }
    while let event = state.withLock({ $0.nextEvent() }) { observers.tell(event) }
  }
}

extension TokenSession.State {
  fileprivate mutating func nextEvent() -> SessionEvent? {
    if events.isEmpty {
      isTelling = false
      return nil
    }
    return events.removeFirst()
  }
}

extension SQOAuthError {
  /// The caller's own task was cancelled while it waited.
  static let waitCancelled = SQOAuthError(.cancelled, "the task that waited was cancelled")
}
