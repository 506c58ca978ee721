import SQBasics

// What a client expects of the ID tokens that say who signed in.
extension ClientConfiguration {
  /// The algorithm by which the provider signs this client's ID tokens; `nil` lets the SDK decide.
  ///
  /// With `nil` it is any algorithm of public keys that the provider's metadata lists
  /// (`id_token_signing_alg_values_supported`), and `RS256` without such a list. Set it to the
  /// client's `id_token_signed_response_alg`, if it was registered with one. An ID token by any
  /// other algorithm is refused, as is one by a key that does not fit the algorithm. Logout tokens
  /// follow the same rule. The symmetric algorithms, such as `HS256`, use the client secret as the
  /// key, and are used only if they are set here.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 3.1.3.7
  public var idTokenAlgorithm: JWSAlgorithm? {
    get { values.value.idTokenAlgorithm }
    set { values.value.idTokenAlgorithm = newValue }
  }

  /// The algorithm by which the provider signs its UserInfo responses to this client.
  ///
  /// With `nil`, the default, a signed response may use any algorithm of public keys that the
  /// provider's metadata lists for it (`userinfo_signing_alg_values_supported`), or what an ID token
  /// may use. Set it if the client was registered with a `userinfo_signed_response_alg`. If it is
  /// set, the request accepts a signed response only, and any other response is refused.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 5.3.2
  public var userInfoAlgorithm: JWSAlgorithm? {
    get { values.value.userInfoAlgorithm }
    set { values.value.userInfoAlgorithm = newValue }
  }

  /// The audiences beside this client for which an ID token may also be issued; empty by default.
  ///
  /// An ID token that names any other audience is refused. With several audiences, it must say
  /// that it was issued to this client (`azp`).
  public var trustedAudiences: Set<String> {
    get { values.value.trustedAudiences }
    set { values.value.trustedAudiences = newValue }
  }

  /// By how much this machine's clock and the provider's may differ: 60 s unless set.
  ///
  /// It applies to the times in an ID token (`exp`, `iat`, `nbf` and `auth_time`), in both
  /// directions. A negative value counts as 0, and more than 10 minutes as 10 minutes.
  public var clockTolerance: Duration {
    get { values.value.clockTolerance }
    set { values.value.clockTolerance = min(max(newValue, .zero), .seconds(600)) }
  }

  /// Where the provider sends the user after a logout; `nil`, the default, to stay on its page.
  ///
  /// ``AuthorizationModule/endSession(revokesTokens:logoutHint:uiLocales:)`` uses it: at a loopback
  /// address the SDK receives the redirect, and any other is passed to
  /// ``AuthorizationModule/handleRedirect(_:)-(URL)``. Providers compare it exactly with what was
  /// registered (`post_logout_redirect_uris`), port included; so name a port here that no other
  /// program on the machine uses.
  ///
  /// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 2
  public var postLogoutRedirectURI: RedirectURI? {
    get { values.value.postLogoutRedirectURI }
    set { values.value.postLogoutRedirectURI = newValue }
  }
}
