// The properties by which an app decides what to do after an error.
//
// They depend on the error's code, so an error from a server never gets one of the SDK's own codes.
// A server's code may mean one thing in the response to a refresh and another in the response to
// other requests; `occasion` tells the requests apart.
extension SQOAuthError {
  /// Whether the sign-in ended without a failure: the user or the app ended it, or its time ran
  /// out.
  ///
  /// It is `true` for ``Code/accessDenied``, ``Code/cancelled`` and ``Code/timedOut``, and for
  /// ``Code/consentRequired`` and ``Code/expiredToken`` after a sign-in in which the server may
  /// have shown its pages. A refresh does not involve the user, so a refused refresh is never a
  /// cancellation. If the time ran out while other programs blocked the redirect's port, the code
  /// is ``Code/redirectUnavailable``, and the property is `false`. It is also `false` if the code
  /// for another device expired while the server could not be asked, because the user may have
  /// finished the sign-in.
  public var isCancellation: Bool {
    switch code {
    case .cancelled, .timedOut: response == nil
    case .expiredToken: occasion == .pages
    default: isDenial
    }
  }

  /// Whether the user, or the server on the user's behalf, refused a sign-in.
  var isDenial: Bool {
    switch code {
    case .accessDenied: occasion != .refresh
    case .consentRequired: occasion == .pages
    default: false
    }
  }

  /// Whether only a new sign-in can help.
  ///
  /// It is `true` in these cases:
  ///
  /// - The server ended the session: ``Code/invalidGrant``, unless the status shows that the server
  ///   did not process the request, such as 429 or 5xx.
  /// - There is no usable token: ``Code/notAuthorized``.
  /// - The token endpoint refused a request without an OAuth error: ``Code/requestRefused``.
  /// - The ID token of a refresh names another issuer: ``Code/idTokenIssuer``.
  /// - The server's response is about a user other than the expected one: ``Code/idTokenSubject``.
  ///
  /// After a refresh, with the same exception for the status, it is also `true` for
  /// ``Code/invalidRequest``, ``Code/invalidToken``, ``Code/unauthorizedClient``,
  /// ``Code/interactionRequired``, ``Code/loginRequired``, ``Code/consentRequired`` and
  /// ``Code/accessDenied``. Some servers send them for an invalid refresh token, but they can also
  /// have another reason. So the SDK keeps the tokens, although another refresh is unlikely to
  /// succeed.
  public var requiresSignIn: Bool {
    switch code {
    case .invalidGrant: !isOfServerInTrouble
    case .notAuthorized, .requestRefused, .idTokenSubject: response == nil
    // After a sign-in this error points to a wrong configuration, and another sign-in would fail
    // too.
    case .idTokenIssuer: response == nil && occasion == .refresh
    case .invalidRequest, .invalidToken, .unauthorizedClient, .interactionRequired, .loginRequired,
      .consentRequired, .accessDenied:
      occasion == .refresh && !isOfServerInTrouble
    default: false
    }
  }

  /// Returns this error, with the code `invalid_grant` if its code is in `codes`.
  ///
  /// `codes` are the provider's own codes for an invalid refresh token.
  ///
  /// - SeeAlso: RFC 6749, section 5.2
  func ended(by codes: Set<Code>) -> SQOAuthError {
    guard codes.contains(code), response != nil, !isOfServerInTrouble else { return self }
    return SQOAuthError(
      .invalidGrant, message, cause: cause, response: response, status: status,
      challenge: challenge, retryAfter: retryAfter)
  }

  /// Returns this error as the error of a refresh, with a message that says whether to sign in
  /// again.
  ///
  /// The error is unchanged if it has no error response from the server.
  func answeringRefresh() -> SQOAuthError {
    guard response != nil else { return self }
    var error = self
    error.occasion = .refresh
    if error.requiresSignIn {
      error.message +=
        code == .unauthorizedClient
        ? " (a new sign-in is needed; if it or the next refresh fails too, check the client's secret, "
          + "and that the server allows the client the grant refresh_token)"
        : " (a new sign-in is needed)"
    } else if !Self.meantForRefresh.contains(code), !isOfServerInTrouble {
      error.message += " (signing in again may help)"
    }
    return error
  }

  /// The codes that have a defined meaning for a refresh, besides those that require a sign-in.
  ///
  /// - SeeAlso: RFC 6749, section 5.2; RFC 8707, section 2; RFC 9449, section 8
  private static let meantForRefresh: Set<Code> = [
    .invalidGrant, .invalidScope, .invalidTarget, .unsupportedGrantType, .useDPoPNonce,
    .invalidDPoPProof, .invalidClient, .serverError, .temporarilyUnavailable,
  ]
}
