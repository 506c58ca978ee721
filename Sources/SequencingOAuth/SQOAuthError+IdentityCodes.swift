// The codes of what OpenID Connect adds. The SDK verifies every ID token before an app sees it;
// each rule has a code of its own.
extension SQOAuthError.Code {
  /// The provider has no issuer, or no keys to verify an ID token with, so it is not known who
  /// signed in.
  public static let openIDUnsupported = Self(rawValue: "openid_unsupported")
  /// There is no ID token: a sign-in in a browser with the scope `openid` brought none, or the user
  /// of a call such as ``AuthorizationModule/userInfo()`` signed in without one.
  public static let idTokenMissing = Self(rawValue: "id_token_missing")
  /// The ID token is no signed JSON object, is too long, or names a member twice.
  public static let idTokenMalformed = Self(rawValue: "id_token_malformed")
  /// The ID token lacks a claim that every ID token has.
  public static let idTokenIncomplete = Self(rawValue: "id_token_incomplete")
  /// The ID token is encrypted, which the SDK does not support.
  public static let idTokenEncrypted = Self(rawValue: "id_token_encrypted")
  /// The header of the ID token demands an extension (`crit`) that the SDK does not know.
  public static let idTokenCritical = Self(rawValue: "id_token_critical")
  /// The ID token is signed by another algorithm than the expected one, or not at all.
  public static let idTokenAlgorithm = Self(rawValue: "id_token_algorithm")
  /// No key of the issuer fits the ID token.
  public static let idTokenKey = Self(rawValue: "id_token_key")
  /// The issuer's key for the ID token is too weak: an RSA key of less than 2048 bits.
  public static let idTokenWeakKey = Self(rawValue: "id_token_weak_key")
  /// The signature of the ID token is wrong.
  public static let idTokenSignature = Self(rawValue: "id_token_signature")
  /// Another issuer than the expected one issued the ID token.
  public static let idTokenIssuer = Self(rawValue: "id_token_issuer")
  /// The ID token of a refresh names another user than the sign-in did.
  public static let idTokenSubject = Self(rawValue: "id_token_subject")
  /// The ID token is not for this client, or also for others that the client does not trust.
  public static let idTokenAudience = Self(rawValue: "id_token_audience")
  /// The ID token was issued to another client, or does not say to which of several.
  public static let idTokenAuthorizedParty = Self(rawValue: "id_token_authorized_party")
  /// The ID token has expired.
  public static let idTokenExpired = Self(rawValue: "id_token_expired")
  /// The ID token is valid from a later time on, or was issued in the future.
  public static let idTokenNotYetValid = Self(rawValue: "id_token_not_yet_valid")
  /// The ID token does not repeat the `nonce` of the sign-in.
  public static let idTokenNonce = Self(rawValue: "id_token_nonce")
  /// The ID token was issued with another access token than the one in the response (`at_hash`).
  public static let idTokenAccessToken = Self(rawValue: "id_token_access_token")
  /// The ID token was issued with another authorization code than the one in the redirect
  /// (`c_hash`).
  public static let idTokenCode = Self(rawValue: "id_token_code")
  /// The user logged in at the provider longer ago than the sign-in allows, or the ID token does
  /// not say when.
  public static let idTokenAuthenticationDate = Self(rawValue: "id_token_authentication_date")
  /// The user was not authenticated in a way that the sign-in demands (`acr`).
  public static let idTokenAuthenticationContext = Self(
    rawValue: "id_token_authentication_context")
}

extension SQOAuthError.Code {
  /// The UserInfo response has another user, no user, or a wrong signature.
  public static let userInfoInvalid = Self(rawValue: "user_info_invalid")
  /// A logout token breaks a rule, so no session ends.
  public static let logoutTokenInvalid = Self(rawValue: "logout_token_invalid")
  /// An access token that came to a resource server breaks a rule, has expired or is for others.
  public static let accessTokenInvalid = Self(rawValue: "access_token_invalid")
  /// The provider has no introspection endpoint.
  public static let introspectionUnsupported = Self(rawValue: "introspection_unsupported")
  /// A server answered with a token of another type than the one that was asked for or about.
  public static let unexpectedTokenType = Self(rawValue: "unexpected_token_type")
  /// The server issued a token for another service than those that were asked for.
  public static let unexpectedAudience = Self(rawValue: "unexpected_audience")
  /// The server does not let clients register themselves, or manage their registration.
  public static let registrationUnsupported = Self(rawValue: "registration_unsupported")
  /// The server registered something else than what was asked for, such as other redirect URIs.
  public static let registrationMismatch = Self(rawValue: "registration_mismatch")
  /// The server refuses a redirect URI of a client that registers (RFC 7591, section 3.2.2).
  public static let invalidRedirectURI = Self(rawValue: "invalid_redirect_uri")
  /// The server refuses what a client that registers says of itself (RFC 7591, section 3.2.2).
  public static let invalidClientMetadata = Self(rawValue: "invalid_client_metadata")
  /// The provider has no end session endpoint, so only the local tokens are gone.
  public static let endSessionUnsupported = Self(rawValue: "end_session_unsupported")
}
