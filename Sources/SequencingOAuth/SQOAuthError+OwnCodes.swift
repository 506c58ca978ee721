// A server may send any code, also one by which the SDK says what went wrong on its own side. Apps,
// and the SDK itself, decide by such a code, so it must never come from a server.
extension SQOAuthError.Code {
  /// The code of an error that a server sent: its own, or ``requestRefused`` if that is the SDK's.
  init(sentByServer code: Self) {
    self = Self.ownOfSDK.contains(code) ? .requestRefused : code
  }

  /// The codes that no specification gives to a server.
  static let ownOfSDK: Set<Self> = [
    .invalidConfiguration, .insecureEndpoint, .revocationUnsupported,
    .deviceAuthorizationUnsupported, .originNotAllowed, .notRegistered, .cancelled,
    .signInUnderWay, .timedOut, .stateMismatch, .issuerMismatch, .invalidAuthorizationResponse,
    .browserUnavailable, .signInRefused, .portInUse, .redirectUnavailable, .signInUnsupported,
    .pkceUnsupported, .webSignInInvalid, .webSignInUsed, .connectionFailed, .tlsFailed,
    .redirectRefused, .responseTooLarge, .invalidResponse, .requestRefused, .requestTimedOut,
    .malformedRequest, .bodyNotReplayable, .fileFailed, .fileInUse, .notAuthorized,
    .storeFailed, .storeDamaged, .storeTooNew, .wrongPassphrase, .accountInUse, .accountChanged,
    .sessionReplaced, .clientKeyFailed, .duplicateName, .openIDUnsupported, .idTokenMissing,
    .idTokenMalformed, .idTokenIncomplete, .idTokenEncrypted, .idTokenCritical,
    .idTokenAlgorithm, .idTokenKey, .idTokenWeakKey, .idTokenSignature, .idTokenIssuer,
    .idTokenSubject, .idTokenAudience, .idTokenAuthorizedParty, .idTokenExpired,
    .idTokenNotYetValid, .idTokenNonce, .idTokenAccessToken, .idTokenCode,
    .idTokenAuthenticationDate, .idTokenAuthenticationContext, .userInfoInvalid,
    .logoutTokenInvalid, .accessTokenInvalid, .introspectionUnsupported, .unexpectedTokenType,
    .unexpectedAudience, .registrationUnsupported, .registrationMismatch,
    .endSessionUnsupported,
  ]
}

extension ErrorResponse {
  /// What the message adds if the code of the error is not the server's; it is empty otherwise.
  var ownCodeNote: String {
    SQOAuthError.Code(sentByServer: error) == error
      ? "" : " (with the code \"\(error)\", which only the SDK can mean)"
  }
}
