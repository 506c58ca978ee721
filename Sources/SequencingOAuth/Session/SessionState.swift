import SQBasics
import SQFoundation

/// The state and the decisions of a session, as a value that performs no input or output.
package struct SessionState {
  /// A record that the store failed to save.
  struct Unsaved {
    var record: AccountRecord
    var backOff: BackOff
  }

  /// The token, unless it was invalidated or is of another client or server; the schedule determines
  /// when it is valid.
  ///
  /// It is a copy of the record's token, to be read faster: this value is read far more often than
  /// any other.
  private(set) var ready: SQToken?
  private(set) var record: AccountRecord?
  /// The number of times the session has ended, for any reason.
  private(set) var ends = 0
  /// The number of times the app has ended the session; each end also cancels a running sign-in.
  private(set) var appEndCount = 0
  /// The number of times the token was renewed.
  private(set) var renewals = 0
  /// The number of tokens that this process has obtained by its own refreshes.
  var refreshes = 0
  /// The number of times another sign-in has replaced a running session, here or in another
  /// process; the new user may be another one.
  private(set) var replacements = 0
  /// The latest sign-in if a request of the account's user needed it.
  private(set) var continued: ContinuedSignIn?
  /// The running change of the token; `nil` if there is none.
  private(set) var changeUnderWay: TokenChange?
  /// Whether the running change is a renewal that does not have the account's lease yet.
  private(set) var isWaiting = false
  private(set) var schedule = TokenSchedule.expired
  private(set) var isInvalidated = false
  /// The registered client and its server; `nil` if no usable client is registered.
  private(set) var client: AccountRecord.Origin?
  private var changes = 0
  private(set) var failure: BackOff?
  private(set) var renewedAt: Date?
  private(set) var unsaved: Unsaved?
  /// Whether the record in memory is a token from the app that no store was asked to save.
  ///
  /// Such a token may be an old copy of the one in the store.
  private(set) var isUnsavedAdoption = false
  /// Whether the app has set another store, which does not have the record yet.
  private(set) var isMoving = false
  private var events: [SessionEvent] = []
  /// The tokens for parts of the account's rights.
  var narrowed = NarrowedTokens()
  /// The last reported date of the sign-in's end; `nil` if none was reported.
  var toldEnd: Date?
  /// The end of the sign-in if it had passed when it was to be reported; `nil` after a new token.
  var passedEnd: Date?
}

// MARK: - Deciding

extension SessionState {
  /// Returns a caller's next step; if that is a renewal, it becomes the running change.
  mutating func step(_ need: Need, at now: Date) -> Step {
    if let token = token(for: need, at: now) { return .use(token) }
    if let changeUnderWay { return .join(changeUnderWay) }
    guard let record else {
      if let failure, failure.isInForce(at: now) { return .fail(failure.error) }
      return .absent
    }
    if isForeign, !need.isOwn { return .lapsed(.ofAnotherClient(record)) }
    guard isRenewable else { return .lapsed(.cannotRefresh) }
    if let failure, failure.isInForce(at: now) {
      if case .valid = need, let token = unexpiredToken(at: now) { return .use(token) }
      return .fail(failure.error)
    }
    defer { isWaiting = true }
    return .start(begin(), record)
  }

  /// Records that a renewal no longer waits for the lease; returns `false` if it was invalidated.
  mutating func stopsWaiting(_ change: TokenChange) -> Bool {
    guard isCurrent(change) else { return false }
    isWaiting = false
    return true
  }

  /// Starts to take over a token that replaces the current one.
  ///
  /// - Returns: The takeover, and the change that it invalidates, if one was running.
  mutating func beginTakeover() -> (TokenChange, superseded: TokenChange?) {
    let superseded = changeUnderWay
    let change = begin()
    // No timer watches a takeover, so its callers check their time limits from the start.
    change.isSlow()
    return (change, superseded)
  }

  /// Notes the record that the running takeover saves in the store.
  mutating func willTake(_ record: AccountRecord) {
    changeUnderWay?.incoming = record
  }

  private mutating func begin() -> TokenChange {
    changes += 1
    let change = TokenChange(number: changes)
    (changeUnderWay, isWaiting) = (change, false)
    return change
  }

  /// Ends a change; does nothing if the change was invalidated.
  mutating func end(_ change: TokenChange) {
    if isCurrent(change) { changeUnderWay = nil }
  }

  /// Ends a failed change; until the back-off has passed, callers that need a new token get its
  /// error.
  ///
  /// - Returns: `false` if the change was invalidated, so that its error is ignored.
  mutating func fail(_ change: TokenChange, _ error: SQOAuthError, at now: Date) -> Bool {
    guard isCurrent(change) else { return false }
    changeUnderWay = nil
    failure = BackOff(error, after: failure, at: now)
    return true
  }

  /// Returns how long callers still get the error of a failed change; `nil` if they do not.
  func pause(at now: Date) -> Duration? {
    failure.flatMap { $0.isInForce(at: now) ? .seconds($0.until.timeIntervalSince(now)) : nil }
  }

  /// Ends a successful renewal; its token is already in memory.
  mutating func endRenewal(_ change: TokenChange, at now: Date) {
    guard isCurrent(change) else { return }
    changeUnderWay = nil
    renewals += 1
    renewedAt = now
  }
}

// MARK: - Changing

extension SessionState {
  /// Stores a record in memory.
  mutating func hold(
    _ record: AccountRecord, at now: Date, jitter: Double = .random(in: 0...1)
  ) {
    if self.record?.session != record.session {
      toldEnd = nil
      narrowed.forgetAll()
    }
    self.record = record
    passedEnd = nil
    // The previous record must not be saved later, because it would replace this one.
    unsaved = nil
    isUnsavedAdoption = false
    isInvalidated = false
    failure = nil
    schedule = TokenSchedule(
      record.token, knownAt: now, isRenewable: isRenewable, jitter: jitter)
    ready = isForeign ? nil : record.token
  }

  /// Notes which client is registered; with another client or server, callers do not get the token.
  mutating func register(_ client: AccountRecord.Origin?) {
    self.client = client
    ready = isForeign || isInvalidated ? nil : record?.token
  }

  /// Stores in memory the record of a sign-in, or of another grant, that this process made.
  ///
  /// The sign-in counts as another user's, unless the user of `owner` was demanded and nobody else
  /// has signed in meanwhile. It then continues the owner's series.
  mutating func take(
    _ record: AccountRecord, ofSameUserAs owner: RequestOwner?, at now: Date
  ) {
    let isReplaced = self.record != nil && owner?.permits(self.owner) != true
    if isReplaced { replacements += 1 }
    continued = isReplaced ? nil : ContinuedSignIn(record, of: owner)
    hold(record, at: now)
  }

  /// Stores in memory the record of a token that the app has passed in.
  mutating func adopt(_ record: AccountRecord, at now: Date) {
    hold(record, at: now)
    isUnsavedAdoption = true
  }

  /// Notes that a store is asked to save a record.
  mutating func willSave(_ record: AccountRecord) {
    if record.session == self.record?.session { isUnsavedAdoption = false }
  }

  /// Stores in memory a record with a new refresh token and the same access token.
  ///
  /// An invalidated access token stays invalidated, and a pause after a failure goes on.
  mutating func holdRefreshToken(of record: AccountRecord, at now: Date) {
    let (wasInvalidated, failure) = (isInvalidated, failure)
    hold(record, at: now)
    if wasInvalidated { invalidate() }
    self.failure = failure
  }

  /// Stores in memory a record with the same token but different attributes.
  mutating func hold(attributesOf record: AccountRecord) {
    self.record = record
  }

  /// Takes over another process's record from the store, and reports its access token if it is new.
  ///
  /// The access token may be the previous one: a process that also got an ID token first stores
  /// only the new refresh token.
  mutating func takeFromStore(_ record: AccountRecord, at now: Date) {
    let isNew = self.record?.token.accessToken != record.token.accessToken
    let isReplaced = self.record.map(record.isOfAnotherSignIn(than:)) ?? false
    hold(record, at: now)
    if isReplaced {
      replacements += 1
      events.append(.replaced(record.token))
    } else if isNew, usableToken(at: now) != nil {
      events.append(.takenOver(record.token))
    }
  }

  /// Notes the result of an attempt to save a record, if that record is still in memory.
  mutating func didSave(_ record: AccountRecord, _ error: SQOAuthError?, at now: Date) {
    guard record == self.record else { return }
    unsaved = error.map {
      Unsaved(record: record, backOff: BackOff($0, after: unsaved?.backOff, at: now))
    }
  }

  /// Notes that the app has set another store, so the record in memory must be saved there.
  ///
  /// A running change stores its record in the previous store, so that record must be saved too. A
  /// failure of the previous store no longer counts.
  mutating func storeDidChange() {
    unsaved = nil
    isMoving = record != nil || changeUnderWay != nil
  }

  /// Notes that the store which the app has set has a record, if that is the record in memory.
  mutating func didMove(_ record: AccountRecord) {
    if record == self.record { isMoving = false }
  }

  /// Allows the next caller an immediate renewal, unless the server asked to wait.
  mutating func forgetFailure() {
    if failure?.error.retryAfter == nil { failure = nil }
  }

  /// Moves the dates of the timer's work, because the clock was moved back by a time.
  mutating func clockWasMovedBack(by seconds: Double) {
    schedule = schedule.movedBack(by: seconds)
    failure = failure?.movedBack(by: seconds)
    renewedAt?.addTimeInterval(-seconds)
    unsaved = unsaved.map { Unsaved(record: $0.record, backOff: $0.backOff.movedBack(by: seconds)) }
  }

  /// Marks the token as expired.
  mutating func invalidate() {
    isInvalidated = true
    ready = nil
    narrowed.forgetAll()
  }

  /// Ends the session: removes the token, but keeps the counts and the events.
  ///
  /// - Returns: The change that is now invalid; `nil` if none was running.
  mutating func end(_ reason: SessionEnd, isByApp: Bool) -> TokenChange? {
    let old = self
    self = SessionState()
    (events, ends, renewals) = (old.events, old.ends + 1, old.renewals)
    (refreshes, client) = (old.refreshes, old.client)
    (replacements, changes) = (old.replacements, old.changes)
    appEndCount = old.appEndCount + (isByApp ? 1 : 0)
    if old.token != nil { events.append(.ended(reason)) }
    return old.changeUnderWay
  }

  // MARK: Events

  /// Adds an event for the session's observers.
  mutating func report(_ event: SessionEvent) { events.append(event) }

  /// Whether there is an event to report.
  var hasEvents: Bool { !events.isEmpty }

  /// Removes and returns the oldest event.
  mutating func nextEvent() -> SessionEvent? {
    events.isEmpty ? nil : events.removeFirst()
  }
}
