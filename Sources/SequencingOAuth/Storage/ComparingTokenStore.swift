/// A token store that discards a refreshed token if the account has changed since the refresh
/// began.
///
/// While a caller has the account's lease, ``TokenStore/save(_:)`` must throw
/// ``SQOAuthError/Code/accountChanged`` if the stored record is no longer the record that the
/// caller last loaded, reserved or saved. It must not throw this for a new sign-in: then the new
/// record has a different ``AccountRecord/session``, and replaces any record. With this rule, a new
/// sign-in and a sign-out need no lease: they take effect immediately, even while another process
/// refreshes the earlier token, or after a killed process has left its lease.
///
/// A new sign-in and a sign-out may also come from the process whose session has the lease. So an
/// erasure, a save of another sign-in, or a load that finds no record must not let the store forget
/// which record of the earlier sign-in the next save must replace.
public protocol ComparingTokenStore: SharedTokenStore {
  /// Erases an account if its stored token is one of `tokens`.
  ///
  /// The SDK calls it if the server refused these tokens, or if an earlier erasure failed.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws
}
