extension Provider {
  /// Creates the provider for a tenant of Auth0.
  ///
  /// `domain` is the tenant's domain, such as `example.eu.auth0.com`, or its custom domain. All
  /// sign-ins must use the same domain, because it is the issuer in the tokens. `audience` is the
  /// identifier of the API that the access tokens are for; without an audience, they are for
  /// UserInfo only. The SDK reads the endpoints from the tenant's metadata.
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
