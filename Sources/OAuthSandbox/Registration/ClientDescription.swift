import SQFoundation

/// The checked metadata of a client, from a request to register it or from the client's document.
///
/// - SeeAlso: RFC 7591, section 2
struct ClientDescription {
  /// The client metadata as received.
  private(set) var json: SandboxJSON
  let redirectURIs: [String]
  let postLogoutRedirectURIs: [String]
  let backchannelLogoutURI: String?
  let method: SandboxClient.Authentication
  let grantTypes: [String]
  let name: String?
  let scopes: [String]?
  /// The client's public keys, each with its algorithm.
  let keys: [SandboxJSON]
  let requiresBoundTokens: Bool
  let requiresSignedRequests: Bool
  let authorizationDetailsTypes: [String]?
  let responseAlgorithm: SandboxSigningAlgorithm?
  /// The algorithm of the client's ID tokens; RS256 unless the client names another one.
  let idTokenAlgorithm: SandboxSigningAlgorithm

  /// Reads the client metadata in the body of a request.
  init(_ request: SandboxRequest, _ sandbox: SandboxState) throws(OAuthFault) {
    guard request.header("content-type")?.mediaType == "application/json",
      let json = SandboxJSON(object: request.body)
    else { throw .invalidMetadata("The body is not a JSON object of type application/json.") }
    try self.init(json, sandbox)
  }

  init(_ json: SandboxJSON, _ sandbox: SandboxState) throws(OAuthFault) {
    self.json = json
    redirectURIs = try Self.texts("redirect_uris", json) ?? []
    postLogoutRedirectURIs = try Self.texts("post_logout_redirect_uris", json) ?? []
    backchannelLogoutURI = try Self.text("backchannel_logout_uri", json)
    grantTypes = try Self.texts("grant_types", json) ?? ["authorization_code"]
    let named = try Self.text("token_endpoint_auth_method", json) ?? "client_secret_basic"
    guard let method = SandboxClient.Authentication(rawValue: named),
      sandbox.options.authenticationMethods.contains(method)
    else {
      throw .invalidMetadata("This server does not support the token_endpoint_auth_method.")
    }
    self.method = method
    name = try Self.text("client_name", json)
    scopes = try Self.text("scope", json)?.split(separator: " ").map(String.init)
    keys = try Self.keys(json)
    requiresBoundTokens = try Self.bool("dpop_bound_access_tokens", json) ?? false
    requiresSignedRequests = try Self.bool("require_signed_request_object", json) ?? false
    authorizationDetailsTypes = try Self.texts("authorization_details_types", json)
    responseAlgorithm = try Self.algorithm("authorization_signed_response_alg", json)
    idTokenAlgorithm = try Self.algorithm("id_token_signed_response_alg", json) ?? .rs256
    try check(sandbox)
    try checkAddresses()
    try checkIDTokenAlgorithm(sandbox)
  }

  private func checkIDTokenAlgorithm(_ sandbox: SandboxState) throws(OAuthFault) {
    guard json["id_token_signed_response_alg"] != nil else { return }
    guard sandbox.options.openID.algorithms.contains(idTokenAlgorithm) else {
      throw .invalidMetadata("This server does not support the id_token_signed_response_alg.")
    }
    guard method.usesSecret || !idTokenAlgorithm.usesSecret else {
      throw .invalidMetadata("\(idTokenAlgorithm.rawValue) requires a client with a secret.")
    }
  }

  private func check(_ sandbox: SandboxState) throws(OAuthFault) {
    let known = TokenEndpoint.supportedGrantTypes(sandbox)
    guard grantTypes.allSatisfy(known.contains) else {
      throw .invalidMetadata("grant_types names an unsupported grant type.")
    }
    guard method != .none || !grantTypes.contains("client_credentials") else {
      throw .invalidMetadata("client_credentials requires a client that authenticates.")
    }
    guard method != .privateKeyJWT || !keys.isEmpty else {
      throw .invalidMetadata("private_key_jwt requires jwks.")
    }
    guard scopes?.allSatisfy(sandbox.options.scopes.map(\.name).contains) ?? true else {
      throw .invalidMetadata("scope names an unknown scope.")
    }
    guard !redirectURIs.isEmpty || !grantTypes.contains("authorization_code") else {
      throw .invalidRedirect("redirect_uris is missing or empty.")
    }
  }

  private func checkAddresses() throws(OAuthFault) {
    for text in redirectURIs + postLogoutRedirectURIs {
      guard let uri = URL(string: text), let scheme = uri.scheme?.lowercased(), !text.contains("#"),
        !RedirectURIs.schemesOfBrowsers.contains(scheme),
        scheme != "http" || ["127.0.0.1", "::1", "[::1]", "localhost"].contains(uri.host() ?? "")
      else {
        throw .invalidRedirect(
          "A redirect URI must be https, app-specific or loopback, and have no fragment.")
      }
    }
    guard let backchannelLogoutURI else { return }
    // The sandbox sends requests only to this computer, and without TLS.
    guard LoopbackURL(backchannelLogoutURI) != nil, !backchannelLogoutURI.contains("#") else {
      throw .invalidMetadata(
        "backchannel_logout_uri must be an http loopback URL without a fragment.")
    }
  }

  private static func keys(_ json: SandboxJSON) throws(OAuthFault) -> [SandboxJSON] {
    guard let set = json["jwks"] else { return [] }
    guard case .array(let keys)? = set["keys"],
      keys.allSatisfy({ $0["d"] == nil && $0["alg"] != nil && OpenSSLKey(publicJWK: $0) != nil })
    else { throw .invalidMetadata("jwks must be a set of public keys with their algorithms.") }
    return keys
  }

  private static func text(
    _ name: String, _ json: SandboxJSON
  ) throws(OAuthFault) -> String? {
    switch json[name] {
    case nil: return nil
    case .string(let text)?: return text
    default: throw .invalidMetadata("\(name) is not a string.")
    }
  }

  private static func bool(_ name: String, _ json: SandboxJSON) throws(OAuthFault) -> Bool? {
    switch json[name] {
    case nil: return nil
    case .bool(let value)?: return value
    default: throw .invalidMetadata("\(name) is not true or false.")
    }
  }

  private static func algorithm(
    _ name: String, _ json: SandboxJSON
  ) throws(OAuthFault) -> SandboxSigningAlgorithm? {
    guard let text = try text(name, json) else { return nil }
    guard let algorithm = SandboxSigningAlgorithm(rawValue: text) else {
      throw .invalidMetadata("\(name) names an unknown algorithm.")
    }
    return algorithm
  }

  private static func texts(
    _ name: String, _ json: SandboxJSON
  ) throws(OAuthFault) -> [String]? {
    switch json[name] {
    case nil: return nil
    case .array(let values)?:
      return try values.map { value throws(OAuthFault) in
        guard case .string(let text) = value else {
          throw .invalidMetadata("\(name) is not an array of strings.")
        }
        return text
      }
    default: throw .invalidMetadata("\(name) is not an array of strings.")
    }
  }

  /// The metadata with the defaults that hold for the client, without its identifier and secret.
  ///
  /// - SeeAlso: RFC 7591, section 3.2.1
  var registered: SandboxJSON {
    var json = json
    json["client_id"] = nil
    json["client_secret"] = nil
    json["token_endpoint_auth_method"] = .string(method.rawValue)
    json["grant_types"] = .strings(grantTypes)
    json["redirect_uris"] = .strings(redirectURIs)
    return json
  }

  /// Returns a client with this metadata.
  func client(id: String, secret: String?) -> SandboxClient {
    var client = SandboxClient(id: id, secret: secret, name: name, redirectURIs: redirectURIs)
    client.postLogoutRedirectURIs = postLogoutRedirectURIs
    client.backchannelLogoutURI = backchannelLogoutURI
    client.keys = keys
    client.authentication = [method]
    client.grantTypes = Set(grantTypes)
    client.scopes = scopes.map(Set.init)
    client.requiresBoundTokens = requiresBoundTokens
    client.requiresSignedRequests = requiresSignedRequests
    client.authorizationResponseAlgorithm = responseAlgorithm
    client.idTokenAlgorithm = idTokenAlgorithm
    client.authorizationDetailsTypes = authorizationDetailsTypes.map(Set.init)
    return client
  }
}

extension OAuthFault {
  fileprivate static func invalidMetadata(_ description: String) -> Self {
    Self(code: "invalid_client_metadata", description: description)
  }

  fileprivate static func invalidRedirect(_ description: String) -> Self {
    Self(code: "invalid_redirect_uri", description: description)
  }
}
