// What the error of a renewal means for the session.
extension SQOAuthError {
  /// Whether the authorization server refused the refresh token for good, or its ID token names
  /// another user.
  ///
  /// - SeeAlso: RFC 6749, section 5.2; OpenID Connect Core 1.0, section 12.2
  package var endsSession: Bool {
    switch code {
    case .invalidGrant: response != nil && !isOfServerInTrouble
    case .idTokenIssuer, .idTokenSubject: true
    default: false
    }
  }

  /// Whether an ID token was looked at and refused.
  ///
  /// Otherwise it could not be validated yet, for example because its keys could not be fetched.
  var refusesIDToken: Bool { code.rawValue.hasPrefix("id_token_") }

  /// The error of a refresh that sent nothing, because the store could not have kept the new token.
  var beforeSending: SQOAuthError {
    SQOAuthError(
      code, "\(message); the refresh token was not sent, because the new one could not be stored",
      cause: cause)
  }
}
