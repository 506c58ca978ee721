// Apps decide by these properties what to do next, so a server's error never has one of the SDK's own
// codes. A server's code may mean one thing in answer to a refresh and another in answer to other
// requests; `occasion` distinguishes them.
extension SQOAuthError {
  /// Whether the user or the app ended the sign-in on purpose or let its time run out, without a
  /// failure.
  ///
  /// It is `true` for ``Code/accessDenied``, ``Code/cancelled`` and ``Code/timedOut``, and for
  /// ``Code/consentRequired`` and ``Code/expiredToken`` after a sign-in in which the server may have
  /// shown its pages. A refresh asks no user, so its refusal is never a cancellation. If the time ran out while other
  /// programs blocked the redirect's port, the code is ``Code/redirectUnavailable``, which is no
  /// cancellation.
  public var isCancellation: Bool {
    switch code {
    case .cancelled, .timedOut: response == nil
    case .expiredToken: occasion == .pages
    default: isDenial
    }
  }

  /// Whether the user, or the server in the user's name, refused a sign-in.
  var isDenial: Bool {
    switch code {
    case .accessDenied: occasion != .refresh
    case .consentRequired: occasion == .pages
    default: false
    }
  }

  /// Whether only a new sign-in can help.
  ///
  /// It is `true` if the server ended the session (``Code/invalidGrant`` with a status other than 429
  /// and 5xx), if there is no usable
  /// token (``Code/notAuthorized``), if the token endpoint refused a request without an OAuth error
  /// (``Code/requestRefused``), and if the ID token of a refresh names another user
  /// (``Code/idTokenIssuer``, ``Code/idTokenSubject``). In answer to a refresh, it is also `true`
  /// for ``Code/invalidRequest``, ``Code/interactionRequired``, ``Code/loginRequired``,
  /// ``Code/consentRequired`` and ``Code/accessDenied``. With these five codes the server did not
  /// say that the tokens have ended, so the SDK keeps them; but another refresh is unlikely to
  /// succeed.
  public var requiresSignIn: Bool {
    switch code {
    case .invalidGrant: !isOfServerInTrouble
    case .notAuthorized, .requestRefused, .idTokenSubject: response == nil
    // At a sign-in the configuration may be wrong, and another sign-in would bring the same.
    case .idTokenIssuer: response == nil && occasion == .refresh
    case .invalidRequest, .interactionRequired, .loginRequired, .consentRequired, .accessDenied:
      occasion == .refresh && !isOfServerInTrouble
    default: false
    }
  }

  /// This error as the answer to a refresh; its message then says whether to sign in again.
  ///
  /// Nothing changes if the error has no error response from the server.
  func answeringRefresh() -> SQOAuthError {
    guard response != nil else { return self }
    var error = self
    error.occasion = .refresh
    if error.requiresSignIn {
      error.message += " (a new sign-in is needed)"
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
    .invalidClient, .unauthorizedClient, .serverError, .temporarilyUnavailable,
  ]
}
