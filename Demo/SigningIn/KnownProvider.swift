import SQBasics
import SQFoundation
import SequencingOAuth

/// A provider that the SDK knows by the name in `--provider`.
enum KnownProvider: Sendable, Equatable {
  case sequencing
  case google
  case facebook
  /// A realm of a Keycloak server.
  case keycloak(baseURL: String, realm: String)
  case gitHub
  /// GitLab.com or a GitLab server elsewhere.
  case gitLab(baseURL: String)
  case microsoft(tenant: String)
  /// Apple, for the clients of a developer's team.
  case apple(teamID: String)
  /// An authorization server of an Okta organization; if `server` is `nil`, the organization's own.
  case okta(domain: String, server: String?)
  case auth0(domain: String, audience: String?)
  case slack
  /// The server of a user of Bluesky or of another app on AT Protocol; it must still be found.
  case bluesky(handle: String)

  /// The values of `--provider`.
  static let names = [
    "sequencing", "google", "facebook", "keycloak", "github", "gitlab", "microsoft", "apple",
    "okta", "auth0", "slack", "bluesky",
  ]

  static func hasItsOwnEndpoints(_ name: String) -> Failure {
    .usage(
      "--provider \(name) knows its endpoints; leave \(takesIssuer(name) ? "" : "--issuer, ")"
        + "--authorize, --token and the other endpoints out")
  }

  var name: String {
    switch self {
    case .sequencing: "sequencing"
    case .google: "google"
    case .facebook: "facebook"
    case .keycloak: "keycloak"
    case .gitHub: "github"
    case .gitLab: "gitlab"
    case .microsoft: "microsoft"
    case .apple: "apple"
    case .okta: "okta"
    case .auth0: "auth0"
    case .slack: "slack"
    case .bluesky: "bluesky"
    }
  }

  /// The SDK's preset for this provider.
  var provider: Provider {
    switch self {
    case .sequencing: .sequencing
    case .google: .google
    case .facebook: .facebook
    case .keycloak(let baseURL, let realm): .keycloak(baseURL: baseURL, realm: realm)
    case .gitHub: .gitHub
    case .gitLab(let baseURL): .gitLab(baseURL: baseURL)
    case .microsoft(let tenant): .microsoft(tenant: tenant)
    case .apple(let teamID): .apple(teamID: teamID)
    case .okta(let domain, let server): .okta(domain: domain, authorizationServer: server)
    case .auth0(let domain, let audience): .auth0(domain: domain, audience: audience)
    case .slack: .slack
    case .bluesky: .issuer(Self.blueskyIssuer)
    }
  }

  /// The authorization server of most users of Bluesky.
  private static let blueskyIssuer = "https://bsky.social"

  /// The issuer in the records of the provider's accounts; `nil` for a provider without one.
  var issuer: String? {
    if case .bluesky = self { nil } else { provider.issuer }
  }

  /// The address of the provider's authorization server.
  var address: String {
    switch self {
    case .sequencing: "https://sequencing.com"
    case .facebook: "https://www.facebook.com"
    case .gitHub: "https://github.com"
    case .slack: "https://slack.com"
    case .bluesky: Self.blueskyIssuer
    case .keycloak(let baseURL, _): baseURL
    case .google, .gitLab, .microsoft, .apple, .okta, .auth0: provider.issuer ?? ""
    }
  }

  /// The scopes that ask who the user is.
  var identityScopes: [String] {
    // Apple has no scope `profile`. If a sign-in requests `email`, Apple sends the redirect by
    // POST.
    if case .apple = self { ["openid"] } else { ["openid", "profile", "email"] }
  }
}
