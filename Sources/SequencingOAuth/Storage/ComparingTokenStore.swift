/// A store that gives up a refreshed token if the account has been changed since the refresh began.
///
/// A new sign-in and a sign-out need no lease there: they count at once, also while another process
/// refreshes the earlier token, or has been killed and left its lease.
package protocol ComparingTokenStore: TokenStore {}
