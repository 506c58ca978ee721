import SQBasics

extension Provider {
  /// Creates the provider for an authorization server of an Okta organization.
  ///
  /// `domain` is the organization's, such as `example.okta.com`, or its own domain at Okta. Tokens
  /// for your own API come from a custom authorization server: `default`, or its identifier. With
  /// `nil` it is the organization's own server, whose access tokens only Okta's APIs accept. The SDK
  /// reads the endpoints from the server's metadata.
  public static func okta(domain: String, authorizationServer: String? = "default") -> Provider {
    let base = ProviderHost.base(domain)
    let path = authorizationServer.map { "/oauth2/\(FormCoding.encodePathSegment($0))" } ?? ""
    var provider = Provider(
      name: "Okta \(ProviderHost.name(domain))", source: .issuer((base ?? "") + path))
    if base == nil { provider.fault = ProviderHost.fault(domain, of: "Okta") }
    let isEmpty = authorizationServer.map { ["", ".", ".."].contains($0) } ?? false
    if isEmpty { provider.fault = "the name of Okta's authorization server is empty" }
    if base?.contains("-admin.okta") == true {
      provider.fault =
        "the domain is that of Okta's administration; leave out \"-admin\""
    }
    return provider
  }

  /// Creates the provider for a tenant of Auth0.
  ///
  /// `domain` is the tenant's, such as `example.eu.auth0.com`, or its custom domain; all sign-ins
  /// must use the same one, because it is the issuer in the tokens. `audience` is the identifier of
  /// the API that the access tokens are for; without it they are for UserInfo only. The SDK reads the
  /// endpoints from the tenant's metadata.
  public static func auth0(domain: String, audience: String? = nil) -> Provider {
    let base = ProviderHost.base(domain)
    // Auth0's issuer ends in a slash.
    var provider = Provider(
      name: "Auth0 \(ProviderHost.name(domain))", source: .issuer((base ?? "") + "/"))
    provider.authorizationParameters["audience"] = audience
    if base == nil { provider.fault = ProviderHost.fault(domain, of: "Auth0") }
    return provider
  }
}
