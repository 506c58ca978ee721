/// The token endpoint, `/token` (RFC 6749, sections 4 to 6).
package enum TokenEndpoint {
  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    do throws(OAuthFault) {
      try checkForm(request)
      guard let grantType = request.form("grant_type") else {
        throw .invalidRequest("grant_type is missing.")
      }
      let isAnonymous = JWTBearerGrant.handles(grantType, sandbox) && !request.namesClient
      let authenticated = isAnonymous ? nil : try ClientAuthenticator.client(of: request, &sandbox)
      guard supportedGrantTypes(sandbox).contains(grantType) else {
        throw OAuthFault(
          code: "unsupported_grant_type",
          description: "This server does not support the grant type.")
      }
      // Without client authentication, the assertion identifies the client (RFC 7521, section 4.1).
      let client =
        if let authenticated {
          authenticated
        } else {
          try JWTBearerGrant.client(of: request, sandbox)
        }
      let request = try sandbox.proving(request, of: client)
      guard client.accepts(grantType: grantType) else {
        throw .unauthorizedClient("The client may not use this grant type.")
      }
      return Answer(json: try Grants.redeem(grantType, request, client, &sandbox))
    } catch {
      return error.answer
    }
  }

  /// The grants that the sandbox knows without an extension.
  package static let ownGrantTypes = [
    "authorization_code", "refresh_token", "password", "client_credentials", DeviceGrant.type,
    TokenExchangeGrant.type, JWTBearerGrant.type,
  ]

  static func supportedGrantTypes(_ sandbox: SandboxState) -> [String] {
    let accepted = ownGrantTypes.filter { sandbox.options.grantTypes?.contains($0) ?? true }
    let more = sandbox.options.extensionGrants.keys.filter { !accepted.contains($0) }
    return accepted + more.sorted()
  }

  /// Checks that all parameters are in the form, and that only `audience` and `resource` repeat.
  ///
  /// A query with the parameter `q` is allowed: Sequencing.com's refresh address has one.
  ///
  /// - SeeAlso: RFC 6749, section 3.2
  static func checkForm(_ request: SandboxRequest) throws(OAuthFault) {
    guard request.isWellFormed, !request.form.isEmpty else {
      throw .invalidRequest("The body is not a form.")
    }
    // RFC 8693, section 2.1, and RFC 8707, section 2, allow several values of these parameters.
    let isSeveral = { (name: String) in ["audience", "resource"].contains(name) }
    guard !request.form.filter({ !isSeveral($0.name) }).hasDuplicates else {
      throw .invalidRequest("A parameter came more than once.")
    }
    guard request.query.allSatisfy({ $0.name == "q" }) else {
      throw .invalidRequest("Send the parameters in the body.")
    }
  }
}

extension SandboxRequest {
  /// Whether the request names or authenticates a client.
  fileprivate var namesClient: Bool {
    header("authorization") != nil
      || form.contains { ["client_id", "client_assertion"].contains($0.name) }
  }
}
