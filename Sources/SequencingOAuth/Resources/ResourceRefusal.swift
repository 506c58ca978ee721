package import SQFoundation

/// A resource server's refusal of a token.
package struct ResourceRefusal {
  /// What can help after a refusal.
  package enum Remedy {
    case none
    /// Another token, for example after a refresh.
    case token
    /// Another proof for the same token.
    case proof
  }

  package internal(set) var error: SQOAuthError
  package let remedy: Remedy

  /// Interprets a response; `nil` if the response is not a refusal of the token.
  ///
  /// `proof` is the request's proof of the token's key; `now` is this machine's time, to compare it
  /// with the server's.
  package init?(
    status: Int, fields: HeaderFields, of token: SQToken, proof: String? = nil,
    for request: ResourceRequest, at now: Date
  ) {
    // A server may repeat what a client sent, so the secrets are removed from the challenge.
    let challenge = fields.tokenChallenges.answering(isBound: token.isBound)?
      .removing(SentSecrets([token.accessToken, proof ?? ""]))
    switch (status, challenge?.error) {
    case (401, .insufficientScope?), (403, .insufficientScope?):
      remedy = .none
      error = SQOAuthError(
        .insufficientScope,
        "the resource server requires more than the token allows; sign in with a wider scope",
        status: status, challenge: challenge)
    case (401, .insufficientUserAuthentication?):
      remedy = .none
      error = SQOAuthError(
        .insufficientUserAuthentication,
        "the resource server requires a newer or a stronger login of the user; sign in again by "
          + "requestAccess(answering:)", status: 401, challenge: challenge)
    case (401, let reason?) where [.useDPoPNonce, .invalidDPoPProof].contains(reason):
      remedy = token.isBound ? .proof : .none
      error = SQOAuthError(
        reason,
        token.isBound
          ? "the resource server refused the proof of the token's key"
            + (ProofAdvice.text(after: reason, fields, at: now) ?? "")
          : "the resource server demands a proof of the token's key; set the configuration's "
            + "tokenBinding, and sign in again",
        status: 401, challenge: challenge)
    case (401, let reason):
      // A server that gives no reason may mean the token; it would give a reason for a malformed
      // request.
      remedy = reason == nil || reason == .invalidToken ? .token : .none
      error = SQOAuthError(
        reason ?? .invalidToken, "the resource server refused the access token",
        status: 401, challenge: challenge)
    default:
      return nil
    }
    error.refusedUse = RefusedUse(token, for: request)
  }

  /// Returns the refusal with these words at the end of its message.
  func explained(by words: String) -> ResourceRefusal {
    var refusal = self
    refusal.error.message += words
    return refusal
  }
}
