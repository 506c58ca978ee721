import SQBasics

/// The accounts of a store in the order in which their tokens must be renewed.
///
/// All keepers that share a store share its queue: an account that one of them took is given to no
/// other one for a time.
package protocol AccountQueue: Sendable {
  /// Takes accounts that are due and whose servers are not paused.
  ///
  /// After a pause a server gets one request first: only one of its accounts is given out, with
  /// ``DueAccounts/Account/wasPaused``, until ``resume(_:)``, ``pause(_:askedFor:)`` or
  /// ``giveBack(_:)`` tells what came of it, or until `time` is over.
  ///
  /// Nobody else gets them until `time` is over, or until their next token is due.
  func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts

  /// Makes an account that was taken due again after a time, unless it was saved since.
  func postpone(_ account: DueAccounts.Account, by time: Duration) async throws(SQOAuthError)

  /// Notes the new record of an account that was taken; `nil` if it has none any more.
  func finish(
    _ account: DueAccounts.Account, with record: AccountRecord?
  ) async throws(SQOAuthError)

  /// Gives out no account of a server for a time: a growing one, or the time that the server asked
  /// for.
  ///
  /// Returns how long the server is paused now.
  func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration

  /// Notes that a server that was paused works again.
  func resume(_ server: ServerName) async throws(SQOAuthError)

  /// Notes that a server that was paused got no request.
  func giveBack(_ server: ServerName) async throws(SQOAuthError)
}
