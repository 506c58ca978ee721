// Codes for OpenID Connect. The SDK validates every ID token before an app sees it, and each rule
// has its own code.
extension SQOAuthError.Code {
  /// No ID token of the provider can be verified, so the SDK cannot know who signed in.
  ///
  /// For example, the provider has no issuer or names no keys, or the client accepts none of the
  /// provider's signature algorithms.
  public static let openIDUnsupported = Self(rawValue: "openid_unsupported")
  /// There is no ID token.
  ///
  /// A sign-in brought none although it was a sign-in in a browser with the scope `openid`, or had
  /// demands on the login, such as ``SignInOptions/maxAge``. Or a call such as
  /// ``AccountOperations/userInfo()`` needs one, and the user signed in without an ID token.
  public static let idTokenMissing = Self(rawValue: "id_token_missing")
  /// The ID token is not a signed JSON object, is marked as another kind of token, is too long, or
  /// has a repeated or malformed member.
  public static let idTokenMalformed = Self(rawValue: "id_token_malformed")
  /// The ID token lacks a required claim.
  public static let idTokenIncomplete = Self(rawValue: "id_token_incomplete")
  /// The ID token is encrypted, and the SDK cannot decrypt it.
  public static let idTokenEncrypted = Self(rawValue: "id_token_encrypted")
  /// The header of the ID token demands an extension (`crit`) that the SDK does not support.
  public static let idTokenCritical = Self(rawValue: "id_token_critical")
  /// The ID token is signed with an unexpected algorithm, or not signed.
  public static let idTokenAlgorithm = Self(rawValue: "id_token_algorithm")
  /// No key of the issuer matches the ID token.
  public static let idTokenKey = Self(rawValue: "id_token_key")
  /// The issuer's key for the ID token is too weak: an RSA key of less than 2048 bits.
  public static let idTokenWeakKey = Self(rawValue: "id_token_weak_key")
  /// The signature of the ID token is wrong.
  public static let idTokenSignature = Self(rawValue: "id_token_signature")
  /// The ID token names an unexpected issuer.
  public static let idTokenIssuer = Self(rawValue: "id_token_issuer")
  /// The ID token of a refresh, or of a sign-in that requires the same user, names a user other
  /// than the signed-in one.
  ///
  /// A token response whose `sub` is not ``ClientConfiguration/expectedSubject`` causes this error
  /// too.
  public static let idTokenSubject = Self(rawValue: "id_token_subject")
  /// The ID token is not for this client, or is also for an audience that the client does not
  /// trust.
  ///
  /// A refresh's ID token must also have every audience of the sign-in's ID token.
  public static let idTokenAudience = Self(rawValue: "id_token_audience")
  /// The ID token has a wrong `azp`, or has several audiences and no `azp`.
  public static let idTokenAuthorizedParty = Self(rawValue: "id_token_authorized_party")
  /// The ID token has expired.
  public static let idTokenExpired = Self(rawValue: "id_token_expired")
  /// The ID token is not valid yet, or its issue time is in the future.
  public static let idTokenNotYetValid = Self(rawValue: "id_token_not_yet_valid")
  /// The ID token does not have the `nonce` of the sign-in.
  public static let idTokenNonce = Self(rawValue: "id_token_nonce")
  /// The ID token's `at_hash` does not match the access token in the response.
  public static let idTokenAccessToken = Self(rawValue: "id_token_access_token")
  /// The ID token's `c_hash` does not match the authorization code in the redirect.
  public static let idTokenCode = Self(rawValue: "id_token_code")
  /// When the sign-in began, the user's login at the provider was older than the sign-in allows; or
  /// the ID token names no login, or one in the future.
  ///
  /// A refresh also fails with this error if its ID token names a later login than the sign-in's.
  public static let idTokenAuthenticationDate = Self(rawValue: "id_token_authentication_date")
  /// The user was not authenticated as strongly as the sign-in demands (`acr`).
  public static let idTokenAuthenticationContext = Self(
    rawValue: "id_token_authentication_context")
}

extension SQOAuthError.Code {
  /// The UserInfo response is malformed, is about another user or for another client, or its
  /// signature is wrong or missing.
  public static let userInfoInvalid = Self(rawValue: "user_info_invalid")
  /// A logout token is invalid or was used before, so no session ended.
  public static let logoutTokenInvalid = Self(rawValue: "logout_token_invalid")
  /// An access token that a resource server received is invalid, has expired, or is for another
  /// audience.
  public static let accessTokenInvalid = Self(rawValue: "access_token_invalid")
  /// A request that a resource server received has no access token with an authentication scheme
  /// that the server accepts.
  public static let accessTokenMissing = Self(rawValue: "access_token_missing")
  /// A request that a resource server received has several `Authorization` fields, or a malformed
  /// field (RFC 6750, section 3.1).
  public static let authorizationMalformed = Self(rawValue: "authorization_malformed")
  /// The provider has no introspection endpoint.
  public static let introspectionUnsupported = Self(rawValue: "introspection_unsupported")
  /// A server's response is about a token of an unexpected type.
  public static let unexpectedTokenType = Self(rawValue: "unexpected_token_type")
  /// The server issued a token for a service that the request did not name.
  public static let unexpectedAudience = Self(rawValue: "unexpected_audience")
  /// A resource server does not describe itself, or describes itself wrongly (RFC 9728).
  ///
  /// The message names the address and the broken rule. No authorization server got a request.
  public static let resourceMetadataInvalid = Self(rawValue: "resource_metadata_invalid")
  /// The program has no identity that the authorization server accepts.
  ///
  /// It is not registered there by hand, and the server accepts neither the client's metadata
  /// document nor its registration.
  public static let clientUnknown = Self(rawValue: "client_unknown")
  /// The server does not let clients register themselves or manage their registration.
  public static let registrationUnsupported = Self(rawValue: "registration_unsupported")
  /// A registration does not match the request: for example, the server registered other redirect
  /// URIs.
  public static let registrationMismatch = Self(rawValue: "registration_mismatch")
  /// The server rejected a redirect URI in a client's registration (RFC 7591, section 3.2.2).
  public static let invalidRedirectURI = Self(rawValue: "invalid_redirect_uri")
  /// The server rejected the metadata in a client's registration (RFC 7591, section 3.2.2).
  public static let invalidClientMetadata = Self(rawValue: "invalid_client_metadata")
  /// The provider has no end session endpoint, so only the local tokens are gone.
  public static let endSessionUnsupported = Self(rawValue: "end_session_unsupported")
}
