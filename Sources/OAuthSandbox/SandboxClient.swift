public import Basics

/// An app that is registered at the sandbox.
public struct SandboxClient: Sendable, Hashable {
  /// How a client proves at the token endpoint that it is the one it names.
  public enum Authentication: String, Sendable, Hashable, CaseIterable {
    /// The secret in an `Authorization: Basic` field, both halves form-encoded first.
    case basic = "client_secret_basic"
    /// The secret in the form.
    case post = "client_secret_post"
    /// Nothing: a public client, which names itself in the form.
    case none
  }

  /// The `client_id`.
  public var id: String
  /// The `client_secret`; `nil` makes a public client.
  public var secret: String?
  /// What the consent page calls it.
  public var name: String
  /// Where it may send the user back to.
  ///
  /// They are compared character by character, but an `http` URI with a loopback host fits any
  /// port, as RFC 8252, section 7.3, asks.
  public var redirectURIs: [String]
  /// The ways of authentication that are accepted from it.
  public var authentication: Set<Authentication>
  /// The `grant_type`s that it may use; `nil` for all that suit its kind.
  public var grantTypes: Set<String>?
  /// The scopes that it may ask for; `nil` for all that the sandbox has.
  public var scopes: Set<String>?

  /// Makes a client that authenticates in any way that fits its secret.
  public init(
    id: String, secret: String? = nil, name: String? = nil,
    redirectURIs: [String] = SandboxClient.loopbackRedirectURIs
  ) {
    self.id = id
    self.secret = secret
    self.name = name ?? id
    self.redirectURIs = redirectURIs
    authentication = secret == nil ? [.none] : [.basic, .post]
  }

  /// The path `/callback`, and the root, of the loopback hosts.
  public static let loopbackRedirectURIs = ["127.0.0.1", "[::1]", "localhost"].flatMap {
    ["http://\($0)/callback", "http://\($0)/", "http://\($0)"]
  }

  /// The public client `sandbox-app`, with loopback redirects and two schemes of its own.
  public static let app: SandboxClient = {
    let schemes = ["com.example.sandbox:/callback", "authapp://Default/Authcallback"]
    return SandboxClient(
      id: "sandbox-app", name: "Sandbox App", redirectURIs: loopbackRedirectURIs + schemes)
  }()

  /// The confidential client `sandbox-service`, whose secret is `sandbox-secret`.
  public static let service = SandboxClient(
    id: "sandbox-service", secret: "sandbox-secret", name: "Sandbox Service")

  func accepts(grantType: String) -> Bool {
    if let grantTypes { return grantTypes.contains(grantType) }
    return grantType != "client_credentials" || secret != nil
  }
}

extension SandboxClient: Redacted {
  /// The `client_id` alone.
  public var description: String { id }
  package var shownParts: KeyValuePairs<String, Any> {
    ["id": id, "name": name, "redirectURIs": redirectURIs]
  }
}
