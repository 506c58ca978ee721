/// The kind of request with which a provider revokes tokens.
///
/// The request goes to the provider's revocation endpoint.
public enum RevocationStyle: Sendable, Hashable, CaseIterable {
  /// The standard request: a form with `token` and `token_type_hint`, for the refresh token first.
  ///
  /// - SeeAlso: RFC 7009, section 2.1
  case rfc7009
  /// Facebook's request: a DELETE of the user's permissions, which ends all tokens of the app for
  /// this user.
  ///
  /// The endpoint is `https://graph.facebook.com/me/permissions`, as Facebook's Graph API describes
  /// it under "User Permissions". The access token is sent in `Authorization`, not in the address.
  case facebookPermissions
  /// Keycloak's logout, which ends the user's session at the server and all tokens that belong to
  /// it.
  ///
  /// The endpoint is `…/protocol/openid-connect/logout`, which takes a form with `client_id`,
  /// `client_secret` if the client has one, and `refresh_token`, as Keycloak's documentation
  /// describes it under "Logout endpoint". The account needs a refresh token.
  case keycloakLogout
}
