import SQBasics
import SQCrypto
package import SQFoundation

/// The values of an authorization request that are needed to check and redeem its response.
///
/// The request can be stored until the response comes, even on another host. `state` and the
/// verifier are new in each request; the `nonce` comes from the grant.
///
/// - SeeAlso: RFC 6749, section 4.1; RFC 7636
package struct CodeRequest: Sendable, Hashable, Codable {
  package let clientID: String
  /// The text that identifies the server, ``Provider/identifier``.
  package let provider: String
  /// The redirect URI with the port that the SDK listens on; the token request repeats it exactly.
  package let redirectURI: String
  /// The issuer that an `iss` in the redirect must name; `nil` if the issuer is not known.
  let issuer: String?
  /// Whether the response must have `iss`, because it is signed or because the server's metadata
  /// says that the server sends `iss`.
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
  /// The names of the algorithms that may sign the response; `nil` if the response is not signed.
  private let responseAlgorithms: [String]?

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
    case responseAlgorithms = "response_algs"
  }

  /// Creates the request of a sign-in with a redirect URI.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server cannot bind tokens as the
  ///   configuration says; the reason if no key for the binding can be created or used.
  package init(
    _ grant: PreparedCodeGrant, _ client: RegisteredClient, redirectURI: String
  ) throws(SQOAuthError) {
    let question = grant.question
    responseAlgorithms = grant.responseAlgorithms?.map(\.rawValue).sorted()
    proofKey = try client.newProofKey()
    clientID = client.configuration.clientID
    provider = client.configuration.provider.identifier
    self.redirectURI = redirectURI
    issuer = client.metadata.issuer
    requiresIssuer = client.metadata.sendsIssuerInResponse || grant.responseAlgorithms != nil
    acceptsForm = question.asksForForm
    allowsPages = !question.forbidsPages
    state = RandomString.make()
    verifier = PKCE().verifier
    identity = question.expected.requested(at: client.environment.clock.now)
  }

  /// Decodes a request that this version or an earlier version of the SDK has written.
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
    responseAlgorithms = try container.decodeIfPresent([String].self, forKey: .responseAlgorithms)
  }

  /// The values that the response must have.
  package var expectation: AuthorizationResponse.Expectation {
    var expectation = AuthorizationResponse.Expectation(
      redirectURI: redirectURI, state: state, issuer: issuer, requiresIssuer: requiresIssuer,
      allowsPages: allowsPages, secrets: [verifier] + [identity.nonce].compactMap(\.self))
    if responseAlgorithms != nil {
      expectation.readsSigned = { SignedAuthorizationResponse.unverified($0) }
    }
    return expectation
  }

  /// Returns the parameters in a redirect's query; if the query has a signed response, the
  /// parameters inside that response.
  ///
  /// This does not verify the response.
  package static func parameters(in query: Substring) -> [FormCoding.Pair] {
    let pairs = FormCoding.mend(query)
    guard let text = pairs.value("response") else { return pairs }
    switch SignedAuthorizationResponse.unverified(text) {
    case .parameters(let inside): return inside
    case .unusable(_, let inside): return inside.isEmpty ? pairs : inside
    }
  }

  /// Returns the URL to open in the browser, and first pushes the request's parameters if the grant
  /// has an endpoint for that.
  package func url(
    of grant: PreparedCodeGrant, by client: RegisteredClient
  ) async throws(SQOAuthError) -> URL {
    // The code is bound to the key too (RFC 9449, section 10).
    let binding = proofKey.map { [FormCoding.Pair("dpop_jkt", $0.thumbprint)] } ?? []
    let request = AuthorizationRequest(
      endpoint: grant.authorizationEndpoint, clientID: clientID, redirectURI: redirectURI,
      scope: client.configuration.provider.scopesForRequest(identity.scope), state: state,
      nonce: identity.nonce, pkce: PKCE(verifier: verifier),
      extraParameters: grant.question.parameters(isResponseSigned: responseAlgorithms != nil)
        + binding)
    guard let endpoint = grant.pushEndpoint else {
      return try request.url(with: try await parameters(of: request, grant, client))
    }
    do throws(SQOAuthError) {
      let reference = try await push(to: endpoint, by: client.proving(with: proofKey)) {
        () throws(SQOAuthError) in try await parameters(of: request, grant, client)
      }
      return try request.url(pushedAs: reference)
    } catch {
      // The server may list the endpoint, and refuse pushed requests of this client.
      guard grant.pushIsOptional, let status = error.status, (400..<429).contains(status) else {
        throw error
      }
      return try request.url(with: try await parameters(of: request, grant, client))
    }
  }

  /// Returns the parameters to send: those of the request, or a new request object that contains
  /// them.
  private func parameters(
    of request: AuthorizationRequest, _ grant: PreparedCodeGrant, _ client: RegisteredClient
  ) async throws(SQOAuthError) -> [FormCoding.Pair] {
    guard grant.isSigned else { return request.parameters }
    // The server reads only the signed parameters (RFC 9101, sections 5 and 6.3).
    return [
      .init("client_id", clientID),
      .init(
        "request",
        try await client.requestObject(
          of: request.parameters, for: grant.pushEndpoint ?? client.metadata.tokenEndpoint)),
    ]
  }

  /// Pushes parameters to the server, and returns the reference to them.
  private func push(
    to endpoint: URL, by client: RegisteredClient,
    _ parameters: () async throws(SQOAuthError) -> [FormCoding.Pair]
  ) async throws(SQOAuthError) -> String {
    // The parameters name the key (`dpop_jkt`), so even without a proof the code is bound to the
    // key (RFC 9449, section 10.1).
    let (answer, pushed) = try await client.exchange(at: endpoint, proving: .ifAccepted) {
      () throws(SQOAuthError) in
      PushedAuthorizationRequest(
        endpoint: endpoint, parameters: try await parameters(),
        client: try await client.credentials(at: endpoint), timeout: client.configuration.timeout)
    }
    do throws(SQOAuthError) {
      return try PushedAuthorizationResponse(
        answer, to: pushed, receivedAt: client.environment.clock.now
      ).requestURI
    } catch {
      throw proofKey == nil ? error.namingTokenBinding : error
    }
  }

  /// Exchanges the response's code for a token, and validates the user's identity.
  ///
  /// `prepare` runs after the check of a signed response, and before the code is sent. `keep`
  /// stores the validated token. If the caller is cancelled before that, or if `keep` fails because
  /// of a cancellation, the tokens are revoked.
  ///
  /// - SeeAlso: RFC 6749, section 4.1.3
  package func redeem(
    _ response: AuthorizationResponse, by client: RegisteredClient, _ validator: IDTokenValidator?,
    _ tokenRequests: TokenRequests, prepare: () async throws(SQOAuthError) -> Void = {},
    keep: (SQToken) async throws(SQOAuthError) -> Void = { _ in }
  ) async throws(SQOAuthError) -> SQToken {
    try await verify(response, by: client)
    try await prepare()
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "authorization_code"),
      .init("code", response.code),
      .init("redirect_uri", redirectURI),
      .init("code_verifier", verifier),
    ]
    let client = client.proving(with: proofKey)
    return try await tokenRequests.token(of: client) { () throws(SQOAuthError) in
      try await client.token(parameters, scope: identity.scope)
    } use: { issued throws(SQOAuthError) in
      try client.checkScope(of: issued.token)
      let token = try await identity.identify(issued, code: response.code, by: validator)
        .coming(with: response.parameters)
      try await keep(token)
      return token
    }
  }

  /// Verifies that a signed response comes from the server; throws the response's error if it has
  /// one.
  private func verify(
    _ response: AuthorizationResponse, by client: RegisteredClient
  ) async throws(SQOAuthError) {
    guard let responseAlgorithms else { return }
    try await SignedAuthorizationResponse(compactForm: response.signedText ?? "").verify(
      by: try client.signatures(ofTokensBy: JWSAlgorithm.all(in: responseAlgorithms)),
      clientID: clientID, at: client.environment.clock.now,
      tolerance: client.configuration.clockTolerance, clockLead: client.clockLead)
    if let refusal = response.refusal { throw refusal }
  }
}

extension CodeRequest: Redacted {}
