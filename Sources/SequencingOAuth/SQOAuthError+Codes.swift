extension SQOAuthError.Code {
  // MARK: From the authorization server (RFC 6749, sections 4.1.2.1 and 5.2)

  /// The server found the request malformed.
  public static let invalidRequest = Self(rawValue: "invalid_request")
  /// The server does not know the client or refused its authentication.
  public static let invalidClient = Self(rawValue: "invalid_client")
  /// The code or the refresh token is wrong, expired, revoked, or was given to another client.
  public static let invalidGrant = Self(rawValue: "invalid_grant")
  /// The client may not use this grant.
  public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
  /// The server does not offer this grant.
  public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
  /// The server does not offer this way to answer an authorization request.
  public static let unsupportedResponseType = Self(rawValue: "unsupported_response_type")
  /// The scope is unknown, malformed, or more than the user may grant.
  public static let invalidScope = Self(rawValue: "invalid_scope")
  /// The user, or the server in the user's name, said no.
  public static let accessDenied = Self(rawValue: "access_denied")
  /// The server failed.
  public static let serverError = Self(rawValue: "server_error")
  /// The server is overloaded or being maintained.
  public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")
  /// The user has to deal with the server's pages (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let interactionRequired = Self(rawValue: "interaction_required")
  /// The user has to log in at the server (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let loginRequired = Self(rawValue: "login_required")
  /// The user has not consented (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let consentRequired = Self(rawValue: "consent_required")
  /// The resource is unknown or not acceptable (RFC 8707, section 2).
  public static let invalidTarget = Self(rawValue: "invalid_target")
  /// The server wants a DPoP proof with its nonce, which the SDK does not make (RFC 9449, section 8).
  public static let useDPoPNonce = Self(rawValue: "use_dpop_nonce")
  /// The server cannot revoke a token of this kind (RFC 7009, section 2.2.1).
  public static let unsupportedTokenType = Self(rawValue: "unsupported_token_type")

  // MARK: From a resource server (RFC 6750, section 3.1)

  /// The access token is expired, revoked or malformed; a new one may be accepted.
  public static let invalidToken = Self(rawValue: "invalid_token")
  /// The token lacks a scope that the app requires, or that a resource server asks for.
  ///
  /// A refresh does not add one; a new sign-in may.
  public static let insufficientScope = Self(rawValue: "insufficient_scope")

  // MARK: From the client's configuration

  /// A parameter of the client or the provider is missing or cannot be used.
  public static let invalidConfiguration = Self(rawValue: "invalid_configuration")
  /// An endpoint is http and not on a loopback address, or is http though its issuer is https.
  public static let insecureEndpoint = Self(rawValue: "insecure_endpoint")
  /// The provider has no revocation endpoint, or offers none for the tokens at hand.
  public static let revocationUnsupported = Self(rawValue: "revocation_unsupported")
  /// A token would go to an origin that the client does not allow.
  public static let originNotAllowed = Self(rawValue: "origin_not_allowed")
  /// No client was registered before it was needed.
  public static let notRegistered = Self(rawValue: "not_registered")

  // MARK: From the sign-in

  /// The app or the user ended the sign-in before it was answered.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The user did not come back within the time that the sign-in allows.
  public static let timedOut = Self(rawValue: "timed_out")
  /// An answer did not carry the `state` of this sign-in.
  public static let stateMismatch = Self(rawValue: "state_mismatch")
  /// An answer, or a metadata document, names another issuer than the one that was asked.
  public static let issuerMismatch = Self(rawValue: "issuer_mismatch")
  /// The redirect holds what no server may send there: doubled parameters, a token, no code.
  public static let invalidAuthorizationResponse = Self(
    rawValue: "invalid_authorization_response")
  /// No browser could be started.
  public static let browserUnavailable = Self(rawValue: "browser_unavailable")
  /// The authorization server has shown a page instead of sending the user back to the app.
  ///
  /// The user or the password is wrong, the client is unknown, its redirect URI is not registered, or
  /// the server failed. The SDK does not see the pages in a browser. It is what a ``UserAgent`` that
  /// sees them throws, and what a sign-in with the visitor of `OAuthSandbox` fails with.
  public static let signInRefused = Self(rawValue: "sign_in_refused")
  /// The redirect receiver's port belongs to another program.
  public static let portInUse = Self(rawValue: "port_in_use")
  /// No redirect could be received: no loopback address could be bound, or other programs crowded
  /// its port until the time for the sign-in was over.
  public static let redirectUnavailable = Self(rawValue: "redirect_unavailable")
  /// The server does not offer PKCE with S256.
  public static let pkceUnsupported = Self(rawValue: "pkce_unsupported")

  // MARK: From the back channel

  /// The host could not be found or reached, or the connection broke.
  public static let connectionFailed = Self(rawValue: "connection_failed")
  /// The server's certificate is not trusted, or no common TLS parameters exist.
  public static let tlsFailed = Self(rawValue: "tls_failed")
  /// The server answered a back-channel request with a redirect, which is never followed.
  public static let redirectRefused = Self(rawValue: "redirect_refused")
  /// The response is larger than the request allows.
  public static let responseTooLarge = Self(rawValue: "response_too_large")
  /// The response is not what the protocol asks for: its status, type, syntax or fields.
  public static let invalidResponse = Self(rawValue: "invalid_response")
  /// The server refused a token request without saying why in OAuth's terms.
  public static let requestRefused = Self(rawValue: "request_refused")
  /// No answer came within the request's time limit.
  public static let requestTimedOut = Self(rawValue: "request_timed_out")
  /// The request cannot be put on the wire: its method, URL or a header field is malformed.
  public static let malformedRequest = Self(rawValue: "malformed_request")
  /// The request would have to be sent again, and its body can be had once only.
  public static let bodyNotReplayable = Self(rawValue: "body_not_replayable")
  /// The file of a download, or one beside it that it needs, could not be read or written.
  public static let fileFailed = Self(rawValue: "file_failed")
  /// Another download to the same file is under way.
  public static let fileInUse = Self(rawValue: "file_in_use")

  // MARK: From the session

  /// Nobody is signed in, or the session has ended.
  public static let notAuthorized = Self(rawValue: "not_authorized")
  /// The token store could not be read or written.
  public static let storeFailed = Self(rawValue: "store_failed")
  /// What the store holds was changed by something else than the SDK, or is cut off.
  public static let storeDamaged = Self(rawValue: "store_damaged")
  /// A newer version of the SDK wrote the store.
  public static let storeTooNew = Self(rawValue: "store_too_new")
  /// The passphrase or the key is not the one that the store was made with.
  public static let wrongPassphrase = Self(rawValue: "wrong_passphrase")
  /// Another process works on the account and does not come to an end.
  public static let accountInUse = Self(rawValue: "account_in_use")
  /// Another process signed a user in to the account while a request waited for its token.
  ///
  /// The request was not sent: it was made by the user before.
  public static let sessionReplaced = Self(rawValue: "session_replaced")
  /// There is an account, a module or a key of that name already.
  public static let duplicateName = Self(rawValue: "duplicate_name")
}
