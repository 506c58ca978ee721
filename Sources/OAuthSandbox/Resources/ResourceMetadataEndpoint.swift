/// The endpoint for the API's metadata, below `/.well-known/oauth-protected-resource`.
///
/// - SeeAlso: RFC 9728, section 3
enum ResourceMetadataEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    let path = String(request.path.dropFirst(SandboxEndpoint.resourceMetadata.path.count))
    let isThere =
      switch sandbox.options.resources.extent {
      case .origin: path.isEmpty
      case .path: sandbox.ownResources.contains(sandbox.address + path)
      }
    guard sandbox.options.resources.describesItself, isThere else {
      return Answer(status: 404, json: .error("not_found", "There is no such resource."))
    }
    return Answer(json: document(of: sandbox.resource(at: path), sandbox))
  }

  private static func document(of resource: String, _ sandbox: SandboxState) -> SandboxJSON {
    let options = sandbox.options
    let servers = options.resources.authorizationServers
    var json: SandboxJSON = [
      "resource": .string(resource),
      "authorization_servers": .strings(servers.isEmpty ? [sandbox.issuer] : servers),
      "scopes_supported": .strings(options.resources.scopes ?? sandbox.scopesOfAPI),
      "bearer_methods_supported": ["header"], "resource_name": "Sandbox API",
    ]
    if options.dpop.isOn {
      json["dpop_signing_alg_values_supported"] = .strings(options.dpop.algorithmNames)
      json["dpop_bound_access_tokens_required"] = .bool(options.dpop.policy == .required)
    }
    return json
  }
}

extension SandboxState {
  /// The scopes that the API knows: all but those about the user's identity and offline access.
  fileprivate var scopesOfAPI: [String] { defaultScopes.filter { $0 != "offline_access" } }
}
