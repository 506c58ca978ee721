extension Provider {
  /// GitLab.com, an OpenID provider whose refresh tokens work once.
  ///
  /// A client may be confidential or public. GitLab's API, on the same host, may get the tokens.
  public static let gitLab: Provider = .gitLab(baseURL: "https://gitlab.com")

  /// Creates the provider for a self-managed GitLab.
  ///
  /// `baseURL` is the address at which users open GitLab, such as `https://gitlab.example.com`, or
  /// `https://example.com/gitlab` if GitLab is below a path. It is also the issuer in the ID
  /// tokens.
  public static func gitLab(baseURL: String) -> Provider {
    let (base, fault) = ProviderHost.base(url: baseURL)
    var provider = Provider(
      name: base == "https://gitlab.com" ? "GitLab" : "GitLab \(base)",
      source: .endpoints(
        Endpoints(
          authorization: "\(base)/oauth/authorize", token: "\(base)/oauth/token",
          revocation: "\(base)/oauth/revoke",
          deviceAuthorization: "\(base)/oauth/authorize_device",
          introspection: "\(base)/oauth/introspect", jwks: "\(base)/oauth/discovery/keys",
          userInfo: "\(base)/oauth/userinfo", issuer: base)))
    provider.apiHosts = [String(EndpointURL.split(base).root.dropFirst("https://".count))]
    provider.fault = fault
    return provider
  }
}
