import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a session knows and what it decides; a value that does no I/O.
struct SessionState {
  /// What a caller wants of the token.
  enum Need: Sendable {
    /// One that is valid now.
    case valid
    /// Another one than this access token, which a server refused.
    case replacing(String)
    /// A fresh one, whatever there is: made by a renewal behind this many.
    case new(since: Int)
    /// What the timer wants: a fresh one if it is time.
    case due
  }

  /// What a caller is to do.
  enum Step {
    case use(SQToken)
    /// Wait for a renewal.
    case join(Renewal)
    /// The same; the work is this caller's to start.
    case start(Renewal)
    /// Wait, and ask again.
    case wait(OneShot<()>)
    /// There is nothing in memory.
    case absent
    case fail(SQOAuthError)
  }

  /// One renewal: what it starts from, and who waits for it.
  struct Renewal: Sendable {
    /// Its value is `nil` when the renewal was made void: whoever waits asks again.
    let work = SharedWork<SQToken?, SQOAuthError>()
    let record: AccountRecord
    fileprivate let claim: Int
  }

  /// Another token on its way into the session: from a sign-in, a grant or the app.
  struct Takeover: Sendable {
    let end = OneShot<()>()
    fileprivate let claim: Int
  }

  /// A record that the store refused.
  struct Unsaved {
    var record: AccountRecord
    var backOff: BackOff
  }

  /// What an end leaves behind: whoever waits for it has to be told.
  typealias Voided = (renewal: Renewal?, takeover: Takeover?)

  /// Who may change the token; one at a time.
  enum Change {
    case renewal(Renewal)
    case takeover(Takeover)
  }

  /// The token, unless it was invalidated; the schedule says when it is valid.
  ///
  /// It is read far more often than anything else is, and so stands beside the record.
  private var ready: SQToken?
  private(set) var record: AccountRecord?
  private(set) var unsaved: Unsaved?
  /// How often the session was ended, in whatever way.
  private(set) var ends = 0
  /// How often it was ended from outside, and not by what a renewal found out.
  private(set) var dismissals = 0
  /// How often the token was renewed.
  private(set) var renewals = 0
  /// How often another process's sign-in replaced the record that was held.
  private(set) var replacements = 0
  /// The one change of the token that is under way.
  private(set) var changeUnderWay: Change?
  private var schedule = TokenSchedule.expired
  private var isInvalidated = false
  /// Counts takeovers and ends: a change that began under another number is void.
  private var claim = 0
  private var failure: BackOff?
  private var renewedAt: Date?
  /// What this session last wrote to the store or read from it.
  private var inStore: SQToken?
}

// MARK: - Reading

extension SessionState {
  var token: SQToken? { record?.token }

  /// The token, if it is valid.
  func usableToken(at now: Date) -> SQToken? {
    schedule.isUsable(at: now) ? ready : nil
  }

  /// The token, if a server should still take it though it is time for another.
  func unexpiredToken(at now: Date) -> SQToken? {
    guard let token, !isInvalidated, !token.isExpired(at: now) else { return nil }
    return token
  }

  /// When the timer has something to do; a renewal only where it `renews`.
  func dueAt(renews: Bool) -> Date? {
    var dates: [Date] = []
    if renews, isRenewable, let due = schedule.dueAt {
      // A server whose tokens are over at once is not asked without end.
      let rest = renewedAt?.addingTimeInterval(1) ?? .distantPast
      dates.append(max(isInvalidated ? .distantPast : due, failure?.until ?? .distantPast, rest))
    }
    // A change under way stores a record of its own, or is followed by another look.
    if let unsaved, changeUnderWay == nil { dates.append(unsaved.backOff.until) }
    return dates.min()
  }

  /// Whether a renewal still stands.
  func isCurrent(_ renewal: Renewal) -> Bool { renewal.claim == claim }

  /// Whether a takeover still stands.
  func isCurrent(_ takeover: Takeover) -> Bool { takeover.claim == claim }

  /// Whether a record of the store is to be preferred to one that was held here.
  ///
  /// It is when it is not the one that this session left there: another process wrote it. Where
  /// that is not known, the younger one is; dates alone would mislead once the clock was moved.
  func prefers(_ stored: AccountRecord, to held: AccountRecord) -> Bool {
    if stored.token.isSame(as: held.token) { return false }
    if let inStore { return !stored.token.isSame(as: inStore) }
    return stored.token.isYounger(than: held.token)
  }

  /// Whether a missing record means that another process signed the user out.
  var wasStored: Bool { inStore != nil && unsaved == nil }

  private var isRenewable: Bool {
    record.map { $0.token.refreshToken != nil || $0.grant != nil } ?? false
  }

  private func isUsable(at now: Date) -> Bool {
    usableToken(at: now) != nil
  }

  private func satisfies(_ need: Need, at now: Date) -> Bool {
    switch need {
    case .valid: isUsable(at: now)
    case .replacing(let refused): token?.accessToken != refused && isUsable(at: now)
    case .new(let since): renewals > since && isUsable(at: now)
    case .due: isUsable(at: now) && schedule.dueAt.map { now < $0 } ?? true
    }
  }
}

// MARK: - Deciding

extension SessionState {
  mutating func step(_ need: Need, at now: Date) -> Step {
    if let record, satisfies(need, at: now) { return .use(record.token) }
    switch changeUnderWay {
    case .renewal(let renewal)?: return .join(renewal)
    case .takeover(let takeover)?: return .wait(takeover.end)
    case nil: break
    }
    guard let record else {
      if let failure, failure.isInForce(at: now) { return .fail(failure.error) }
      return .absent
    }
    guard isRenewable else { return .fail(.cannotRefresh) }
    if let failure, failure.isInForce(at: now) {
      if case .valid = need, let token = unexpiredToken(at: now) { return .use(token) }
      return .fail(failure.error)
    }
    let renewal = Renewal(record: record, claim: claim)
    changeUnderWay = .renewal(renewal)
    return .start(renewal)
  }
}

// MARK: - Changing

extension SessionState {
  /// Begins to take over a token that replaces whatever there is; the renewal is void now.
  mutating func beginTakeover() -> (Takeover, void: Renewal?) {
    let void = renewal
    claim += 1
    let takeover = Takeover(claim: claim)
    changeUnderWay = .takeover(takeover)
    return (takeover, void)
  }

  /// Whoever took over is done.
  mutating func end(_ takeover: Takeover) {
    if case .takeover(let current)? = changeUnderWay, current.end === takeover.end {
      changeUnderWay = nil
    }
  }

  /// A takeover brought no token; the error is that of further callers too, for some time.
  ///
  /// One that was made void changes nothing.
  mutating func fail(_ takeover: Takeover, _ error: SQOAuthError, at now: Date) {
    guard isCurrent(takeover) else { return }
    end(takeover)
    failure = BackOff(error, after: failure, at: now)
  }

  /// A renewal is done; with an error it failed.
  ///
  /// One that was made void changes nothing.
  mutating func end(_ renewal: Renewal, _ error: SQOAuthError? = nil, at now: Date) {
    guard isCurrent(renewal) else { return }
    changeUnderWay = nil
    if let error {
      failure = BackOff(error, after: failure, at: now)
    } else {
      renewals += 1
      renewedAt = now
    }
  }

  /// Takes a record into memory.
  mutating func hold(_ record: AccountRecord, at now: Date, jitter: Double) {
    self.record = record
    // Whatever the store refused before must not be written over what comes now.
    unsaved = nil
    isInvalidated = false
    failure = nil
    schedule = TokenSchedule(
      record.token, knownAt: now, isRenewable: isRenewable, jitter: jitter)
    ready = record.token
  }

  /// Takes over a record that another process stored.
  ///
  /// - Returns: Whether the record is from another sign-in, and so perhaps another user's.
  mutating func adopt(_ record: AccountRecord, at now: Date, jitter: Double) -> Bool {
    let isReplaced =
      if let mine = self.record?.session, let its = record.session { mine != its } else { false }
    if isReplaced { replacements += 1 }
    storeHolds(record.token)
    hold(record, at: now, jitter: jitter)
    return isReplaced
  }

  /// The record that the store refused, if it is time to offer it again: at a moment, or at once.
  ///
  /// Not while a change is under way: its own record may be on the way to the store already.
  func recordToSaveAgain(at now: Date?) -> AccountRecord? {
    guard let unsaved, changeUnderWay == nil else { return nil }
    if let now, unsaved.backOff.isInForce(at: now) { return nil }
    return unsaved.record
  }

  /// What is in the store now.
  mutating func storeHolds(_ token: SQToken?) {
    inStore = token
  }

  /// What became of the attempt to store the record that is held.
  mutating func didSave(_ record: AccountRecord, _ error: SQOAuthError?, at now: Date) {
    guard record == self.record else { return }
    unsaved = error.map {
      Unsaved(record: record, backOff: BackOff($0, after: unsaved?.backOff, at: now))
    }
  }

  /// Lets the next caller try a renewal at once, unless the server asked for time.
  mutating func forgetFailure() {
    if failure?.error.retryAfter == nil { failure = nil }
  }

  /// Makes the token count as expired.
  mutating func invalidate() {
    isInvalidated = true
    ready = nil
  }

  /// Forgets everything; the renewal and the takeover are void now.
  mutating func end(isDismissal: Bool) -> Voided {
    var void: Voided = (renewal, nil)
    if case .takeover(let takeover)? = changeUnderWay { void.takeover = takeover }
    let (claim, ends, renewals, replacements) = (claim + 1, ends + 1, renewals, replacements)
    let dismissals = dismissals + (isDismissal ? 1 : 0)
    self = SessionState()
    self.claim = claim
    self.ends = ends
    self.renewals = renewals
    self.replacements = replacements
    self.dismissals = dismissals
    return void
  }

  private var renewal: Renewal? {
    if case .renewal(let renewal)? = changeUnderWay { renewal } else { nil }
  }
}
