import SQBasics
import SQFoundation

// What a session knows: its token, when its timer is due, and what it must still save.
extension SessionState {
  var token: SQToken? { record?.token }

  /// Returns the token if it is valid.
  func usableToken(at now: Date) -> SQToken? {
    schedule.isUsable(at: now) ? ready : nil
  }

  /// Returns the token if a server should still accept it, even if it is due for renewal.
  func unexpiredToken(at now: Date) -> SQToken? {
    guard let token, !isInvalidated, !isForeign, !token.isExpired(at: now) else { return nil }
    return token
  }

  /// Returns when the timer must act next; `nil` if it has nothing to do.
  ///
  /// Renewals are included only if `renews` is `true`. The end of the sign-in is reported `notice`
  /// before it happens, or later.
  func dueAt(renews: Bool, notice: Duration = .zero) -> Date? {
    var dates: [Date] = []
    if let end = untoldEnd(notice: notice), end.date != passedEnd { dates.append(end.due) }
    if renews, isRenewable, let renewalDate {
      // If a server's tokens expire immediately, it still gets at most one request a second.
      let rest = renewedAt?.addingTimeInterval(1) ?? .distantPast
      dates.append(max(renewalDate, failure?.until ?? .distantPast, rest))
    }
    if let unstored { dates.append(unstored.backOff?.until ?? .distantPast) }
    return dates.min()
  }

  /// The record that the store lacks because a save failed or because the app has set another
  /// store, and the pause after the failure.
  ///
  /// During a change it is `nil`: the change stores its own record, or the timer is set again after
  /// it.
  private var unstored: (record: AccountRecord, backOff: BackOff?)? {
    guard changeUnderWay == nil else { return nil }
    if let unsaved { return (unsaved.record, unsaved.backOff) }
    return isMoving ? record.map { ($0, nil) } : nil
  }

  /// The error of the last attempt to save the current record; `nil` if no attempt failed.
  var unsavedError: SQOAuthError? { unsaved?.backOff.error }

  /// Returns the record that the store failed to save, if it is time for another attempt, or the
  /// record that must be saved in another store.
  ///
  /// If a date is given, the back-off must have ended by then; without a date, the back-off is
  /// ignored. During a change, the result is `nil`, because the store may be about to get the
  /// change's record.
  func recordToSaveAgain(at now: Date?) -> AccountRecord? {
    guard let unstored else { return nil }
    if let now, unstored.backOff?.isInForce(at: now) == true { return nil }
    return unstored.record
  }

  /// Returns whether a change is still running and has not been invalidated.
  func isCurrent(_ change: TokenChange) -> Bool { changeUnderWay?.number == change.number }

  /// The renewal that waits for another process; `nil` if no renewal waits.
  var waitingRenewal: TokenChange? { isWaiting ? changeUnderWay : nil }

  /// Whether the session may take over the store's record, because no change is reading it.
  var mayTakeFromStore: Bool { changeUnderWay == nil || isWaiting }

  /// Whether the record belongs to another client or server than the registered one.
  ///
  /// Its token stays in memory, because the app may register its client again.
  var isForeign: Bool {
    guard let client, let record else { return false }
    return !record.origin.fits(client)
  }

  var isRenewable: Bool {
    record?.isRenewable ?? false
  }

  /// When the timer renews the token if no pause after a failure delays it; `nil` for never.
  ///
  /// An invalidated token, and a token that waits for the validation of its ID token, are due at
  /// once, even if they do not expire.
  private var renewalDate: Date? {
    isInvalidated || record?.unverifiedToken != nil ? .distantPast : schedule.dueAt
  }

  /// Returns the token that a caller needs, if it is in memory and valid.
  ///
  /// Only the SDK itself gets the token of another client or server, to find out that it cannot be
  /// renewed.
  func token(for need: Need, at now: Date) -> SQToken? {
    guard need.isOwn || !isForeign else { return nil }
    if case .narrowed(let access) = need { return narrowed.token(for: access, at: now) }
    guard let record, !isInvalidated, schedule.isUsable(at: now) else { return nil }
    let isNeeded =
      switch need {
      case .valid: true
      case .replacing(let refused): record.token.accessToken != refused
      case .new(let since), .kept(let since): renewals > since
      case .due: renewalDate.map { now < $0 } ?? true
      case .narrowed: false
      }
    return isNeeded ? record.token : nil
  }
}
