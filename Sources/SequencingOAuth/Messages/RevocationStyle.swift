/// How a provider is told that tokens shall end.
///
/// Each is sent to the provider's revocation endpoint.
public enum RevocationStyle: Sendable, Hashable, CaseIterable {
  /// The standard: a form with `token` and `token_type_hint`, the refresh token first.
  ///
  /// - SeeAlso: RFC 7009, section 2.1
  case rfc7009
  /// Facebook's: a DELETE of the user's permissions, which ends every token of the app for them.
  ///
  /// The endpoint is `https://graph.facebook.com/me/permissions`, as Facebook's Graph API describes
  /// it under "User Permissions". The access token is sent, in `Authorization` and not in the
  /// address.
  case facebookPermissions
  /// Keycloak's logout, which ends the user's session at the server and all that came of it.
  ///
  /// The endpoint is `…/protocol/openid-connect/logout`, which takes a form with `client_id`,
  /// `client_secret` where there is one, and `refresh_token`, as Keycloak's documentation describes
  /// it under "Logout endpoint". It needs a refresh token.
  case keycloakLogout
}
