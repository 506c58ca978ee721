import SQBasics
import SQFoundation
import SequencingOAuth

/// The choice of the accounts that an ``AccountKeeper`` renews.
public enum KeepingChoice: Sendable, Hashable {
  /// Every account, before its access token expires.
  case all
  /// The accounts that the app has used recently, before their access tokens expire.
  ///
  /// A use is a sign-in, or a refresh that no keeper made, within the given time. When the time is
  /// over, the keeper stops renewing the account. If the app still uses the account, it then
  /// refreshes the token itself. That counts as a use, and the keeper continues.
  case used(within: Duration)
  /// Every account, but only when its refresh token would soon expire because it was not used.
  ///
  /// Many servers end a session if its refresh token was not used for some time. The keeper renews
  /// an account when nine tenths of that time are over. The token response may contain that time,
  /// as `refresh_token_timeout` or in a vendor's own member; otherwise it is the given time. The
  /// keeper does not renew an account before its access token is about to expire. So it cannot help
  /// if the access token does not expire, or outlives the refresh token.
  case lapsing(after: Duration)

  /// Returns the time until a due account should be renewed, or zero if it should be renewed now.
  ///
  /// `now` is the date of the clock by which the account is due. Returns `nil` if the account should
  /// not be renewed until the app has used it.
  func delay(_ record: AccountRecord, at now: Date) -> Duration? {
    switch self {
    case .all:
      return .zero
    case .used(let time):
      guard let lastUse = record.lastUse else { return .zero }
      return now.timeIntervalSince(lastUse) < time.seconds ? .zero : nil
    case .lapsing(let time):
      guard let start = record.token.issueDate else { return .zero }
      // A host whose clock is ahead saved the record. The wait could be longer than the refresh
      // token lasts.
      if record.isDated(after: now) { return .zero }
      let lapse = record.lapseDate ?? start.addingTimeInterval(time.seconds)
      let due = start.addingTimeInterval(lapse.timeIntervalSince(start) * 0.9)
      let rest = due.timeIntervalSince(now)
      // The clock of the host that saved the record may be ahead by up to a minute. So an account
      // that was postponed until this time is not postponed again.
      return rest < 60 ? .zero : .bounded(seconds: rest)
    }
  }
}
