/// The endpoint of the server's metadata, at the addresses of RFC 8414 and of OpenID Connect.
///
/// - SeeAlso: OpenID Connect Discovery 1.0, section 3
enum MetadataEndpoint {
  /// The values of `prompt` that the authorization endpoint supports.
  static let prompts = ["none", "login", "consent", "select_account"]

  static func answer(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    guard request.isGet else { return .methodNotAllowed("GET") }
    let parts = [oauth(sandbox), optional(sandbox), openID(sandbox)]
    return Answer(json: .object(parts.flatMap(members)))
  }

  private static func members(_ json: SandboxJSON) -> [SandboxJSON.Member] {
    if case .object(let members) = json { members } else { [] }
  }

  private static func address(_ endpoint: SandboxEndpoint, _ sandbox: SandboxState) -> SandboxJSON {
    .string(sandbox.address + endpoint.path)
  }

  private static func oauth(_ sandbox: SandboxState) -> SandboxJSON {
    let methods = SandboxClient.Authentication.allCases
      .filter(sandbox.options.authenticationMethods.contains).map(\.rawValue)
    return [
      "issuer": .string(sandbox.issuer),
      "authorization_endpoint": address(.authorization, sandbox),
      "token_endpoint": address(.token, sandbox),
      "revocation_endpoint": address(.revocation, sandbox),
      "introspection_endpoint": address(.introspection, sandbox),
      "pushed_authorization_request_endpoint": address(.pushedAuthorization, sandbox),
      "require_pushed_authorization_requests": .bool(
        sandbox.options.requiresPushedAuthorizationRequests),
      "registration_endpoint": address(.registration, sandbox),
      "scopes_supported": .strings(sandbox.options.scopes.map(\.name)),
      "response_types_supported": ["code"],
      "response_modes_supported": .strings(sandbox.responseModes.map(\.rawValue)),
      "grant_types_supported": .strings(TokenEndpoint.supportedGrantTypes(sandbox)),
      "code_challenge_methods_supported": ["S256"],
      "token_endpoint_auth_methods_supported": .strings(methods),
      "revocation_endpoint_auth_methods_supported": .strings(methods),
      "introspection_endpoint_auth_methods_supported": .strings(methods.filter { $0 != "none" }),
      "token_endpoint_auth_signing_alg_values_supported": .strings(
        sandbox.options.assertionAlgorithms.filter {
          !$0.usesSecret || methods.contains(SandboxClient.Authentication.clientSecretJWT.rawValue)
        }.map(\.rawValue)),
      "authorization_response_iss_parameter_supported": true,
    ]
  }

  /// Returns the metadata about the features that the options turn on.
  ///
  /// - SeeAlso: RFC 9449, section 5.1; RFC 9396, section 10; RFC 9101, section 10.5;
  ///   JARM, section 4; RFC 9728, section 4
  private static func optional(_ sandbox: SandboxState) -> SandboxJSON {
    let options = sandbox.options
    var json: SandboxJSON = [:]
    if options.resources.describesItself {
      json["protected_resources"] = .strings(sandbox.ownResources)
    }
    if TokenEndpoint.supportedGrantTypes(sandbox).contains(DeviceGrant.type) {
      json["device_authorization_endpoint"] = address(.deviceAuthorization, sandbox)
    }
    if options.clientDocuments != nil { json["client_id_metadata_document_supported"] = true }
    if options.dpop.isOn {
      json["dpop_signing_alg_values_supported"] = .strings(options.dpop.algorithmNames)
    }
    if !options.authorizationDetailsTypes.isEmpty {
      json["authorization_details_types_supported"] = .strings(
        options.authorizationDetailsTypes.map(\.name))
    }
    if !options.authorizationResponseAlgorithms.isEmpty {
      json["authorization_signing_alg_values_supported"] = .strings(
        options.authorizationResponseAlgorithms.map(\.rawValue))
    }
    if !options.requestObjectAlgorithms.isEmpty {
      json["request_object_signing_alg_values_supported"] = .strings(
        options.requestObjectAlgorithms.filter { !$0.usesSecret }.map(\.rawValue))
      json["require_signed_request_object"] = .bool(options.requiresSignedRequests)
    }
    if !sandbox.expirationTypes.isEmpty {
      json["refresh_token_expiration_types_supported"] = .strings(sandbox.expirationTypes)
    }
    return json
  }

  private static func openID(_ sandbox: SandboxState) -> SandboxJSON {
    let options = sandbox.options.openID
    let algorithms = SandboxJSON.strings(options.algorithms.map(\.rawValue))
    let claims = ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid"]
    return [
      "jwks_uri": address(.keys, sandbox),
      "userinfo_endpoint": address(.userInfo, sandbox),
      "end_session_endpoint": address(.endSession, sandbox),
      "subject_types_supported": ["public"],
      "id_token_signing_alg_values_supported": algorithms,
      "userinfo_signing_alg_values_supported": algorithms,
      "claims_supported": .strings(claims + SandboxProfile.standardNames),
      "claims_parameter_supported": true,
      "request_parameter_supported": .bool(!sandbox.options.requestObjectAlgorithms.isEmpty),
      "request_uri_parameter_supported": false,
      "prompt_values_supported": .strings(prompts),
      "acr_values_supported": .strings(options.acrValues),
      "backchannel_logout_supported": true,
      "backchannel_logout_session_supported": true,
    ]
  }
}
