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
  /// The SDK accepts an ID token only if the token names one of these tenants (`tid`), has that
  /// tenant's issuer, and is signed with a key for that issuer. A resource server accepts an access
  /// token under the same conditions. An app that serves only some tenants must check the claim
  /// `tid` itself. Microsoft accepts a refresh token again after a refresh, and has no endpoint for
  /// revocations. Microsoft Graph may get the tokens.
  ///
  /// - SeeAlso: "OpenID Connect on the Microsoft identity platform"
  public static func microsoft(tenant: String = "common") -> Provider {
    let tenant = IssuerTemplate.isUUID(tenant) ? tenant.asciiLowercased() : tenant
    let isTenant = IssuerTemplate.isUUID(tenant) || microsoftAudiences.contains(tenant)
    let base = isTenant ? "\(microsoftHost)/\(tenant)" : ""
    let issuer = "\(microsoftHost)/\(tenant == "consumers" ? consumers : tenant)/v2.0"
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
    // In assertions, Microsoft does not accept an issuer that stands for many tenants as the
    // audience.
    if ["common", "organizations"].contains(tenant) { provider.assertionAudience = .tokenEndpoint }
    if !isTenant {
      provider.fault =
        "the tenant \"\(tenant.printable)\" is neither a UUID (the \"Directory (tenant) ID\" in the "
        + "Microsoft Entra admin center) nor common, organizations or consumers"
    }
    return provider
  }

  private static let microsoftHost = "https://login.microsoftonline.com"
  private static let microsoftAudiences: Set = ["common", "organizations", "consumers"]
  /// The tenant of all personal accounts.
  private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// Returns the template of the tenants' issuers for an issuer of Microsoft; `nil` for any other
  /// issuer.
  static func tenants(of issuer: String) -> IssuerTemplate? {
    let parts = (start: "\(microsoftHost)/", end: "/v2.0")
    guard issuer.hasPrefix(parts.start), issuer.hasSuffix(parts.end) else { return nil }
    let tenants: IssuerTemplate.Tenants
    switch String(issuer.dropFirst(parts.start.count).dropLast(parts.end.count)) {
    case "common": tenants = .all
    case "organizations": tenants = .allBut(consumers)
    case let tenant where IssuerTemplate.isUUID(tenant): tenants = .only(tenant)
    default: return nil
    }
    return IssuerTemplate(
      text: "\(parts.start)\(IssuerTemplate.placeholder)\(parts.end)", claim: "tid",
      tenants: tenants)
  }
}
