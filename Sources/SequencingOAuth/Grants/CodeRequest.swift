import SQBasics
import SQCrypto
package import SQFoundation

/// The values of an authorization request that are needed to check and redeem its response.
///
/// The request can be stored until the response comes, even on another host. `state`, the verifier
/// and the `nonce` are new in each request.
///
/// - SeeAlso: RFC 6749, section 4.1; RFC 7636
package struct CodeRequest: Sendable, Hashable, Codable {
  package let clientID: String
  /// The text that identifies the server, ``Provider/identifier``.
  package let provider: String
  /// The redirect URI with the port that the SDK listens on; the token request repeats it exactly.
  package let redirectURI: String
  /// The issuer that an `iss` in the redirect must name; `nil` if it is not known.
  let issuer: String?
  /// Whether the server's metadata says that it sends `iss`.
  let requiresIssuer: Bool
  /// Whether the response may be a posted form, because this request asked for one.
  package let acceptsForm: Bool
  /// Whether the server may show its pages to the user before it responds.
  let allowsPages: Bool
  package let state: String
  let verifier: String
  package let identity: ExpectedIdentity
  /// The key to which the new tokens are bound; `nil` for Bearer tokens.
  let proofKey: ProofKey?

  enum CodingKeys: String, CodingKey {
    case clientID = "client_id"
    case provider
    case redirectURI = "redirect_uri"
    case issuer = "iss"
    case requiresIssuer = "requires_iss"
    case acceptsForm = "form"
    case allowsPages = "pages"
    case state
    case verifier = "code_verifier"
    case identity
    case proofKey = "proof_key"
  }

  /// Creates the request of a sign-in with a redirect URI.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server cannot bind tokens to a key as
  ///   the configuration says.
  package init(
    _ question: SignInQuestion, _ client: RegisteredClient, redirectURI: String
  ) throws(SQOAuthError) {
    proofKey = try client.newProofKey()
    clientID = client.configuration.clientID
    provider = client.configuration.provider.identifier
    self.redirectURI = redirectURI
    issuer = client.metadata.issuer
    requiresIssuer = client.metadata.sendsIssuerInResponse
    acceptsForm = question.asksForForm
    allowsPages = !question.forbidsPages
    state = RandomString.make()
    verifier = PKCE().verifier
    identity = question.expected
  }

  /// Decodes a request that this version or an earlier one has written.
  ///
  /// The first version did not write ``acceptsForm``; its requests accept no posted form.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    clientID = try container.decode(String.self, forKey: .clientID)
    provider = try container.decode(String.self, forKey: .provider)
    redirectURI = try container.decode(String.self, forKey: .redirectURI)
    issuer = try container.decodeIfPresent(String.self, forKey: .issuer)
    requiresIssuer = try container.decode(Bool.self, forKey: .requiresIssuer)
    acceptsForm = try container.decodeIfPresent(Bool.self, forKey: .acceptsForm) ?? false
    allowsPages = try container.decode(Bool.self, forKey: .allowsPages)
    state = try container.decode(String.self, forKey: .state)
    verifier = try container.decode(String.self, forKey: .verifier)
    identity = try container.decode(ExpectedIdentity.self, forKey: .identity)
    proofKey = try container.decodeIfPresent(ProofKey.self, forKey: .proofKey)
  }

  /// The values that the response must have.
  package var expectation: AuthorizationResponse.Expectation {
    AuthorizationResponse.Expectation(
      redirectURI: redirectURI, state: state, issuer: issuer, requiresIssuer: requiresIssuer,
      allowsPages: allowsPages)
  }

  /// Returns the address for the browser, after pushing the request's parameters if the grant asks
  /// for that.
  package func url(
    of grant: PreparedCodeGrant, by client: RegisteredClient
  ) async throws(SQOAuthError) -> URL {
    // The code is bound to the key too (RFC 9449, section 10).
    let binding = proofKey.map { [FormCoding.Pair("dpop_jkt", $0.thumbprint)] } ?? []
    let request = AuthorizationRequest(
      endpoint: grant.authorizationEndpoint, clientID: clientID, redirectURI: redirectURI,
      scope: identity.scope, state: state, nonce: identity.nonce, pkce: PKCE(verifier: verifier),
      extraParameters: grant.question.parameters + binding)
    guard let endpoint = grant.pushEndpoint else { return try request.url() }
    let reference = try await push(request, to: endpoint, by: client.proving(with: proofKey))
    return try request.url(pushedAs: reference)
  }

  /// Pushes a request to the server, and returns the reference to it.
  private func push(
    _ request: AuthorizationRequest, to endpoint: URL, by client: RegisteredClient
  ) async throws(SQOAuthError) -> String {
    let (answer, pushed) = try await client.exchange(at: endpoint) { () throws(SQOAuthError) in
      PushedAuthorizationRequest(
        endpoint: endpoint, parameters: request.parameters,
        client: try await client.credentials(at: endpoint), timeout: client.configuration.timeout)
    }
    return try PushedAuthorizationResponse(
      answer, to: pushed, receivedAt: client.environment.clock.now
    ).requestURI
  }

  /// Exchanges the response's code for a token, and validates the user's identity.
  ///
  /// - SeeAlso: RFC 6749, section 4.1.3
  package func redeem(
    _ response: AuthorizationResponse, by client: RegisteredClient, _ validator: IDTokenValidator?,
    _ abandoned: AbandonedTokens
  ) async throws(SQOAuthError) -> SQToken {
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "authorization_code"),
      .init("code", response.code),
      .init("redirect_uri", redirectURI),
      .init("code_verifier", verifier),
    ]
    let client = client.proving(with: proofKey)
    let issued = try await abandoned.token(of: client) { () throws(SQOAuthError) in
      try await client.token(parameters, scope: identity.scope)
    }
    try client.checkScope(of: issued.token)
    return try await identity.identify(issued, code: response.code, by: validator)
      .coming(with: response.parameters)
  }
}

extension CodeRequest: Redacted {}
