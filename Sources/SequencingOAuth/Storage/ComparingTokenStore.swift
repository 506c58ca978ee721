/// A token store that discards a refreshed token if the account has changed since the refresh
/// began.
///
/// ``TokenStore/save(_:)`` must throw ``SQOAuthError/Code/accountChanged`` if the stored record is
/// not the predecessor of the new record, unless the new record comes from a new sign-in. With this
/// rule, a new sign-in and a sign-out need no lease: they take effect immediately, even while
/// another process refreshes the earlier token, or after a killed process has left its lease.
public protocol ComparingTokenStore: SharedTokenStore {
  /// Erases an account whose token the server refused, if the stored token is in the list.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws
}
