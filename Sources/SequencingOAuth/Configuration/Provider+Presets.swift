import SQBasics

extension Provider {
  /// Sequencing.com, with Basic authentication, `mobile=1` and a separate address for refreshes.
  ///
  /// The API at `api.sequencing.com` may get the tokens.
  public static let sequencing: Provider = {
    var provider = Provider(
      name: "Sequencing.com", baseURL: "https://sequencing.com",
      authorizationEndpoint: "oauth2/authorize", tokenEndpoint: "oauth2/token",
      refreshEndpoint: "oauth2/token?q=oauth2/token")
    provider.authorizationParameters = ["mobile": "1"]
    provider.clientAuthentication = .basic
    provider.apiHosts = ["api.sequencing.com"]
    return provider
  }()

  /// Google, with the endpoints of its published metadata.
  ///
  /// Google gives a desktop client a secret, but does not treat it as confidential. A refresh does
  /// not replace the refresh token. A revocation ends all of the app's tokens for the user. Google's
  /// APIs, at the subdomains of `googleapis.com`, may get the tokens.
  public static let google: Provider = {
    var provider = Provider(
      name: "Google", baseURL: "",
      authorizationEndpoint: "https://accounts.google.com/o/oauth2/v2/auth",
      tokenEndpoint: "https://oauth2.googleapis.com/token",
      revocationEndpoint: "https://oauth2.googleapis.com/revoke",
      deviceAuthorizationEndpoint: "https://oauth2.googleapis.com/device/code",
      jwksURI: "https://www.googleapis.com/oauth2/v3/certs",
      userInfoEndpoint: "https://openidconnect.googleapis.com/v1/userinfo", issuer: googleIssuer)
    provider.apiHosts = googleAPIHosts
    provider.assertionAudience = .tokenEndpoint
    provider.reusesRefreshTokens = true
    provider.revocationEndsGrant = true
    return provider
  }()

  static let googleIssuer = "https://accounts.google.com"
  /// The hosts of Google's APIs; only Google has servers in this domain.
  static let googleAPIHosts: Set<String> = [".googleapis.com"]

  /// Facebook Login, with the client secret in the body and without refresh tokens.
  ///
  /// A revocation removes every permission that the user gave the app. The two hosts of the Graph
  /// API may get the tokens.
  public static let facebook: Provider = {
    var provider = Provider(
      name: "Facebook", baseURL: "",
      authorizationEndpoint: "https://www.facebook.com/dialog/oauth",
      tokenEndpoint: "https://graph.facebook.com/oauth/access_token",
      revocationEndpoint: "https://graph.facebook.com/me/permissions")
    provider.clientAuthentication = .post
    provider.revocationStyle = .facebookPermissions
    provider.apiHosts = ["graph.facebook.com", "graph-video.facebook.com"]
    return provider
  }()

  /// Creates the provider for a realm of a Keycloak server.
  ///
  /// `baseURL` is the address of Keycloak, such as `https://id.example.com`, or
  /// `https://id.example.com/auth` before version 17. A revocation ends all of the app's tokens for
  /// the user. With `revokesByLogout`, it ends the user's session at the server, and with it the
  /// sessions of other apps.
  public static func keycloak(
    baseURL: String, realm: String, revokesByLogout: Bool = false
  ) -> Provider {
    let (base, fault) = ProviderHost.base(url: baseURL)
    // A realm that is empty, `.` or `..` would lead to another address.
    let isRealm = !["", ".", ".."].contains(realm)
    let issuer = isRealm ? "\(base)/realms/\(FormCoding.encodePathSegment(realm))" : ""
    var provider = Provider(
      name: "Keycloak \(realm)", baseURL: "\(issuer)/protocol/openid-connect",
      authorizationEndpoint: "auth", tokenEndpoint: "token",
      revocationEndpoint: revokesByLogout ? "logout" : "revoke",
      deviceAuthorizationEndpoint: "auth/device", jwksURI: "certs",
      userInfoEndpoint: "userinfo", endSessionEndpoint: "logout", issuer: issuer)
    provider.revocationStyle = revokesByLogout ? .keycloakLogout : .rfc7009
    provider.revocationEndsGrant = true
    provider.fault =
      isRealm ? fault : "the name of Keycloak's realm is empty, \".\" or \"..\""
    return provider
  }
}
