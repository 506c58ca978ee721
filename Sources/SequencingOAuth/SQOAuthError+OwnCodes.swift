// A server may send any code, even one of the codes for the SDK's own errors. Apps, and the SDK
// itself, act on those codes, so an error from a server must never get one.
extension SQOAuthError.Code {
  /// Creates the code for a server's error: the server's code, or ``requestRefused`` if the
  /// server's code is reserved for the SDK's own errors.
  init(sentByServer code: Self) {
    self = Self.ownOfSDK.contains(code) ? .requestRefused : code
  }

  /// The codes of the SDK's own errors; no specification defines them for a server.
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
    .logoutTokenInvalid, .accessTokenInvalid, .accessTokenMissing, .authorizationMalformed,
    .introspectionUnsupported, .unexpectedTokenType, .unexpectedAudience, .resourceMetadataInvalid,
    .clientUnknown, .registrationUnsupported,
    .registrationMismatch,
    .endSessionUnsupported, .tokenNotBound,
  ]
}

extension ErrorResponse {
  /// A note for the message if the server's code was replaced; empty otherwise.
  var ownCodeNote: String {
    SQOAuthError.Code(sentByServer: error) == error
      ? "" : " (the server sent the code \"\(error)\", which is reserved for the SDK)"
  }
}
