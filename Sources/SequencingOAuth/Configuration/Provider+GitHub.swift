extension Provider {
  /// GitHub, with the client secret in the body, commas between the granted scopes, and its own
  /// revocation request.
  ///
  /// It serves OAuth apps and GitHub Apps. GitHub is not an OpenID provider. To learn who the user
  /// is, send a request to `api.github.com`, which may get the tokens. Only a GitHub App whose
  /// tokens expire gets refresh tokens, and each of them works once. A revocation ends one access
  /// token, and needs the client secret.
  public static let gitHub: Provider = .gitHub(host: "github.com")

  /// Creates the provider for a server of GitHub Enterprise.
  ///
  /// `host` is the server's name, such as `github.example.com` or `example.ghe.com`.
  public static func gitHub(host: String) -> Provider {
    let base = ProviderHost.base(host) ?? ""
    let name = base.split(separator: "/").last.map(String.init) ?? ""
    // On GitHub's own servers the API has its own host; on other servers it is below a path.
    let isCloud = name == "github.com" || name.hasSuffix(".ghe.com")
    let api = isCloud ? "https://api.\(name)" : "\(base)/api/v3"
    var provider = Provider(
      name: name == "github.com" ? "GitHub" : "GitHub \(name)", baseURL: base,
      authorizationEndpoint: "login/oauth/authorize", tokenEndpoint: "login/oauth/access_token",
      revocationEndpoint: "\(api)/applications",
      deviceAuthorizationEndpoint: "login/device/code")
    provider.clientAuthentication = .post
    provider.tokenResponseQuirks = .commaSeparatedScopes
    provider.revocationStyle = .gitHubToken
    provider.endedSessionCodes = [SQOAuthError.Code(rawValue: "bad_refresh_token")]
    provider.apiHosts = [isCloud ? "api.\(name)" : name]
    if base.isEmpty { provider.fault = ProviderHost.fault(host, of: "GitHub") }
    return provider
  }
}
