import SQBasics
import SQFoundation

/// The token requests of all grants.
extension RegisteredClient {
  /// Sends a grant's parameters to the token endpoint, and returns the token.
  ///
  /// If the response names no scope, the token gets the `scope` of this call. A `parser` replaces
  /// the environment's parser. With `isAnonymous`, a public client does not send its identifier. The
  /// configuration's own parameters are sent too, except the `omitted` ones. Each attempt gets a new
  /// text of the `assertion` from the client's key or from its source. The request also ends at
  /// `end`, a steady time of the environment's clock; after it, nothing is sent.
  ///
  /// - SeeAlso: RFC 6749, section 3.2
  func token(
    _ parameters: [FormCoding.Pair], scope: String?, parser: (any TokenResponseParser)? = nil,
    isAnonymous: Bool = false, omitting omitted: Set<String> = [],
    asserting assertion: GrantAssertion? = nil, until end: Duration? = nil
  ) async throws(SQOAuthError) -> IssuedToken {
    let (answer, reader) = try await answer(
      to: parameters, scope: scope, parser: parser, isAnonymous: isAnonymous, omitting: omitted,
      asserting: assertion, until: end)
    return try reader.issued(by: answer)
  }

  /// Sends a grant's parameters to the token endpoint, and returns the response and its reader.
  ///
  /// The parameters are those of
  /// ``token(_:scope:parser:isAnonymous:omitting:asserting:until:)``, and another `endpoint`. The
  /// time limit for the response is the configured time limit or `leastTimeout`, whichever is longer.
  func answer(
    to parameters: [FormCoding.Pair], at endpoint: URL? = nil, scope: String?,
    leastTimeout: Duration = .zero, parser: (any TokenResponseParser)? = nil,
    isAnonymous: Bool = false, omitting omitted: Set<String> = [],
    asserting assertion: GrantAssertion? = nil, until end: Duration? = nil
  ) async throws(SQOAuthError) -> (WebResponse, TokenResponse) {
    let endpoint = endpoint ?? metadata.tokenEndpoint
    let (answer, request) = try await exchange(at: endpoint, until: end) {
      () throws(SQOAuthError) in
      var credentials = try await credentials(at: endpoint)
      credentials.isAnonymous = isAnonymous
      var parameters = parameters
      if let assertion {
        parameters.append(
          .init("assertion", try await text(of: assertion, scope: scope, for: endpoint)))
      }
      return TokenRequest(
        endpoint: endpoint, parameters: parameters + furtherParameters(omitting: omitted),
        client: credentials, timeout: configuration.timeout, leastTimeout: leastTimeout,
        hasSignedGrant: assertion?.isSigned ?? false)
    }
    var context = TokenResponseContext(
      receivedAt: environment.clock.now, requestedScope: scope,
      quirks: configuration.provider.tokenResponseQuirks,
      isForBoundToken: proofKey != nil)
    context.expectedSubject = configuration.expectedSubject
    let reader = TokenResponse(
      parser: parser ?? environment.tokenResponseParser, context: context, request: request,
      proofKey: proofKey)
    return (answer, reader)
  }

  /// Returns the parameters that the configuration adds to a token request, except the `omitted`
  /// ones.
  private func furtherParameters(omitting omitted: Set<String>) -> [FormCoding.Pair] {
    let resources = configuration.resourceParameters
    let replaced: Set<String> = resources.isEmpty ? [] : ["resource"]
    return (configuration.tokenParameters.filter { !replaced.contains($0.name) } + resources)
      .filter { !omitted.contains($0.name) }
  }

  /// Gets a token for a user by a grant without a browser, with the user's identity if the scope
  /// requests it.
  ///
  /// If the caller is cancelled before the identity is validated, the tokens are revoked; a request
  /// that was sent continues until they arrive.
  func token(
    ofUserBy parameters: [FormCoding.Pair], scope: String?, _ tokenRequests: TokenRequests,
    isAnonymous: Bool = false, asserting assertion: GrantAssertion? = nil
  ) async throws(SQOAuthError) -> SQToken {
    let validator = try idTokenValidator(scope: scope)
    return try await tokenRequests.token(of: self, orIfCancelled: .waitCancelled) {
      () throws(SQOAuthError) in
      try await self.token(
        parameters, scope: scope, isAnonymous: isAnonymous, asserting: assertion)
    } use: { issued throws(SQOAuthError) in
      try checkScope(of: issued.token)
      guard let validator, let text = issued.token.idTokenText else { return issued.token }
      let idToken = try await validator.validate(
        text, issued.expectation(.ifPresent(nil)))
      return issued.token.identifying(idToken, nonce: nil)
    }
  }

  /// Throws if the token lacks a scope that the app requires.
  func checkScope(of token: SQToken) throws(SQOAuthError) {
    guard !configuration.requiredScopes.isEmpty else { return }
    let granted = token.scopes
    let missing = configuration.requiredScopes.filter { !granted.contains($0) }.sorted()
    guard missing.isEmpty else {
      throw SQOAuthError(
        .insufficientScope,
        "the token lacks scopes that the app requires: \(missing.joined(separator: " ").printable)")
    }
  }
}
