// The meaning of a renewal's error for the session.
extension SQOAuthError {
  /// Whether the error ends the session: the server refused the refresh token or the client's own
  /// grant for good, or the new ID token has a different issuer or user.
  ///
  /// - SeeAlso: RFC 6749, section 5.2; OpenID Connect Core 1.0, section 12.2
  package var endsSession: Bool {
    switch code {
    case .invalidGrant: response != nil && !isOfServerInTrouble
    case .idTokenIssuer, .idTokenSubject: true
    default: false
    }
  }

  /// Whether the server has refused a refresh token, and only another grant can get a new token.
  ///
  /// It is `false` if the response is about another user.
  var refusesRefreshToken: Bool { requiresSignIn && !refusesIDToken }

  /// Whether an ID token was checked and rejected.
  ///
  /// If `false`, it could not be validated yet, for example because its keys could not be fetched.
  var refusesIDToken: Bool { code.rawValue.hasPrefix("id_token_") }

  /// The error of a refresh that sent nothing, because the new token could not have been stored.
  var beforeSending: SQOAuthError {
    SQOAuthError(
      code,
      "\(message); no refresh was sent, because the new token could not have been stored",
      cause: cause)
  }
}
