import SQBasics

extension Provider {
  /// Creates the provider for an authorization server of an Okta organization.
  ///
  /// `domain` is the organization's domain, such as `example.okta.com`, or its custom domain.
  /// `authorizationServer` is the identifier of the custom authorization server that issues the
  /// tokens for your own API, such as `default`. With `nil`, the provider is the organization's own
  /// server, whose access tokens only Okta's APIs accept. The SDK reads the endpoints from the
  /// server's metadata.
  public static func okta(domain: String, authorizationServer: String? = "default") -> Provider {
    let base = ProviderHost.base(domain)
    let path = authorizationServer.map { "/oauth2/\(FormCoding.encodePathSegment($0))" } ?? ""
    var provider = Provider(
      name: "Okta \(ProviderHost.name(domain))", source: .issuer((base ?? "") + path))
    if base == nil { provider.fault = ProviderHost.fault(domain, of: "Okta") }
    let isEmpty = authorizationServer.map { ["", ".", ".."].contains($0) } ?? false
    if isEmpty {
      provider.fault = "the name of Okta's authorization server is empty, \".\" or \"..\""
    }
    if base?.contains("-admin.okta") == true {
      provider.fault =
        "the domain is that of Okta's administration; leave out \"-admin\""
    }
    return provider
  }
}
