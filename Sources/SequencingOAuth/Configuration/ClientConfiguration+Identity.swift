import SQBasics

// The client's settings for OpenID Connect.
extension ClientConfiguration {
  /// The algorithm with which the provider signs this client's ID tokens; `nil` lets the SDK
  /// decide.
  ///
  /// With `nil`, the SDK accepts every public-key algorithm that the provider's metadata lists
  /// (`id_token_signing_alg_values_supported`), and `RS256` without such a list. If the client was
  /// registered with an `id_token_signed_response_alg`, set that algorithm. The SDK rejects an ID
  /// token with any other algorithm, or with a key that does not match the algorithm. Logout tokens
  /// follow the same rule. The symmetric algorithms, such as `HS256`, use the client secret as the
  /// key; they are accepted only if they are set here.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
  public var idTokenAlgorithm: JWSAlgorithm? {
    get { values.value.idTokenAlgorithm }
    set { values.value.idTokenAlgorithm = newValue }
  }

  /// The algorithm with which the provider signs its UserInfo responses to this client.
  ///
  /// With `nil`, the default, a signed response may use any public-key algorithm that the
  /// provider's metadata lists for it (`userinfo_signing_alg_values_supported`), and
  /// ``idTokenAlgorithm`` if it is set. Without such a list, a response may use any algorithm that
  /// an ID token may use. If the client was registered with a `userinfo_signed_response_alg`, set
  /// that algorithm. The SDK then rejects any response without a signature by this algorithm.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3.2
  public var userInfoAlgorithm: JWSAlgorithm? {
    get { values.value.userInfoAlgorithm }
    set { values.value.userInfoAlgorithm = newValue }
  }

  /// The audiences besides this client that an ID token may name; empty by default.
  ///
  /// An ID token that names any other audience is rejected. An ID token with several audiences must
  /// say that it was issued to this client (`azp`).
  public var trustedAudiences: Set<String> {
    get { values.value.trustedAudiences }
    set { values.value.trustedAudiences = newValue }
  }

  /// The allowed difference between this machine's clock and the provider's: 60 s by default.
  ///
  /// It applies to the times in an ID token (`exp`, `iat`, `nbf` and `auth_time`) and in the other
  /// signed texts that the client checks, in both directions. It also extends the lifetime of the
  /// assertions and the requests that the client signs. A negative value counts as 0, and more than
  /// 10 minutes as 10 minutes.
  public var clockTolerance: Duration {
    get { values.value.clockTolerance }
    set { values.value.clockTolerance = min(max(newValue, .zero), .seconds(600)) }
  }

  /// The URI to which the provider sends the user after a logout; with `nil`, the default, the user
  /// stays on the provider's page.
  ///
  /// ``AccountOperations/endSession(revokesTokens:logoutHint:uiLocales:)`` uses it. The SDK
  /// or the app receives the redirect, as ``RedirectURI/receiver`` says. If it is the app, the app
  /// passes the redirect to ``AccountOperations/handleRedirect(_:)-(URL)``. Providers compare the
  /// URI exactly, including the port, with the registered ones (`post_logout_redirect_uris`), so
  /// choose a port that no other program on the machine uses.
  ///
  /// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 2
  public var postLogoutRedirectURI: RedirectURI? {
    get { values.value.postLogoutRedirectURI }
    set { values.value.postLogoutRedirectURI = newValue }
  }
}
