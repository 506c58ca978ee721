/// The rules of a client's security profile that can be checked before a request is sent.
///
/// - SeeAlso: FAPI 2.0 Security Profile, sections 5.3.3 and 5.4; FAPI 2.0 Message Signing, sections
///   5.3.2 and 5.4.2
struct ProfileRules: Sendable {
  let client: RegisteredClient

  private var configuration: ClientConfiguration { client.configuration }
  private var metadata: ProviderMetadata { client.metadata }
  private var profile: SecurityProfile { configuration.profile }

  /// The violated rules, as texts for an error message.
  private struct Faults {
    private(set) var texts: [String] = []

    mutating func require(_ condition: Bool, _ text: String) {
      if !condition { texts.append(text) }
    }
  }

  /// Throws if the client's configuration or the server's metadata violates a rule of the profile.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for the configuration, and
  ///   ``SQOAuthError/Code/signInUnsupported`` for the server. Each message lists all that is
  ///   missing.
  func check() throws(SQOAuthError) {
    guard let allowed = profile.algorithms else { return }
    var own = Faults()
    checkClient(allowed, &own)
    checkAlgorithms(allowed, &own)
    try refuse(
      .invalidConfiguration, "the client's configuration does not follow its profile FAPI 2.0: ",
      own)
    var servers = Faults()
    checkServer(allowed, &servers)
    if profile.signsMessages {
      checkSignedMessages(allowed, &servers)
    } else {
      servers.require(
        metadata.sendsIssuerInResponse, "authorization_response_iss_parameter_supported")
    }
    try refuse(
      .signInUnsupported,
      "the server cannot follow the client's profile FAPI 2.0; its metadata lacks: ", servers)
  }

  private func refuse(
    _ code: SQOAuthError.Code, _ text: String, _ faults: Faults
  ) throws(SQOAuthError) {
    guard faults.texts.isEmpty else {
      throw SQOAuthError(code, text + faults.texts.joined(separator: "; "))
    }
  }

  // MARK: The configuration

  private var authentication: ClientAuthentication? {
    try? configuration.authentication(supported: nil)
  }

  private func checkClient(_ allowed: Set<JWSAlgorithm>, _ faults: inout Faults) {
    // The algorithm of a source's assertions is not known in advance.
    let signs =
      authentication == .privateKeyJWT && configuration.clientAssertionSource == nil
      && configuration.clientKey.map { allowed.contains($0.algorithm) } ?? false
    faults.require(
      configuration.metadata == nil, "it must have a provider with an issuer (Provider.issuer)")
    faults.require(
      signs || authentication?.usesCertificate ?? false,
      "it must authenticate with a certificate, or with a clientKey of the algorithm PS256, ES256 "
        + "or EdDSA")
    faults.require(
      configuration.provider.assertionAudience == .issuer,
      "the provider's assertionAudience must be the issuer")
    faults.require(
      !configuration.allowsPasswordGrant, "it must not allow the password grant")
  }

  private func checkAlgorithms(_ allowed: Set<JWSAlgorithm>, _ faults: inout Faults) {
    let proofs: JWSAlgorithm? =
      switch configuration.newBinding {
      case .dpop(let algorithm)?: algorithm
      case .dpopKey(let key)?: key.algorithm
      case .certificate?, nil: nil
      }
    let responses = configuration.authorizationResponseAlgorithm
    faults.require(
      proofs.map(allowed.contains) ?? true,
      "the tokenBinding must have the algorithm PS256, ES256 or EdDSA")
    faults.require(
      responses.map(allowed.contains) ?? true,
      "the authorizationResponseAlgorithm must be PS256, ES256 or EdDSA")
  }

  // MARK: The server

  private func checkServer(_ allowed: Set<JWSAlgorithm>, _ faults: inout Faults) {
    let method = (authentication ?? .privateKeyJWT).rawValue
    faults.require(
      metadata.pushedAuthorizationRequestEndpoint != nil || configuration.redirectURI == nil,
      "pushed_authorization_request_endpoint")
    faults.require(
      metadata.codeChallengeMethods?.contains(PKCE.method) ?? false,
      "\"S256\" in code_challenge_methods_supported")
    faults.require(
      metadata.clientAuthenticationMethods?.contains(method) ?? false,
      "\"\(method)\" in token_endpoint_auth_methods_supported")
    if configuration.newBinding == .certificate {
      faults.require(
        metadata.bindsTokensToCertificates, "tls_client_certificate_bound_access_tokens")
    } else {
      faults.require(
        Self.lists(metadata.proofAlgorithms, oneOf: allowed),
        "PS256, ES256 or EdDSA in dpop_signing_alg_values_supported")
    }
  }

  private func checkSignedMessages(_ allowed: Set<JWSAlgorithm>, _ faults: inout Faults) {
    let responses = configuration.authorizationResponseAlgorithm.map { [$0] } ?? allowed
    let requests = configuration.clientKey.map { [$0.algorithm] } ?? allowed
    faults.require(
      metadata.responseModes?.contains("jwt") ?? false, "\"jwt\" in response_modes_supported")
    faults.require(
      Self.lists(metadata.authorizationResponseAlgorithms, oneOf: responses),
      "an algorithm of the client in authorization_signing_alg_values_supported")
    faults.require(
      Self.lists(metadata.requestObjectAlgorithms, oneOf: requests),
      "the algorithm of the clientKey in request_object_signing_alg_values_supported")
  }

  private static func lists(_ names: [String]?, oneOf wanted: Set<JWSAlgorithm>) -> Bool {
    !JWSAlgorithm.all(in: names).isDisjoint(with: wanted)
  }
}
