/// A token store that discards a refreshed token if the account has changed since the refresh
/// began.
///
/// ``TokenStore/save(_:)`` must throw ``SQOAuthError/Code/accountChanged`` if the record follows
/// another record than the stored one, unless it is of a new sign-in. Then a new sign-in and a
/// sign-out need no lease: they take effect immediately, even while another process refreshes the
/// earlier token, or after a killed process has left its lease.
public protocol ComparingTokenStore: SharedTokenStore {
  /// Erases an account whose token the server refused, unless its token is no longer in the list.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws
}
