import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state and the decisions of a session: a value that does no input or output.
package struct SessionState {
  /// A record that the store refused.
  private struct Unsaved {
    var record: AccountRecord
    var backOff: BackOff
  }

  /// The token, unless it was invalidated; the schedule tells when it is valid.
  ///
  /// It is a copy of the record's token, since it is read far more often than anything else.
  private var ready: SQToken?
  private(set) var record: AccountRecord?
  /// How often the session ended, for any reason.
  private(set) var ends = 0
  /// How often the app ended the session, which also cancels a sign-in under way.
  private(set) var dismissals = 0
  /// How often the token was renewed.
  private(set) var renewals = 0
  /// How many tokens this process got by refreshes of its own.
  var refreshes = 0
  /// How often another process's sign-in replaced the record in memory.
  private(set) var replacements = 0
  /// The change of the token that is under way; `nil` if there is none.
  private(set) var changeUnderWay: TokenChange?
  /// Whether the change under way is a renewal that does not have the account's lease yet.
  private var isWaiting = false
  private var schedule = TokenSchedule.expired
  private var isInvalidated = false
  private var changes = 0
  private var failure: BackOff?
  private var renewedAt: Date?
  private var unsaved: Unsaved?
  private var events: [SessionEvent] = []
}

// MARK: - Reading

extension SessionState {
  var token: SQToken? { record?.token }

  /// The token, if it is valid.
  func usableToken(at now: Date) -> SQToken? {
    schedule.isUsable(at: now) ? ready : nil
  }

  /// The token, if a server should still accept it, even when it is time to renew it.
  func unexpiredToken(at now: Date) -> SQToken? {
    guard let token, !isInvalidated, !token.isExpired(at: now) else { return nil }
    return token
  }

  /// When the timer has something to do, or `nil` for never.
  ///
  /// Renewals are included only if `renews` is `true`.
  func dueAt(renews: Bool) -> Date? {
    var dates: [Date] = []
    if renews, isRenewable, let due = schedule.dueAt {
      // If a server's tokens expire at once, it is still asked at most once a second.
      let rest = renewedAt?.addingTimeInterval(1) ?? .distantPast
      let isDue = isInvalidated || record?.unverifiedToken != nil
      dates.append(max(isDue ? .distantPast : due, failure?.until ?? .distantPast, rest))
    }
    // A change under way stores its own record; if it does not, the timer is set again after it.
    if let unsaved, changeUnderWay == nil { dates.append(unsaved.backOff.until) }
    return dates.min()
  }

  /// Why the store could not save the record in memory; `nil` if the store has it.
  var unsavedError: SQOAuthError? { unsaved?.backOff.error }

  /// The record that the store could not save, if it is time to try again.
  ///
  /// If a date is given, the back-off must be over by then; without a date, it does not count.
  /// While a change is under way, the result is `nil`: the store may be about to get the change's
  /// record.
  func recordToSaveAgain(at now: Date?) -> AccountRecord? {
    guard let unsaved, changeUnderWay == nil else { return nil }
    if let now, unsaved.backOff.isInForce(at: now) { return nil }
    return unsaved.record
  }

  /// Whether a change is the one under way, and so has not been made void.
  func isCurrent(_ change: TokenChange) -> Bool { changeUnderWay?.number == change.number }

  /// The renewal that waits for another process; `nil` if the change under way is none.
  var waitingRenewal: TokenChange? { isWaiting ? changeUnderWay : nil }

  /// Whether the session may take over what it finds in the store: no change looks there itself.
  var mayTakeFromStore: Bool { changeUnderWay == nil || isWaiting }

  private var isRenewable: Bool {
    record?.isRenewable ?? false
  }

  private func satisfies(_ need: Need, at now: Date) -> Bool {
    guard usableToken(at: now) != nil else { return false }
    return switch need {
    case .valid: true
    case .replacing(let refused): token?.accessToken != refused
    case .new(let since), .kept(let since): renewals > since
    case .due: schedule.dueAt.map { now < $0 } ?? true
    }
  }
}

// MARK: - Deciding

extension SessionState {
  /// Returns the next step of a caller; if that is a renewal, notes the change as under way.
  mutating func step(_ need: Need, at now: Date) -> Step {
    if let record, satisfies(need, at: now) { return .use(record.token) }
    if let changeUnderWay { return .join(changeUnderWay) }
    guard let record else {
      if let failure, failure.isInForce(at: now) { return .fail(failure.error) }
      return .absent
    }
    guard isRenewable else { return .fail(.cannotRefresh) }
    if let failure, failure.isInForce(at: now) {
      if case .valid = need, let token = unexpiredToken(at: now) { return .use(token) }
      return .fail(failure.error)
    }
    defer { isWaiting = true }
    return .start(begin(), record)
  }

  /// Notes that a renewal waits for no other process any more; returns `false` if it is void.
  mutating func stopsWaiting(_ change: TokenChange) -> Bool {
    guard isCurrent(change) else { return false }
    isWaiting = false
    return true
  }

  /// Begins to take over a token that replaces the current one.
  ///
  /// - Returns: The takeover, and the change that it makes void, if one was under way.
  mutating func beginTakeover() -> (TokenChange, void: TokenChange?) {
    let void = changeUnderWay
    let change = begin()
    // Nothing measures how long it takes.
    change.isSlow()
    return (change, void)
  }

  private mutating func begin() -> TokenChange {
    changes += 1
    let change = TokenChange(number: changes)
    (changeUnderWay, isWaiting) = (change, false)
    return change
  }

  /// Ends a change; does nothing if the change is void.
  mutating func end(_ change: TokenChange) {
    if isCurrent(change) { changeUnderWay = nil }
  }

  /// Ends a change that failed; further callers get its error until the back-off is over.
  ///
  /// - Returns: Whether the error counts; the error of a void change does not.
  mutating func fail(_ change: TokenChange, _ error: SQOAuthError, at now: Date) -> Bool {
    guard isCurrent(change) else { return false }
    changeUnderWay = nil
    failure = BackOff(error, after: failure, at: now)
    return true
  }

  /// Ends a renewal that brought a token, which is already in memory.
  mutating func endRenewal(_ change: TokenChange, at now: Date) {
    guard isCurrent(change) else { return }
    changeUnderWay = nil
    renewals += 1
    renewedAt = now
  }
}

// MARK: - Changing

extension SessionState {
  /// Takes a record into memory.
  mutating func hold(
    _ record: AccountRecord, at now: Date, jitter: Double = .random(in: 0...1)
  ) {
    self.record = record
    // If the record before were saved later, it would replace this one.
    unsaved = nil
    isInvalidated = false
    failure = nil
    schedule = TokenSchedule(
      record.token, knownAt: now, isRenewable: isRenewable, jitter: jitter)
    ready = record.token
  }

  /// Takes a record into memory whose access token is the one of before.
  mutating func holdRefreshToken(of record: AccountRecord, at now: Date) {
    let (wasInvalidated, failure) = (isInvalidated, failure)
    hold(record, at: now)
    if wasInvalidated { invalidate() }
    self.failure = failure
  }

  /// Takes a record into memory that has the same token and other attributes.
  mutating func hold(attributesOf record: AccountRecord) {
    self.record = record
  }

  /// Takes over a record that another process stored, and reports its access token if that is new.
  ///
  /// A process that gets an ID token too stores the refresh token first, with the access token of
  /// before.
  mutating func takeFromStore(_ record: AccountRecord, at now: Date) {
    let isNew = self.record?.token.accessToken != record.token.accessToken
    let isReplaced =
      if let mine = self.record?.session, let its = record.session { mine != its } else { false }
    hold(record, at: now)
    if isReplaced {
      replacements += 1
      events.append(.replaced(record.token))
    } else if isNew, usableToken(at: now) != nil {
      events.append(.takenOver(record.token))
    }
  }

  /// Notes how the attempt to save a record ended, if that record is still in memory.
  mutating func didSave(_ record: AccountRecord, _ error: SQOAuthError?, at now: Date) {
    guard record == self.record else { return }
    unsaved = error.map {
      Unsaved(record: record, backOff: BackOff($0, after: unsaved?.backOff, at: now))
    }
  }

  /// Lets the next caller try a renewal at once, unless the server asked to wait.
  mutating func forgetFailure() {
    if failure?.error.retryAfter == nil { failure = nil }
  }

  /// Makes the token count as expired.
  mutating func invalidate() {
    isInvalidated = true
    ready = nil
  }

  /// Ends the session: forgets the token, and keeps the counts and the events.
  ///
  /// - Returns: The change that is void now; `nil` if none was under way.
  mutating func end(_ reason: SessionEnd, isDismissal: Bool) -> TokenChange? {
    let old = self
    self = SessionState()
    (events, ends, renewals) = (old.events, old.ends + 1, old.renewals)
    refreshes = old.refreshes
    (replacements, changes) = (old.replacements, old.changes)
    dismissals = old.dismissals + (isDismissal ? 1 : 0)
    if old.token != nil { events.append(.ended(reason)) }
    return old.changeUnderWay
  }

  // MARK: Events

  /// Adds something to report to the session's observers.
  mutating func report(_ event: SessionEvent) { events.append(event) }

  /// Whether there is an event to report.
  var hasEvents: Bool { !events.isEmpty }

  /// The next event to report, in the order in which things happened.
  mutating func nextEvent() -> SessionEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }
}
