/// The operations on a user's account that most of an app needs: signing in, requests, signing out.
///
/// ``AuthorizationModule`` and ``SQOAuth`` conform to it. Let the parts of an app that only use an
/// account take `any OAuthAccount`. Their tests can then replace the account by a type of a few
/// lines, and need no server:
///
/// ```swift
/// struct OfflineAccount: OAuthAccount {
///   func signIn() async throws(SQOAuthError) -> SQToken { SQToken(accessToken: "a") }
///   func requestAccess() async throws(SQOAuthError) -> SQToken { SQToken(accessToken: "a") }
///   func token() async throws(SQOAuthError) -> SQToken { SQToken(accessToken: "a") }
///   func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse { .init(status: 503) }
///   func userInfo() async throws(SQOAuthError) -> UserInfo { throw SQOAuthError(.timedOut, "offline") }
///   func signOut() async throws(SQOAuthError) {}
/// }
/// ```
///
/// The library `SequencingOAuthTesting` has such a type, `FakeAccount`. The token's
/// ``SQToken/idToken`` says who the user is. The part of an app that configures accounts, or needs
/// the other operations, takes ``AccountOperations``.
public protocol OAuthAccount: Sendable {
  /// Signs the user in, as ``AccountOperations/signIn()`` does in the browser.
  ///
  /// - Throws: ``SQOAuthError``: the reason why the user is not signed in.
  @discardableResult
  func signIn() async throws(SQOAuthError) -> SQToken

  /// Gets a valid token, and signs the user in if there is none.
  ///
  /// - Throws: ``SQOAuthError``: the reason why there is no token.
  @discardableResult
  func requestAccess() async throws(SQOAuthError) -> SQToken

  /// Returns a valid token without asking the user.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if the user must sign in
  ///   first.
  func token() async throws(SQOAuthError) -> SQToken

  /// Sends a request with a valid token, and returns the response.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``token()``, or the reason why there is no response.
  func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse

  /// Gets the claims about the signed-in user from the provider.
  ///
  /// - Throws: ``SQOAuthError``: the reason why there are no claims.
  func userInfo() async throws(SQOAuthError) -> UserInfo

  /// Forgets the user's tokens.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if a store still has them.
  func signOut() async throws(SQOAuthError)
}

extension AuthorizationModule: OAuthAccount {}

extension SQOAuth: OAuthAccount {}
