// What an app does next depends on these, so a server cannot claim one of the SDK's own codes: they
// count only where no error response came with them. A code that a server sends may mean one thing
// in answer to a refresh and another in answer to anything else; `occasion` tells them apart.
extension SQOAuthError {
  /// Whether the sign-in ended by the user's or the app's will, and not by a failure.
  ///
  /// True for ``Code/accessDenied``, ``Code/cancelled`` and ``Code/timedOut``, and for
  /// ``Code/consentRequired`` after a sign-in in which the server may have shown its pages. A refresh
  /// asks no user, so its refusal is never a cancellation.
  /// A sign-in whose time ran out while other programs crowded the redirect's port is
  /// ``Code/redirectUnavailable``, and no cancellation.
  public var isCancellation: Bool {
    switch code {
    case .cancelled, .timedOut: response == nil
    default: isDenial
    }
  }

  /// Whether the user, or the server in the user's name, said no to a sign-in.
  var isDenial: Bool {
    switch code {
    case .accessDenied: occasion != .refresh
    case .consentRequired: occasion == .pages
    default: false
    }
  }

  /// Whether only a new sign-in can help: the server refused what the session lives on.
  ///
  /// True for ``Code/invalidGrant``, for ``Code/notAuthorized``, and for ``Code/requestRefused``,
  /// which is a refusal by the token endpoint that carries no OAuth error. In answer to a refresh, and
  /// only then, also for ``Code/invalidRequest``, ``Code/interactionRequired``,
  /// ``Code/loginRequired``, ``Code/consentRequired`` and ``Code/accessDenied``: the tokens are kept,
  /// since the server did not say that they have ended, but another refresh will hardly succeed.
  public var requiresSignIn: Bool {
    switch code {
    case .invalidGrant: true
    case .notAuthorized, .requestRefused: response == nil
    case .invalidRequest, .interactionRequired, .loginRequired, .consentRequired, .accessDenied:
      occasion == .refresh && !isOfServerInTrouble
    default: false
    }
  }

  /// The same error as the answer to a refresh, with a message that says whether to sign in again.
  ///
  /// Without the server's own error response nothing changes.
  func answeringRefresh() -> SQOAuthError {
    guard response != nil else { return self }
    var error = self
    error.occasion = .refresh
    if error.requiresSignIn, code != .invalidGrant {
      error.message += " (a new sign-in is needed)"
    } else if !Self.meantForRefresh.contains(code), !isOfServerInTrouble {
      error.message += " (signing in again may help)"
    }
    return error
  }

  /// The codes whose meaning for a refresh is known, besides those that require a sign-in.
  ///
  /// - SeeAlso: RFC 6749, section 5.2; RFC 8707, section 2; RFC 9449, section 8
  private static let meantForRefresh: Set<Code> = [
    .invalidGrant, .invalidScope, .invalidTarget, .unsupportedGrantType, .useDPoPNonce,
    .invalidClient, .unauthorizedClient, .serverError, .temporarilyUnavailable,
  ]

  /// Whether the status says that the server could not deal with the request at all.
  private var isOfServerInTrouble: Bool {
    status.map { $0 == 429 || $0 >= 500 } ?? false
  }
}
