public import SQBasics

/// An app that is registered with the sandbox.
public struct SandboxClient: Sendable, Hashable {
  /// A method by which a client authenticates at the token endpoint.
  public enum Authentication: String, Sendable, Hashable, CaseIterable {
    /// The identifier and the secret in an `Authorization: Basic` field, each form-encoded first.
    case basic = "client_secret_basic"
    /// The identifier and the secret as form parameters in the body of the request.
    case post = "client_secret_post"
    /// A JWT that the client signs with one of its ``SandboxClient/keys`` (RFC 7523, section 2.2).
    case privateKeyJWT = "private_key_jwt"
    /// A JWT that the client signs with its secret, of at least 32 bytes, by HMAC with SHA-256.
    case clientSecretJWT = "client_secret_jwt"
    /// No credentials: a public client sends only its identifier, as a form parameter.
    case none

    /// Whether the client and the sandbox share a secret.
    var usesSecret: Bool { [.basic, .post, .clientSecretJWT].contains(self) }
  }

  /// The client's identifier, `client_id`.
  public var id: String
  /// The client's secret, `client_secret`; `nil` for a client without one, such as a public client.
  public var secret: String?
  /// The client's public keys, each a JSON Web Key with its `alg`.
  ///
  /// - SeeAlso: RFC 7517, section 4
  public var keys: [SandboxJSON] = []
  /// The client's identifiers at other authorization servers, by the issuer of each server.
  ///
  /// The sandbox writes them into its grants for those servers (ID-JAG). A grant for a server that
  /// is missing here names the client by ``id``.
  public var identifiers: [String: String] = [:]
  /// The app's name on the consent page.
  public var name: String
  /// The URIs that the sandbox may send the user back to.
  ///
  /// They are compared character by character, except that an `http` URI with a loopback host and
  /// no port matches every port (RFC 8252, section 7.3).
  public var redirectURIs: [String]
  /// The authentication methods that the sandbox accepts from this client.
  public var authentication: Set<Authentication>
  /// The values of `grant_type` that the client may use.
  ///
  /// `nil` allows every grant that suits the client: for a public client, all but
  /// `client_credentials` and the token exchange.
  public var grantTypes: Set<String>?
  /// The scopes that the client may request; `nil` for all scopes of the sandbox.
  public var scopes: Set<String>?
  /// The algorithm of the client's ID tokens, `id_token_signed_response_alg`.
  ///
  /// The HMAC algorithms require a client with a secret.
  public var idTokenAlgorithm = SandboxSigningAlgorithm.rs256
  /// The algorithm of the client's UserInfo responses, `userinfo_signed_response_alg`.
  ///
  /// If `nil`, the UserInfo endpoint answers with plain JSON.
  public var userInfoAlgorithm: SandboxSigningAlgorithm?
  /// The algorithm of the client's authorization responses, `authorization_signed_response_alg`.
  ///
  /// If `nil`, it is the first of ``SandboxOptions/authorizationResponseAlgorithms``.
  public var authorizationResponseAlgorithm: SandboxSigningAlgorithm?
  /// Whether the client's sign-ins with a browser must be signed requests,
  /// `require_signed_request_object`.
  ///
  /// It has no effect without ``SandboxOptions/requestObjectAlgorithms``.
  ///
  /// - SeeAlso: RFC 9101, section 10.5
  public var requiresSignedRequests = false
  /// Additional audiences of the client's ID tokens, which then name the client in `azp`.
  public var additionalAudiences: [String] = []
  /// The URIs that the sandbox may send the user back to after a logout.
  ///
  /// They are compared character by character, including the port.
  ///
  /// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 3.1
  public var postLogoutRedirectURIs: [String] = []
  /// The loopback address that receives a logout token when a session ends.
  ///
  /// - SeeAlso: OpenID Connect Back-Channel Logout 1.0, section 2.2
  public var backchannelLogoutURI: String?

  /// The types of authorization details that the client may request; `nil` for all types of the
  /// sandbox.
  ///
  /// - SeeAlso: RFC 9396, section 10
  public var authorizationDetailsTypes: Set<String>?
  /// Whether the client gets no token without a proof of its key, `dpop_bound_access_tokens`.
  ///
  /// It has no effect if ``SandboxOptions/dpop`` is off.
  ///
  /// - SeeAlso: RFC 9449, section 5.2
  public var requiresBoundTokens = false

  /// Creates a public client or, with a secret, a client that authenticates with
  /// `client_secret_basic` or `client_secret_post`.
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

  /// Creates a client that authenticates with a private key, whose public half is the JSON Web Key
  /// `key`.
  public init(id: String, key: SandboxJSON, name: String? = nil) {
    self.init(id: id, name: name)
    keys = [key]
    authentication = [.privateKeyJWT]
  }

  /// Whether the client authenticates, unlike a public client.
  var isConfidential: Bool { authentication != [.none] }

  /// The default redirect URIs: each loopback host with the path `/callback`, with `/` and without
  /// a path.
  public static let loopbackRedirectURIs = ["127.0.0.1", "[::1]", "localhost"].flatMap {
    ["http://\($0)/callback", "http://\($0)/", "http://\($0)"]
  }

  /// The public client `sandbox-app`, with loopback redirect URIs and two with private-use schemes.
  public static let app: SandboxClient = {
    let schemes = ["com.example.sandbox:/callback", "authapp://Default/Authcallback"]
    var app = SandboxClient(
      id: "sandbox-app", name: "Sandbox App", redirectURIs: loopbackRedirectURIs + schemes)
    app.postLogoutRedirectURIs = ["com.example.sandbox:/signed-out"]
    return app
  }()

  /// The confidential client `sandbox-service`, whose secret is `sandbox-secret`.
  public static let service = SandboxClient(
    id: "sandbox-service", secret: "sandbox-secret", name: "Sandbox Service")

  func accepts(grantType: String) -> Bool {
    if let grantTypes { return grantTypes.contains(grantType) }
    return grantType != "client_credentials" || isConfidential
  }
}

extension SandboxClient: Redacted {
  /// The client's identifier, without the secret.
  public var description: String { id }
  package var shownParts: KeyValuePairs<String, Any> {
    ["id": id, "name": name, "redirectURIs": redirectURIs]
  }
}
