extension SQOAuthError.Code {
  // MARK: From the authorization server (RFC 6749, sections 4.1.2.1 and 5.2)

  /// The server found the request malformed.
  public static let invalidRequest = Self(rawValue: "invalid_request")
  /// The server does not know the client, or rejected its authentication.
  public static let invalidClient = Self(rawValue: "invalid_client")
  /// The code or the refresh token is wrong, expired, revoked, or belongs to another client.
  public static let invalidGrant = Self(rawValue: "invalid_grant")
  /// The client is not allowed to use this grant.
  public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
  /// The server does not offer this grant.
  public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
  /// The server does not support this response type of an authorization request.
  public static let unsupportedResponseType = Self(rawValue: "unsupported_response_type")
  /// The scope is unknown or malformed, or exceeds the scope that the user granted.
  public static let invalidScope = Self(rawValue: "invalid_scope")
  /// The user, or the server on the user's behalf, refused the request.
  public static let accessDenied = Self(rawValue: "access_denied")
  /// The server had an internal error.
  public static let serverError = Self(rawValue: "server_error")
  /// The server is overloaded or under maintenance.
  public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")
  /// The user must interact with the server's pages (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let interactionRequired = Self(rawValue: "interaction_required")
  /// The user must log in at the server (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let loginRequired = Self(rawValue: "login_required")
  /// The user has not consented (OpenID Connect Core 1.0, section 3.1.2.6).
  public static let consentRequired = Self(rawValue: "consent_required")
  /// The server does not know or accept the resource (RFC 8707, section 2).
  public static let invalidTarget = Self(rawValue: "invalid_target")
  /// The server does not know or accept the requested permissions (RFC 9396, section 5).
  public static let invalidAuthorizationDetails = Self(rawValue: "invalid_authorization_details")
  /// The server does not know the `request_uri` of the sign-in, or the `request_uri` has expired
  /// (RFC 9101, section 7; RFC 9126, section 4).
  ///
  /// If the SDK had pushed the parameters, it pushes them again once, and opens the new page. A web
  /// sign-in must be started again by the app.
  public static let invalidRequestURI = Self(rawValue: "invalid_request_uri")
  /// The server demands a DPoP proof with its nonce, and rejected even the proof that had the nonce
  /// (RFC 9449, section 8).
  ///
  /// Without ``ClientConfiguration/tokenBinding`` and without a FAPI profile, the SDK sends no
  /// proofs.
  public static let useDPoPNonce = Self(rawValue: "use_dpop_nonce")
  /// The server rejected the request's DPoP proof, or demands one (RFC 9449, sections 5 and 7.1).
  ///
  /// Without ``ClientConfiguration/tokenBinding`` and without a FAPI profile, the SDK sends no
  /// proofs.
  public static let invalidDPoPProof = Self(rawValue: "invalid_dpop_proof")
  /// The server did not bind a token to the account's key, although the client asked for that.
  ///
  /// A thief could use such a token, so the SDK does not use it (RFC 9449, section 5). A token of
  /// the type `DPoP` whose key is unknown causes this error too.
  public static let tokenNotBound = Self(rawValue: "token_not_bound")
  /// The server cannot revoke a token of this kind (RFC 7009, section 2.2.1).
  public static let unsupportedTokenType = Self(rawValue: "unsupported_token_type")

  /// The code for a sign-in on another device expired before the user finished the sign-in (RFC
  /// 8628, section 3.5).
  public static let expiredToken = Self(rawValue: "expired_token")

  // MARK: From a resource server (RFC 6750, section 3.1)

  /// The access token is expired, revoked or malformed; the server might accept a new one.
  public static let invalidToken = Self(rawValue: "invalid_token")
  /// The token lacks a scope that the app or a resource server requires.
  ///
  /// A refresh cannot add the scope; a new sign-in might.
  public static let insufficientScope = Self(rawValue: "insufficient_scope")

  /// The resource server requires a newer or a stronger login of the user (RFC 9470, section 3).
  ///
  /// A refresh cannot provide such a login. ``AccountOperations/requestAccess(answering:with:)``
  /// signs the user in as the server asks.
  public static let insufficientUserAuthentication = Self(
    rawValue: "insufficient_user_authentication")

  // MARK: From the client's configuration

  /// A parameter of the client or the provider is missing or invalid.
  public static let invalidConfiguration = Self(rawValue: "invalid_configuration")
  /// An address is not secure enough, so the SDK does not use it.
  ///
  /// The address uses `http` although it is not a loopback address or its issuer uses `https`. Or
  /// it is on this computer, and ``ClientConfiguration/acceptsServersOnThisComputer`` is `false`.
  public static let insecureEndpoint = Self(rawValue: "insecure_endpoint")
  /// The provider has no revocation endpoint, or none that accepts the account's tokens.
  public static let revocationUnsupported = Self(rawValue: "revocation_unsupported")
  /// The provider has no device authorization endpoint, or its address is not configured.
  public static let deviceAuthorizationUnsupported = Self(
    rawValue: "device_authorization_unsupported")
  /// The request would send a token to a server that the client does not allow.
  public static let originNotAllowed = Self(rawValue: "origin_not_allowed")
  /// An operation needs a client, and none is registered.
  public static let notRegistered = Self(rawValue: "not_registered")

  // MARK: From the sign-in

  /// The app or the user cancelled the sign-in, the caller's task was cancelled, or the app's
  /// ``ResourceRequestAuthenticator`` refused a request.
  public static let cancelled = Self(rawValue: "cancelled")
  /// A sign-in with other options is under way; an account has one sign-in at a time.
  public static let signInUnderWay = Self(rawValue: "sign_in_under_way")
  /// The user did not finish the sign-in within its time limit.
  public static let timedOut = Self(rawValue: "timed_out")
  /// A redirect does not have this sign-in's `state`.
  public static let stateMismatch = Self(rawValue: "state_mismatch")
  /// A redirect or a metadata document names an unexpected issuer.
  public static let issuerMismatch = Self(rawValue: "issuer_mismatch")
  /// The redirect is malformed: for example, it repeats a parameter, lacks the code, contains a
  /// token, or is not signed as requested.
  public static let invalidAuthorizationResponse = Self(
    rawValue: "invalid_authorization_response")
  /// The SDK could not start a browser.
  public static let browserUnavailable = Self(rawValue: "browser_unavailable")
  /// The authorization server showed a page instead of sending the user back to the app.
  ///
  /// Possible causes are a wrong user name or password, an unknown client, an unregistered redirect
  /// URI, and a failure of the server. The SDK cannot see the pages in a browser. A ``UserAgent``
  /// that sees them throws this error, and a sign-in by `SandboxVisitor` of `OAuthSandbox` fails
  /// with it.
  public static let signInRefused = Self(rawValue: "sign_in_refused")
  /// Another program uses the port of the redirect URI.
  public static let portInUse = Self(rawValue: "port_in_use")
  /// The SDK could not receive a redirect.
  ///
  /// Either it could not listen on a loopback address, or other programs kept so many connections
  /// to its port open that the sign-in's time limit passed.
  public static let redirectUnavailable = Self(rawValue: "redirect_unavailable")
  /// The server's metadata and the client's configuration do not fit together.
  ///
  /// For example, the server does not accept the SDK's authorization requests, or does not list the
  /// client's signature algorithm.
  public static let signInUnsupported = Self(rawValue: "sign_in_unsupported")
  /// The server does not support PKCE with `S256`.
  public static let pkceUnsupported = Self(rawValue: "pkce_unsupported")

  /// The saved value of a web sign-in is unusable.
  ///
  /// It was changed, was encrypted with another key, or belongs to another browser session, another
  /// client or another server.
  public static let webSignInInvalid = Self(rawValue: "web_sign_in_invalid")
  /// A web sign-in is already finished and cannot be finished again.
  public static let webSignInUsed = Self(rawValue: "web_sign_in_used")

  // MARK: From the back channel

  /// The host could not be found or reached, or the connection broke.
  public static let connectionFailed = Self(rawValue: "connection_failed")
  /// The server's certificate is not trusted, or the client and the server have no TLS parameters
  /// in common.
  public static let tlsFailed = Self(rawValue: "tls_failed")
  /// The server answered a request of the SDK with a redirect, and the SDK follows no redirects.
  public static let redirectRefused = Self(rawValue: "redirect_refused")
  /// The response is larger than the request allows.
  public static let responseTooLarge = Self(rawValue: "response_too_large")
  /// The status, type, syntax or fields of the response violate the protocol.
  public static let invalidResponse = Self(rawValue: "invalid_response")
  /// The server refused a request, and its response has no usable OAuth error.
  ///
  /// Either the token endpoint sent no OAuth error at all, or the code of an endpoint's error is
  /// reserved for the SDK's own errors, such as ``storeFailed``. In the second case,
  /// ``SQOAuthError/response`` has the code that the server sent.
  public static let requestRefused = Self(rawValue: "request_refused")
  /// No answer came within the request's time limit.
  public static let requestTimedOut = Self(rawValue: "request_timed_out")
  /// The request's method, URL, header or body is malformed, or a file for the content of the
  /// request or the response cannot be used.
  public static let malformedRequest = Self(rawValue: "malformed_request")
  /// The request must be sent again, but its body can be read only once.
  public static let bodyNotReplayable = Self(rawValue: "body_not_replayable")
  /// The SDK could not read or write a download's file, or a helper file beside it.
  public static let fileFailed = Self(rawValue: "file_failed")
  /// Another download to the same file is under way.
  public static let fileInUse = Self(rawValue: "file_in_use")

  // MARK: From the session

  /// No user is signed in, or the session has ended.
  public static let notAuthorized = Self(rawValue: "not_authorized")
  /// The SDK could not read or write the token store.
  public static let storeFailed = Self(rawValue: "store_failed")
  /// The content of the store is incomplete, or another program changed it.
  public static let storeDamaged = Self(rawValue: "store_damaged")
  /// A newer version of the SDK wrote the store, or the record in it.
  public static let storeTooNew = Self(rawValue: "store_too_new")
  /// The passphrase or the key does not match the store.
  public static let wrongPassphrase = Self(rawValue: "wrong_passphrase")
  /// Another process uses the account and did not release it in time.
  public static let accountInUse = Self(rawValue: "account_in_use")
  /// Another host has changed the account since it was loaded, so this change was not made.
  public static let accountChanged = Self(rawValue: "account_changed")
  /// Another user may have signed in to the account, here or in another process, since a request
  /// began, or since the tokens were to be revoked.
  ///
  /// The request was not sent, because it belongs to the earlier user. It is sent if both users have
  /// an ID token that shows that they are the same, or if the new sign-in demanded the same user
  /// (``SignInOptions/requiresSameUser``). A revocation has revoked the tokens of the earlier user
  /// only, or none if the error of a logout has a ``SQOAuthError/cause``.
  public static let sessionReplaced = Self(rawValue: "session_replaced")
  /// The client's or the account's key could not sign, or the client's assertion source provided no
  /// assertion for this server, so the request was not sent.
  public static let clientKeyFailed = Self(rawValue: "client_key_failed")
  /// An account, a module, a key or a pipe with this name already exists.
  public static let duplicateName = Self(rawValue: "duplicate_name")
}
