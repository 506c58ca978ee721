/// What a resource server has against a token.
struct ResourceRefusal {
  let error: SQOAuthError
  /// Whether another token may please it.
  let isWorthRefresh: Bool

  /// `nil` for a response that is not about the token.
  init?(_ response: HTTPResponse, of token: SQToken) {
    // Servers repeat what they were sent.
    let challenge = response.bearerChallenge?.removing(SentSecrets([token.accessToken]))
    switch (response.status, challenge?.error) {
    case (401, .insufficientScope?), (403, .insufficientScope?):
      isWorthRefresh = false
      error = SQOAuthError(
        .insufficientScope,
        "the resource server wants more than the token allows; sign in with a wider scope",
        status: response.status, challenge: challenge)
    case (401, let reason):
      // A server that names no reason may mean the token; a malformed request it would name.
      isWorthRefresh = reason == nil || reason == .invalidToken
      error = SQOAuthError(
        reason ?? .invalidToken, "the resource server refused the access token",
        status: 401, challenge: challenge)
    default:
      return nil
    }
  }
}
