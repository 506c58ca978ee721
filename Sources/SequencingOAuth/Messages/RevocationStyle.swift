/// The kind of request by which a provider revokes tokens.
///
/// The SDK sends the request to the provider's revocation endpoint.
public enum RevocationStyle: Sendable, Hashable, CaseIterable {
  /// The standard request: a form with `token` and `token_type_hint`.
  ///
  /// The refresh token is revoked first, and then the access token. Some servers then end the
  /// user's whole grant; see ``Provider/revocationEndsGrant``.
  ///
  /// - SeeAlso: RFC 7009, section 2.1
  case rfc7009
  /// Facebook's request: it deletes the user's permissions, and so ends all of the app's tokens for
  /// that user.
  ///
  /// It is a DELETE request. The endpoint is `https://graph.facebook.com/me/permissions`, as
  /// described under "User Permissions" in Facebook's Graph API. The access token is sent in
  /// `Authorization`, not in the URL.
  case facebookPermissions
  /// Keycloak's logout: it ends the user's session at the server and all of its tokens.
  ///
  /// The endpoint is `…/protocol/openid-connect/logout`. It accepts a form with `client_id`,
  /// `client_secret` if the client has one, and `refresh_token`, as described under "Logout
  /// endpoint" in Keycloak's documentation. The account needs a refresh token.
  case keycloakLogout
  /// GitHub's request: it ends one access token of the app.
  ///
  /// It is a DELETE request with the token in JSON, and the client's identifier and secret by
  /// Basic, as described under "Delete an app token" in GitHub's REST API. The endpoint is
  /// `https://api.github.com/applications`; the SDK adds the client's identifier. The client needs
  /// a secret. If GitHub does not find the token (status 404), the token has already ended. A refresh
  /// token, which only GitHub Apps get, stays valid until it expires: GitHub documents no request
  /// that ends it alone.
  case gitHubToken
  /// Slack's request: it ends one access token, which several sign-ins of a user may share.
  ///
  /// It is a POST request to `https://slack.com/api/auth.revoke` with the access token in
  /// `Authorization`, as described under "auth.revoke" in Slack's documentation. Slack answers with
  /// status 200 even if it revoked nothing; only the member `ok` counts. The request names no refresh
  /// token, which an app with token rotation has.
  case slackToken

  /// Whether a revocation ends no other token than the given one and those issued with it, as far as
  /// the style decides that.
  var endsSingleTokens: Bool {
    switch self {
    case .rfc7009, .gitHubToken: true
    // A sign-in at Slack may return the token of an earlier one.
    case .facebookPermissions, .keycloakLogout, .slackToken: false
    }
  }

  /// Whether the client authenticates as at the token endpoint.
  var hasStandardAuthentication: Bool { self == .rfc7009 || self == .keycloakLogout }
}
