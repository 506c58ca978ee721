/// A store that erases an account only if no other host has given it another token meanwhile.
package protocol RefusedTokenEraser: TokenStore {
  /// Erases an account whose token the server refused, unless its token is none of these any more.
  func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async throws(SQOAuthError)
}
