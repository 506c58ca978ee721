/// What the sandbox serves.
public enum SandboxEndpoint: String, Sendable, Hashable, CaseIterable {
  /// `/.well-known/oauth-authorization-server`, and the same by OpenID Connect's name.
  case metadata
  /// `/authorize`, where a sign-in begins.
  case authorization
  /// `/login`, to which the login form is sent.
  case login
  /// `/consent`, the consent page and its form.
  case consent
  /// `/token`.
  case token
  /// `/revoke`.
  case revocation
  /// `/introspect`.
  case introspection
  /// `/api/me`, which says whose token it was given.
  case me
  /// `/api/DataSourceList`, the list of sample files.
  case files

  init?(path: String) {
    switch path {
    case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration":
      self = .metadata
    default:
      guard let endpoint = Self.allCases.first(where: { $0.path == path }) else { return nil }
      self = endpoint
    }
  }

  /// The path, from the issuer on.
  public var path: String {
    switch self {
    case .metadata: "/.well-known/oauth-authorization-server"
    case .authorization: "/authorize"
    case .login: "/login"
    case .consent: "/consent"
    case .token: "/token"
    case .revocation: "/revoke"
    case .introspection: "/introspect"
    case .me: "/api/me"
    case .files: "/api/DataSourceList"
    }
  }
}
