import SQBasics

/// A queue of a store's accounts, in the order in which their tokens are due for renewal.
///
/// Every `AccountKeeper` of a store takes its accounts from the same queue. After one keeper has
/// taken an account, no other keeper gets it for some time.
public protocol AccountQueue: Sendable {
  /// Takes accounts that are due and whose servers are not paused.
  ///
  /// After a pause, a server first gets a single request. So the queue returns only one of that
  /// server's accounts, with ``DueAccounts/Account/wasPaused``, until ``resume(_:)``,
  /// ``pause(_:askedFor:)`` or ``giveBack(_:)`` reports the result, or until `time` is over.
  ///
  /// No other keeper gets these accounts until `time` is over, or until their next token is due.
  func take(atMost count: Int, for time: Duration) async throws(SQOAuthError) -> DueAccounts

  /// Takes due accounts, and prefers accounts of servers that are not busy.
  ///
  /// `busy` names the servers at which the keeper renews accounts now; the server with the most
  /// renewals is the last one. Otherwise this method does what ``take(atMost:for:)`` does. If a
  /// server is slow and has many due accounts, the queue should also return accounts of other
  /// servers, so that their tokens do not expire meanwhile. The default implementation ignores
  /// `busy`.
  func take(
    atMost count: Int, for time: Duration, busy: [ServerName]
  ) async throws(SQOAuthError) -> DueAccounts

  /// Makes a taken account due again after a time, unless it was saved in the meantime.
  ///
  /// A renewal that fails may have saved a record too, for example with only a new refresh token.
  /// After such a save, the queue itself must wait some seconds before it returns the account.
  func postpone(_ account: DueAccounts.Account, by time: Duration) async throws(SQOAuthError)

  /// Updates the queue with the new record of a taken account; `nil` if the store has none.
  func finish(
    _ account: DueAccounts.Account, with record: AccountRecord?
  ) async throws(SQOAuthError)

  /// Pauses a server, so that none of its accounts is taken.
  ///
  /// The pause grows with each call, and is at least the time that the server asked for; `time` is
  /// `nil` if the server asked for none. Returns how long the server is paused now.
  func pause(
    _ server: ServerName, askedFor time: Duration?
  ) async throws(SQOAuthError) -> Duration

  /// Records that a paused server works again.
  func resume(_ server: ServerName) async throws(SQOAuthError)

  /// Lets another account of a paused server be taken, because the server got no request.
  func giveBack(_ server: ServerName) async throws(SQOAuthError)
}

extension AccountQueue {
  /// Takes due accounts without regard to the busy servers.
  public func take(
    atMost count: Int, for time: Duration, busy: [ServerName]
  ) async throws(SQOAuthError) -> DueAccounts {
    try await take(atMost: count, for: time)
  }
}
