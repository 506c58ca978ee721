/// A store that discards a refreshed token if the account has changed since the refresh began.
///
/// In such a store, a new sign-in and a sign-out need no lease. They take effect immediately, even
/// while another process refreshes the earlier token, or after a killed process has left its lease.
package protocol ComparingTokenStore: TokenStore {}
