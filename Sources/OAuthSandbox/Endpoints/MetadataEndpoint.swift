/// Serves the metadata of RFC 8414, also at OpenID Connect's discovery address.
///
/// The sandbox issues no ID tokens, so members that only they need are left out.
enum MetadataEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    let methods = SandboxClient.Authentication.allCases.map { SandboxJSON.string($0.rawValue) }
    let withSecret = methods.filter { $0 != "none" }
    func endpoint(_ endpoint: SandboxEndpoint) -> SandboxJSON {
      .string(sandbox.issuer + endpoint.path)
    }
    return Answer(
      json: [
        "issuer": .string(sandbox.issuer),
        "authorization_endpoint": endpoint(.authorization),
        "token_endpoint": endpoint(.token),
        "revocation_endpoint": endpoint(.revocation),
        "introspection_endpoint": endpoint(.introspection),
        "scopes_supported": .array(sandbox.options.scopes.map { .string($0.name) }),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": .array(
          TokenEndpoint.supportedGrantTypes(sandbox).map(SandboxJSON.string)),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": .array(methods),
        "revocation_endpoint_auth_methods_supported": .array(methods),
        "introspection_endpoint_auth_methods_supported": .array(withSecret),
        "authorization_response_iss_parameter_supported": true,
      ])
  }
}
