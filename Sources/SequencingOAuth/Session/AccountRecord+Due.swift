package import SQFoundation

extension AccountRecord {
  /// Returns when the token should be renewed; `nil` if it cannot be renewed or does not expire.
  ///
  /// `jitter`, from 0 to 1, spreads the renewals of a server's accounts over time.
  package func dueDate(at now: Date, jitter: Double) -> Date? {
    guard isRenewable else { return nil }
    if unverifiedToken != nil { return now }
    return TokenSchedule(token, knownAt: now, isRenewable: true, jitter: jitter).dueAt
  }

  /// Returns whether the record's dates come from a clock that is ahead of the clock that shows `now`
  /// and says that the account is due.
  ///
  /// Then the dates do not show how old the token is. Clocks that differ by less than a minute count
  /// as equal.
  package func isDated(after now: Date) -> Bool {
    let latest = now.addingTimeInterval(TokenSchedule.clockTolerance)
    if let start = token.issueDate, start >= latest { return true }
    return dueDate(at: now, jitter: 1).map { $0 >= latest } ?? false
  }

  /// The date on which the token is due by the record's own dates; `nil` if they do not say it.
  package var ownDueDate: Date? {
    token.issueDate.flatMap { dueDate(at: $0, jitter: 1) }
  }

  /// Returns when an `AccountKeeper` should renew the account again after a renewal that ended at
  /// `now`; `nil` for never.
  ///
  /// A renewal may leave a token that is due already: the response's token cannot be used, its ID
  /// token cannot be validated, or it expires at once. Without the pauses here, the keepers would
  /// then send the server one request right after the other.
  package func dueDate(afterRenewalAt now: Date, jitter: Double) -> Date? {
    guard let date = dueDate(at: now, jitter: jitter) else { return nil }
    return date <= now ? now.addingTimeInterval(10) : max(date, now.addingTimeInterval(1))
  }

  /// When the app last used the account, according to the record.
  ///
  /// It is the date of the last sign-in or refresh; refreshes by an `AccountKeeper` do not count.
  package var lastUse: Date? { usedAt ?? token.issueDate }

  /// The date when an unused refresh token expires; `nil` if the newest response did not name it.
  package var lapseDate: Date? {
    let word = GrantEnd.word(
      GrantEnd.refreshTokenFields, in: token.additionalFields, at: token.issueDate)
    if case .end(let end) = word { return end.date }
    return nil
  }
}
