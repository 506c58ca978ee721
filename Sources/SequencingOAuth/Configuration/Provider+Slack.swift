extension Provider {
  /// Slack, for tokens of users, with PKCE and without a secret if the app has that switched on.
  ///
  /// The app's API is `slack.com`, which may get the tokens. A refresh token, which an app gets if
  /// it rotates tokens, works once. For a sign-in that only says who the user is, use
  /// `Provider.issuer("https://slack.com")`.
  public static let slack: Provider = slackApp(
    "Slack", authorizationEndpoint: "https://slack.com/oauth/v2_user/authorize",
    tokenEndpoint: "https://slack.com/api/oauth.v2.user.access",
    quirks: [.tokenInAuthedUser, .userTokenType])

  /// Slack, for the token of an app that a user installs in a workspace, its bot.
  ///
  /// It needs the app's secret. Additional scopes for the user go into the authorization parameter
  /// `user_scope`; the user's token is then in the member `authed_user` of
  /// ``SQToken/additionalFields``.
  public static let slackBot: Provider = slackApp(
    "Slack bot", authorizationEndpoint: "https://slack.com/oauth/v2/authorize",
    tokenEndpoint: "https://slack.com/api/oauth.v2.access", quirks: .botTokenType)

  private static func slackApp(
    _ name: String, authorizationEndpoint: String, tokenEndpoint: String,
    quirks: TokenResponseQuirks
  ) -> Provider {
    var provider = Provider(
      name: name, baseURL: "", authorizationEndpoint: authorizationEndpoint,
      tokenEndpoint: tokenEndpoint, revocationEndpoint: "https://slack.com/api/auth.revoke")
    provider.clientAuthentication = .basic
    provider.separatesScopesByCommas = true
    provider.tokenResponseQuirks = quirks.union([.commaSeparatedScopes, .okMember])
    provider.revocationStyle = .slackToken
    provider.endedSessionCodes = [
      SQOAuthError.Code(rawValue: "invalid_refresh_token"),
      SQOAuthError.Code(rawValue: "token_revoked"),
    ]
    provider.apiHosts = ["slack.com"]
    return provider
  }
}
