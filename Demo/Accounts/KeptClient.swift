import SQBasics
import SequencingOAuth

/// The client that signed an account in, stored as the account's attributes.
///
/// The attributes have the names of the standards: `issuer`, `jwks_uri` and the endpoints, such as
/// `token_endpoint` (RFC 8414), `client_secret`, `redirect_uri`, `scope` and
/// `token_endpoint_auth_method` (RFC 7591). The record itself contains the client's identifier.
/// `provider` is a value of `--provider`, and `name` is the name of the account's user, if it is
/// known. `tenant`, `team_id` and `audience` are details of the provider, and `expected_subject` is
/// the user that the server's responses must name; `handle` is the name by which that user's server
/// was found (AT Protocol). `resource` is the identifier of the resource
/// that the tokens are for (RFC 8707), and `resource_origins` lists the only servers that may get
/// the tokens, separated by spaces. The exceptions for the server have the program's own names,
/// except `id_token_signed_response_alg` (OpenID Connect Dynamic Client Registration). The
/// protections are `security_profile` (the program's own name),
/// `require_pushed_authorization_requests` (RFC 9126) and `dpop_bound_access_tokens` (RFC 9449).
/// `client_key_file` is the path of the file with the client's key; the key itself is not stored.
/// `built_in_sandbox` marks an account whose server ended with the program.
///
/// The secret is in the same record as the tokens, so it has the same protection. The records that
/// remain without tokens (``RememberedClients``) contain `needs_client_secret` instead.
struct KeptClient: Sendable, Equatable, Redacted {
  /// The name of an attribute.
  enum Key: String {
    case provider
    case issuer
    case tenant
    case team = "team_id"
    case audience
    case subject = "expected_subject"
    case handle
    case authorizationEndpoint = "authorization_endpoint"
    case tokenEndpoint = "token_endpoint"
    case revocationEndpoint = "revocation_endpoint"
    case deviceEndpoint = "device_authorization_endpoint"
    case jwks = "jwks_uri"
    case userInfoEndpoint = "userinfo_endpoint"
    case secret = "client_secret"
    case redirectURI = "redirect_uri"
    case scope
    case authentication = "token_endpoint_auth_method"
    case resource
    case resources = "resource_origins"
    case name
    case needsSecret = "needs_client_secret"
    case quirks = "token_response_quirks"
    case audiences = "trusted_audiences"
    case algorithm = "id_token_signed_response_alg"
    case noPKCE = "accepts_servers_without_pkce"
    case assertionAudience = "assertion_audience"
    case keyFile = "client_key_file"
    case pushesRequest = "require_pushed_authorization_requests"
    case usesDPoP = "dpop_bound_access_tokens"
    case profile = "security_profile"
    case builtInSandbox = "built_in_sandbox"
  }

  private var values: [Key: String]

  /// Creates the stored form of a client; `keyFile` is the path of the file with the client's key.
  ///
  /// `scope` is the scope of the sign-in if it differs from the client's scope, and `handle` is the
  /// handle of the user whose server was found.
  init(
    _ client: ClientConfiguration, at server: Server, keyFile: String? = nil, scope: String? = nil,
    handle: String? = nil
  ) {
    values = [:]
    switch server {
    case .known(let known):
      values[.provider] = known.name
      values[.issuer] = known.issuer
      let details = known.details
      values[.tenant] = details.tenant
      values[.team] = details.team
      values[.audience] = details.audience
    case .issuer(let issuer):
      values[.issuer] = issuer
    case .endpoints(let endpoints):
      values[.authorizationEndpoint] = endpoints.authorization
      values[.tokenEndpoint] = endpoints.token
      values[.revocationEndpoint] = endpoints.revocation
      values[.deviceEndpoint] = endpoints.deviceAuthorization
      values[.jwks] = endpoints.jwks
      values[.userInfoEndpoint] = endpoints.userInfo
      values[.issuer] = endpoints.issuer
    }
    values[.secret] = client.clientSecret
    values[.redirectURI] = client.redirectURI?.string
    values[.scope] = scope ?? client.scope
    values[.authentication] = client.clientAuthentication?.rawValue
    values.merge(ServerExceptions(client, beyond: server.provider).attributes) { $1 }
    values.merge(SignInProtections(client).attributes) { $1 }
    values[.keyFile] = keyFile
    values[.subject] = client.expectedSubject
    values[.handle] = handle
    let resources = client.resourceOrigins.map(\.description).sorted()
    values[.resources] = resources.isEmpty ? nil : resources.joined(separator: " ")
    values[.resource] = client.resources.isEmpty ? nil : client.resources.joined(separator: " ")
  }

  /// Reads the client of an account; a record with only an issuer is enough.
  init(_ record: AccountRecord) {
    let pairs = record.attributes.compactMap { name, value in
      Key(rawValue: name).map { ($0, value) }
    }
    values = Dictionary(uniqueKeysWithValues: pairs)
    if server == nil { values[.issuer] = record.issuer }
  }

  /// The client, marked as a client of a sandbox inside this program.
  var ofBuiltInSandbox: KeptClient {
    var client = self
    client.values[.builtInSandbox] = "true"
    return client
  }

  /// Whether the account's server was a sandbox inside a program that has ended.
  var isOfBuiltInSandbox: Bool { values[.builtInSandbox] != nil }

  /// The attributes for an account's record: the client's values by name.
  var attributes: [String: String] {
    Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, $1) })
  }

  /// The client without its secret, with a note that it had a secret.
  var withoutSecret: KeptClient {
    var client = self
    if client.values.removeValue(forKey: .secret) != nil { client.values[.needsSecret] = "true" }
    return client
  }

  /// Whether the client had a secret that was not stored.
  var needsSecret: Bool { values[.needsSecret] != nil }

  var server: Server? {
    if let known { return .known(known) }
    guard let authorization = values[.authorizationEndpoint], let token = values[.tokenEndpoint]
    else { return values[.issuer].map(Server.issuer) }
    return .endpoints(
      Endpoints(
        authorization: authorization, token: token, revocation: values[.revocationEndpoint],
        deviceAuthorization: values[.deviceEndpoint], jwks: values[.jwks],
        userInfo: values[.userInfoEndpoint], issuer: values[.issuer]))
  }

  /// The provider, if the SDK knows it by name.
  private var known: KnownProvider? {
    guard let name = values[.provider] else { return nil }
    return try? KnownProvider(
      name,
      ProviderDetails(
        issuer: KnownProvider.takesIssuer(name) ? values[.issuer] : nil, tenant: values[.tenant],
        team: values[.team], audience: values[.audience]))
  }

  /// The address of the provider, if the SDK knows it by name.
  var knownAddress: String? { known?.address }

  var secret: Secret? { values[.secret].map { Secret(.clientSecret, $0) } }
  var redirectURI: String? { values[.redirectURI] }
  var scope: String? { values[.scope] }
  var authentication: ClientAuthentication? {
    values[.authentication].map(ClientAuthentication.init(rawValue:))
  }
  /// The deviations from the standards that the server needs.
  var exceptions: ServerExceptions { ServerExceptions(values) }
  /// The protections of the sign-in beyond plain OAuth 2.
  var protections: SignInProtections { SignInProtections(values) }
  /// The path of the file with the client's private key.
  var keyFile: String? { values[.keyFile] }
  /// The only servers that may get the tokens.
  var resources: Set<ResourceOrigin> { Set(listed.compactMap(\.self)) }

  /// The listed servers, with `nil` for one in a form that is not known.
  private var listed: [ResourceOrigin?] {
    let texts = values[.resources]?.split(separator: " ") ?? []
    return texts.map { try? ResourceOrigin(String($0)) }
  }

  /// Fails if a later version of the program has stored a limit that this version does not know.
  ///
  /// Without the limit, the account could be used as its user did not allow.
  func checkLimits() throws(Failure) {
    let unknown: [(key: Key, isUnknown: Bool)] = [
      (.profile, protections.profile == .standard), (.algorithm, exceptions.algorithm == nil),
      (.resources, listed.isEmpty || listed.contains(nil)),
    ]
    let found = unknown.first { values[$0.key] != nil && $0.isUnknown }
    guard let key = found?.key else { return }
    throw Failure(
      SQOAuthError(
        .storeTooNew,
        "the account has a value of \(key.rawValue) that this version of sq-demo does not know")
    ).withHint(
      "Nothing was changed. Use the version that stored it, or end the account with 'sq-demo revoke' "
        + "or 'sq-demo logout'.")
  }

  /// The identifiers of the resources that the tokens are for, if the account was signed in from a
  /// resource's address.
  var identifiers: [String] {
    values[.resource]?.split(separator: " ").map(String.init) ?? []
  }
  /// The user whom the server's token responses must name.
  var subject: String? { values[.subject] }
  /// The handle of a user of AT Protocol, in lower case.
  var handle: String? { values[.handle] }
  var name: String? { values[.name] }

  /// Returns whether the account is of the user of AT Protocol with a handle or a DID.
  func isOf(_ name: String) -> Bool {
    subject == name || handle == String(name.drop { $0 == "@" }).asciiLowercased()
  }
}
