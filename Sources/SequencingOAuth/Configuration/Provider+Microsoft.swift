import SQBasics

extension Provider {
  /// Creates the provider for a tenant of Microsoft Entra ID, for all tenants, or for personal
  /// accounts.
  ///
  /// `tenant` is the tenant's identifier (a UUID, the "Directory (tenant) ID"), or one of these:
  ///
  /// - `common`: any user with a work, school or personal account.
  /// - `organizations`: any user with a work or school account.
  /// - `consumers`: any user with a personal account.
  ///
  /// With `common` and `organizations`, an ID token must have the issuer of the tenant that it names
  /// (`tid`), and a key that may sign for that tenant. An app that serves some tenants only must
  /// check that claim itself. Microsoft accepts a refresh token again, and has no endpoint for
  /// revocations. Microsoft Graph may get the tokens.
  ///
  /// - SeeAlso: "OpenID Connect on the Microsoft identity platform"
  public static func microsoft(tenant: String = "common") -> Provider {
    let isTenant = IssuerTemplate.isUUID(tenant) || microsoftAudiences.contains(tenant)
    let host = "https://login.microsoftonline.com"
    let base = isTenant ? "\(host)/\(tenant)" : ""
    let issuer = "\(host)/\(tenant == "consumers" ? consumers : tenant)/v2.0"
    var provider = Provider(
      name: microsoftAudiences.contains(tenant) ? "Microsoft" : "Microsoft \(tenant.printable)",
      baseURL: base,
      authorizationEndpoint: "oauth2/v2.0/authorize", tokenEndpoint: "oauth2/v2.0/token",
      deviceAuthorizationEndpoint: "oauth2/v2.0/devicecode", jwksURI: "discovery/v2.0/keys",
      userInfoEndpoint: "https://graph.microsoft.com/oidc/userinfo",
      endSessionEndpoint: "oauth2/v2.0/logout", issuer: issuer)
    provider.clientAuthentication = .post
    provider.reusesRefreshTokens = true
    provider.asksConsentForOfflineAccess = false
    provider.apiHosts = ["graph.microsoft.com"]
    provider.idTokenIssuer = tenants(of: issuer)
    // The issuer of many tenants is no audience that Microsoft knows.
    if provider.idTokenIssuer != nil { provider.assertionAudience = .tokenEndpoint }
    if !isTenant {
      provider.fault =
        "the tenant \"\(tenant.printable)\" is neither a UUID (the \"Directory (tenant) ID\" in the "
        + "Microsoft Entra admin center) nor common, organizations or consumers"
    }
    return provider
  }

  private static let microsoftAudiences: Set = ["common", "organizations", "consumers"]
  /// The tenant of all personal accounts.
  private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// Returns the issuers of the tenants behind an issuer; `nil` if it is the issuer of one tenant.
  static func tenants(of issuer: String) -> IssuerTemplate? {
    let host = "https://login.microsoftonline.com"
    guard ["\(host)/common/v2.0", "\(host)/organizations/v2.0"].contains(issuer) else { return nil }
    return IssuerTemplate(text: "\(host)/\(IssuerTemplate.placeholder)/v2.0", claim: "tid")
  }
}
