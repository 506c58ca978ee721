/// A resource server's refusal of a token.
struct ResourceRefusal {
  let error: SQOAuthError
  /// Whether the server may accept another token.
  let isWorthRefresh: Bool

  /// Interprets a response; `nil` if the response is not a refusal of the token.
  init?(_ response: WebResponse, of token: SQToken) {
    // Servers repeat what clients send, so the token is removed from the challenge.
    let challenge = response.bearerChallenge?.removing(SentSecrets([token.accessToken]))
    switch (response.status, challenge?.error) {
    case (401, .insufficientScope?), (403, .insufficientScope?):
      isWorthRefresh = false
      error = SQOAuthError(
        .insufficientScope,
        "the resource server requires more than the token allows; sign in with a wider scope",
        status: response.status, challenge: challenge)
    case (401, let reason):
      // A server that gives no reason may mean the token; it would give a reason for a malformed
      // request.
      isWorthRefresh = reason == nil || reason == .invalidToken
      error = SQOAuthError(
        reason ?? .invalidToken, "the resource server refused the access token",
        status: 401, challenge: challenge)
    default:
      return nil
    }
  }
}
