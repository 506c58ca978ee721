import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which accounts an ``AccountKeeper`` renews, and when.
public enum KeepingChoice: Sendable, Hashable {
  /// Every account, before its access token expires.
  case all
  /// The accounts that the app used within a time, before their access tokens expire.
  ///
  /// A use is a sign-in, or a refresh that no keeper made. So an account in daily use makes one such
  /// refresh in the time, and none of an account that is not used any more is kept fresh after it.
  case used(within: Duration)
  /// Every account, but only before its refresh token would lapse.
  ///
  /// Many servers end a sign-in whose refresh token was not used for some time. The keeper renews an
  /// account when nine tenths of that time are over. The time is the server's, if its token response
  /// has `refresh_expires_in` or `refresh_token_expires_in`, otherwise this one.
  case lapsing(after: Duration)

  /// The time until a due account should be renewed; zero if it is now.
  ///
  /// Returns `nil` if the account should not be renewed until the app has used it.
  func delay(_ record: AccountRecord, at now: Date) -> Duration? {
    switch self {
    case .all:
      return .zero
    case .used(let time):
      guard let lastUse = record.lastUse else { return .zero }
      return now.timeIntervalSince(lastUse) < time / .seconds(1) ? .zero : nil
    case .lapsing(let time):
      guard let start = record.token.issueDate else { return .zero }
      let lapse = record.lapseDate ?? start.addingTimeInterval(time / .seconds(1))
      let due = start.addingTimeInterval(lapse.timeIntervalSince(start) * 0.9)
      return .seconds(max(0, due.timeIntervalSince(now)))
    }
  }
}
