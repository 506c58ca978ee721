extension Provider {
  /// Slack, for the tokens of users; it needs no client secret if the app has PKCE switched on.
  ///
  /// Slack's API, `slack.com`, may get the tokens. An app gets refresh tokens only if it has token
  /// rotation switched on, and each of them works once. For a sign-in that only says who the user
  /// is, use `Provider.issuer("https://slack.com")`.
  public static let slack: Provider = slackApp(
    "Slack", authorizationEndpoint: "https://slack.com/oauth/v2_user/authorize",
    tokenEndpoint: "https://slack.com/api/oauth.v2.user.access",
    quirks: [.tokenInAuthedUser, .userTokenType])

  /// Slack, for the bot token of an app that a user installs in a workspace.
  ///
  /// The client needs the app's secret. Additional scopes for the user go into the authorization
  /// parameter `user_scope`; the user's token is then in the member `authed_user` of
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
