import SQBasics
package import SQFoundation

/// A sign-in by the code grant, checked before the user sees a page.
package struct PreparedCodeGrant: Sendable, Redacted {
  package let question: SignInQuestion
  package let redirect: RedirectURI
  package let authorizationEndpoint: URL
  /// The address to which the request is pushed; `nil` if the browser's URL carries the request.
  let pushEndpoint: URL?
  /// Whether the request is pushed only to keep an ID token out of the browser's URL.
  let pushIsOptional: Bool
  /// Whether the request is signed.
  let isSigned: Bool
  /// The algorithms that may sign the response; `nil` if the response is not signed.
  let responseAlgorithms: Set<JWSAlgorithm>?

  /// Prepares the grant, and does all checks that need no request.
  package init(_ options: SignInOptions, _ client: RegisteredClient) throws(SQOAuthError) {
    try ProfileRules(client: client).check()
    _ = try client.unprovenCredentials(supported: nil)
    try client.checkAssertionAlgorithm()
    try Self.checkServer(client.metadata)
    try Self.checkPKCE(client)
    question = try SignInQuestion(options, client)
    guard let redirect = client.configuration.redirectURI else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the client has no redirect URI, so users cannot sign in with a browser")
    }
    self.redirect = redirect
    guard let endpoint = client.metadata.authorizationEndpoint else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the provider has no authorization endpoint, so users cannot sign in with a browser")
    }
    try AuthorizationRequest.check(endpoint)
    authorizationEndpoint = endpoint
    let demandedEndpoint = try Self.pushEndpoint(client)
    pushEndpoint = demandedEndpoint ?? Self.endpointToHide(question, client)
    pushIsOptional = demandedEndpoint == nil
    isSigned = try client.signsAuthorizationRequests()
    responseAlgorithms = try client.responseAlgorithms()
    if let responseAlgorithms { _ = try client.signatures(ofTokensBy: responseAlgorithms) }
  }

  /// Throws if the client's configuration or the server's metadata shows that this grant cannot
  /// sign users in.
  package static func check(
    _ configuration: ClientConfiguration, at server: ProviderMetadata,
    in environment: ClientEnvironment
  ) throws(SQOAuthError) {
    _ = try Self(
      SignInOptions(),
      RegisteredClient(configuration: configuration, environment: environment, metadata: server))
  }

  /// Returns the endpoint for pushed authorization requests; `nil` if neither the server nor the
  /// app asks for such a request.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if a pushed request is required, but the
  ///   server has no endpoint for it.
  private static func pushEndpoint(_ client: RegisteredClient) throws(SQOAuthError) -> URL? {
    let isRequired = client.metadata.requiresPushedAuthorizationRequests
    guard
      isRequired || client.configuration.pushesAuthorizationRequests
        || client.configuration.profile.isFAPI
    else { return nil }
    if let endpoint = try client.metadata.address(of: .pushedAuthorization) { return endpoint }
    let reason =
      isRequired
      ? "its metadata demands them (require_pushed_authorization_requests)"
      : "the configuration's pushesAuthorizationRequests is set"
    throw SQOAuthError(
      .signInUnsupported,
      "the server has no endpoint for pushed authorization requests "
        + "(pushed_authorization_request_endpoint), although \(reason)")
  }

  /// Returns the endpoint for pushing a request that contains an ID token (`id_token_hint`), if the
  /// server has one; `nil` for any other request.
  ///
  /// Other users of the machine can read the browser's command, with the URL in it.
  private static func endpointToHide(_ question: SignInQuestion, _ client: RegisteredClient) -> URL?
  {
    guard question.parameters.value("id_token_hint") != nil else { return nil }
    return try? client.metadata.address(of: .pushedAuthorization)
  }

  /// Throws if the server's metadata says that the sign-in cannot work.
  ///
  /// Such a server would show the user an error page, and the redirect would never come.
  private static func checkServer(_ server: ProviderMetadata) throws(SQOAuthError) {
    func require(_ condition: Bool, _ member: String, _ reason: String) throws(SQOAuthError) {
      guard condition else {
        throw SQOAuthError(
          .signInUnsupported,
          "the server's metadata \(reason) (\(member)), so users cannot sign in with a browser; "
            + "if the metadata is wrong, configure the endpoints")
      }
    }
    try require(
      server.responseTypes?.contains("code") ?? true, "response_types_supported",
      "does not list the response type \"code\"")
    try require(
      server.grantTypes?.contains("authorization_code") ?? true, "grant_types_supported",
      "does not list the grant \"authorization_code\"")
  }

  /// Throws if the server does not support S256 and the configuration does not accept that.
  ///
  /// Without S256, anyone could redeem a stolen code (RFC 9700, section 2.1.1).
  private static func checkPKCE(_ client: RegisteredClient) throws(SQOAuthError) {
    guard let methods = client.metadata.codeChallengeMethods else {
      let configuration = client.configuration
      guard
        configuration.requiresListedPKCE || configuration.profile == .mcp,
        configuration.metadata == nil
      else { return }
      throw SQOAuthError(
        .pkceUnsupported,
        "the server's metadata lists no code challenge methods (code_challenge_methods_supported), "
          + "but the configuration demands S256")
    }
    let isAccepted =
      client.configuration.acceptsServersWithoutPKCE && client.configuration.profile != .mcp
    guard !methods.contains(PKCE.method), !isAccepted else { return }
    throw SQOAuthError(
      .pkceUnsupported,
      "the server's metadata does not list the code challenge method S256; "
        + "set acceptsServersWithoutPKCE if you accept that (without effect in the profile mcp)")
  }
}
