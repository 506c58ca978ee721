import SQBasics

/// A token for requests to one server; after a refusal, it can be replaced by a fresh token.
package struct AddressedToken: Sendable {
  let module: AuthorizationModule
  let token: SQToken
  let origin: ResourceOrigin
  /// The sign-in that the token comes from; `nil` if unknown.
  let generation: SignInGeneration?
  /// Whether the token has replaced a token that the server refused.
  var isReplacement = false
  /// The purpose of the requests, for an observer.
  var purpose = ClientEvent.Request.Purpose.resource

  /// Returns the fields for an attempt to send a request, including the proof if the token is
  /// bound.
  package func authorization(
    for request: ResourceRequest
  ) async throws(SQOAuthError) -> RequestAuthorization {
    try await RequestAuthorization(self, for: request)
  }

  /// Whether the fields of a request need the app's code, which may take any time.
  package var needsCodeOfApp: Bool {
    let keyIsOfApp = token.proofKey.map { $0.pair == nil } ?? false
    return keyIsOfApp || !(module.requestAuthenticator is AuthorizationFieldAuthenticator)
  }

  /// Returns the header fields that the app's authenticator creates for a request.
  func authenticatorFields(on request: ResourceRequest) async throws(SQOAuthError) -> HeaderFields {
    do {
      return try await module.requestAuthenticator.headerFields(for: token, on: request)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(
        .cancelled, "the app's authenticator did not authorize the request", cause: error)
    }
  }

  /// Returns the maker of the token's proofs; `nil` for a Bearer token.
  func prover() throws(SQOAuthError) -> Prover? {
    guard let key = token.proofKey else { return nil }
    let environment = module.context.environment
    return try Prover(
      key, appKey: try? module.context.configuration.get().tokenBinding?.appKey,
      environment.proofServers, environment.clock)
  }

  /// Returns an addressed token with a fresh token, or `nil` if no other token can help.
  ///
  /// If several requests were refused with the same token, the token is refreshed only once. If the
  /// refresh fails, the method throws its error.
  func replaced() async throws(SQOAuthError) -> AddressedToken? {
    let session = module.session
    // After a new sign-in, the token may be another user's, and must not be sent with this request.
    guard let generation, session.generation == generation else { return nil }
    let now = session.now
    if session.token?.accessToken == token.accessToken,
      module.refusals.withLock({ $0.freshTokens.holds(origin, at: now) })
    {
      return nil
    }
    let second: SQToken
    do throws(SQOAuthError) {
      second = try await session.token(.replacing(token.accessToken))
    } catch {
      // The server's refusal of the token is more informative than an error that says that there is
      // no other token.
      if error.code == .notAuthorized, error.response == nil { return nil }
      throw error
    }
    guard session.generation == generation else { return nil }
    return AddressedToken(
      module: module, token: second, origin: origin, generation: generation, isReplacement: true,
      purpose: purpose)
  }

  /// Records that the server refused even this fresh token.
  func wasRefused(_ error: SQOAuthError) {
    let now = module.session.now
    module.refusals.withLock { $0.freshTokens.note(origin, error, at: now) }
  }
}

extension AuthorizationModule {
  /// Returns a valid token for a request to a server; throws if that server must not get it.
  package func addressedToken(for origin: ResourceOrigin) async throws(SQOAuthError)
    -> AddressedToken
  {
    try check(origin)
    let generation = session.generation
    return try addressedToken(try await token(), at: origin, of: generation)
  }

  /// Returns the token for a request to a server if a valid one is in memory.
  ///
  /// It returns `nil` if the caller must wait for a token.
  package func addressedToken(at origin: ResourceOrigin) throws(SQOAuthError) -> AddressedToken? {
    try check(origin)
    let generation = session.generation
    return session.validToken.map { use($0, at: origin, since: generation) }
  }

  /// Returns a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// The caller has already checked the server.
  package func addressedAccess(for origin: ResourceOrigin) async throws(SQOAuthError)
    -> AddressedToken
  {
    let generation = session.generation
    return try addressedToken(try await requestAccess(), at: origin, of: generation)
  }

  /// Combines a token with its server; throws if another process signed a user in while the request
  /// waited for the token.
  ///
  /// The caller has already checked the server.
  func addressedToken(
    _ token: SQToken, at origin: ResourceOrigin, of generation: SignInGeneration?
  ) throws(SQOAuthError) -> AddressedToken {
    if let generation, let now = session.generation, now.replacements != generation.replacements {
      throw SQOAuthError(
        .sessionReplaced,
        "another process signed a user in to the account \"\(accountID.printable)\" while this "
          + "request waited; the request was not sent, because it belongs to the previous sign-in")
    }
    return use(token, at: origin, since: generation)
  }

  /// Combines a token with its server; `generation` is the sign-in at the time when the token was
  /// requested.
  ///
  /// A token that is no longer current belongs to that sign-in. It is replaced only while that
  /// sign-in is still the current one.
  private func use(
    _ token: SQToken, at origin: ResourceOrigin, since generation: SignInGeneration?
  ) -> AddressedToken {
    AddressedToken(
      module: self, token: token, origin: origin,
      generation: session.generation(of: token) ?? generation)
  }
}
