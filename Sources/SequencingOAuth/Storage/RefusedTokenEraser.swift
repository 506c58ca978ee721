/// A store that can erase an account only if no other host has stored a different token.
package protocol RefusedTokenEraser: TokenStore {
  /// Erases an account whose token the server refused, unless its token is no longer in the list.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws(SQOAuthError)
}
