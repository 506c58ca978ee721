/// The rules of a client's security profile that can be checked before a request is sent.
///
/// - SeeAlso: FAPI 2.0 Security Profile, sections 5.3.3 and 5.4; FAPI 2.0 Message Signing, sections
///   5.3.2 and 5.4.2
struct ProfileRules: Sendable {
  let client: RegisteredClient

  private var configuration: ClientConfiguration { client.configuration }
  private var metadata: ProviderMetadata { client.metadata }
  private var profile: SecurityProfile { configuration.profile }

  /// Throws if the client's configuration or the server's metadata does not allow the profile.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for the configuration, and
  ///   ``SQOAuthError/Code/signInUnsupported`` for the server; both name all that is missing.
  func check() throws(SQOAuthError) {
    guard let algorithms = profile.algorithms else { return }
    try refuse(
      .invalidConfiguration, "the client's configuration does not follow its profile FAPI 2.0: ",
      faults(of: configuration, algorithms))
    try refuse(
      .signInUnsupported,
      "the server cannot follow the client's profile FAPI 2.0; its metadata lacks: ",
      missing(algorithms))
  }

  private func refuse(
    _ code: SQOAuthError.Code, _ text: String, _ faults: [String]
  ) throws(SQOAuthError) {
    guard faults.isEmpty else {
      throw SQOAuthError(code, text + faults.joined(separator: "; "))
    }
  }

  /// Returns what is wrong in the configuration.
  private func faults(
    of configuration: ClientConfiguration, _ algorithms: Set<JWSAlgorithm>
  ) -> [String] {
    let proof =
      switch configuration.newBinding {
      case .dpop(let algorithm)?: algorithm ?? .es256
      case .dpopKey(let key)?: key.algorithm
      case nil: JWSAlgorithm.es256
      }
    let response = configuration.authorizationResponseAlgorithm
    let method = try? configuration.authentication(supported: nil)
    let rules = [
      (configuration.metadata == nil, "it must have a provider with an issuer (Provider.issuer)"),
      (
        method == .privateKeyJWT
          && configuration.clientKey.map { algorithms.contains($0.algorithm) }
            ?? false,
        "it must authenticate with a clientKey of the algorithm PS256, ES256 or EdDSA"
      ),
      (
        configuration.provider.assertionAudience == .issuer,
        "the provider's assertionAudience must be the issuer"
      ),
      (
        algorithms.contains(proof), "the tokenBinding must have the algorithm PS256, ES256 or EdDSA"
      ),
      (
        response.map(algorithms.contains) ?? true,
        "the authorizationResponseAlgorithm must be PS256, ES256 or EdDSA"
      ),
      (!configuration.allowsPasswordGrant, "it must not allow the password grant"),
    ]
    return rules.filter { !$0.0 }.map(\.1)
  }

  /// Returns what the server's metadata lacks.
  private func missing(_ algorithms: Set<JWSAlgorithm>) -> [String] {
    func lists(_ names: [String]?, _ wanted: JWSAlgorithm?) -> Bool {
      let listed = Set((names ?? []).compactMap(JWSAlgorithm.init(named:)))
      return wanted.map(listed.contains) ?? !listed.isDisjoint(with: algorithms)
    }
    var rules = [
      (
        metadata.pushedAuthorizationRequestEndpoint != nil || configuration.redirectURI == nil,
        "pushed_authorization_request_endpoint"
      ),
      (
        metadata.codeChallengeMethods?.contains(PKCE.method) ?? false,
        "\"S256\" in code_challenge_methods_supported"
      ),
      (
        metadata.clientAuthenticationMethods?.contains(ClientAuthentication.privateKeyJWT.rawValue)
          ?? false,
        "\"private_key_jwt\" in token_endpoint_auth_methods_supported"
      ),
      (
        lists(metadata.proofAlgorithms, nil),
        "PS256, ES256 or EdDSA in dpop_signing_alg_values_supported"
      ),
    ]
    if profile.signsMessages {
      rules += [
        (
          metadata.responseModes?.contains("jwt") ?? false, "\"jwt\" in response_modes_supported"
        ),
        (
          lists(
            metadata.authorizationResponseAlgorithms, configuration.authorizationResponseAlgorithm),
          "an algorithm of the client in authorization_signing_alg_values_supported"
        ),
        (
          lists(metadata.requestObjectAlgorithms, configuration.clientKey?.algorithm),
          "the algorithm of the clientKey in request_object_signing_alg_values_supported"
        ),
      ]
    } else {
      rules.append(
        (metadata.sendsIssuerInResponse, "authorization_response_iss_parameter_supported"))
    }
    return rules.filter { !$0.0 }.map(\.1)
  }
}
