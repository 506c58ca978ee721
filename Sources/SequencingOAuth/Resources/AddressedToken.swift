import SQBasics

/// A token for requests to one server; after a refusal, it can be replaced by a fresh token.
package struct AddressedToken: Sendable {
  let module: AuthorizationModule
  let token: SQToken
  let origin: ResourceOrigin
  /// The owner of the requests; `nil` for a token that no other token can replace.
  package let owner: RequestOwner?
  /// Who may answer a demand of the server; `nil` for the owner.
  var asker: RequestOwner?
  /// The number of tokens that the server has refused before this one.
  var refusals = 0
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
    guard let owner, owner.isSame(as: session.owner) else { return nil }
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
    guard owner.isSame(as: session.owner(with: second)) else { return nil }
    if purpose == .resource {
      guard try module.resourceUse(of: second, at: origin, owner) != nil else { return nil }
    }
    return AddressedToken(
      module: module, token: second, origin: origin, owner: owner, refusals: refusals + 1,
      purpose: purpose)
  }

  /// Whether another token can help after a refusal of this one.
  ///
  /// If the server refuses a fresh token too, it may refuse every token, unless this one was
  /// refreshed once more while the request was on its way.
  var isReplaceable: Bool {
    refusals == 0 || refusals == 1 && module.session.token?.accessToken != token.accessToken
  }

  /// Records that the server refused even this fresh token.
  func wasRefused(_ error: SQOAuthError) {
    let now = module.session.now
    module.refusals.withLock { $0.freshTokens.note(origin, error, at: now) }
  }
}

extension AuthorizationModule {
  /// Returns a valid token for a request to a server; throws if that server must not get it.
  ///
  /// The request belongs to `owner`, or without an owner to the user who is signed in now. If
  /// another user signs in while the request waits, it throws.
  package func addressedToken(
    for origin: ResourceOrigin, of owner: RequestOwner? = nil
  ) async throws(SQOAuthError) -> AddressedToken {
    let owner = owner ?? session.owner
    while true {
      if let use = try addressedToken(at: origin, of: owner) { return use }
      let token = try await token(of: owner)
      if let use = try resourceUse(of: token, at: origin, owner) { return use }
    }
  }

  /// Returns a valid token for a request; throws if the request's owner is no longer signed in.
  package func token(of owner: RequestOwner) async throws(SQOAuthError) -> SQToken {
    let token: SQToken
    do throws(SQOAuthError) {
      token = try await self.token()
    } catch {
      var error = error
      error.owner = owner
      throw error
    }
    guard owner.permits(session.owner(with: token)) else {
      throw .sessionReplaced(ofAccount: accountID)
    }
    return token
  }

  /// Returns the token for a request to a server if a valid one is in memory.
  ///
  /// It returns `nil` if the caller must wait for a token, or if the token is not for the request's
  /// owner; waiting then fails.
  package func addressedToken(
    at origin: ResourceOrigin, of owner: RequestOwner
  ) throws(SQOAuthError) -> AddressedToken? {
    try context.check(origin, namedByApp: false)
    guard let token = heldToken else { return nil }
    return try resourceUse(of: token, at: origin, owner)
  }

  /// Returns a valid token: the current one, a refreshed one, or one from a sign-in in the browser.
  ///
  /// It throws as ``addressedToken(for:of:)`` does, and the caller has already checked the server. A
  /// sign-in for this request may change its owner, because its user was asked, but not to a user
  /// who is known to be another.
  package func addressedAccess(
    for origin: ResourceOrigin, of owner: RequestOwner
  ) async throws(SQOAuthError) -> AddressedToken {
    var owner = owner
    while true {
      let access = try await access(SignIn.Request(), of: owner)
      owner = access.owner
      if let use = try resourceUse(of: access.token, at: origin, owner) { return use }
      guard owner.permits(session.owner(with: access.token)) else {
        throw .sessionReplaced(ofAccount: accountID)
      }
    }
  }

  /// Combines a token with a server of the app's APIs; returns `nil` if another token has replaced
  /// it, or if it is not for the request's owner.
  ///
  /// The app may have registered another client since the token was read. So each token goes to an
  /// API only by this method, which compares the token's client and server with those of the client
  /// that allows the API.
  ///
  /// - Throws: ``SQOAuthError/Code/originNotAllowed``; ``SQOAuthError/Code/invalidConfiguration`` if
  ///   the token is of another client or server.
  fileprivate func resourceUse(
    of token: SQToken, at origin: ResourceOrigin, _ owner: RequestOwner
  ) throws(SQOAuthError) -> AddressedToken? {
    let (current, record) = session.ownerAndRecord
    guard let record, record.token.isSame(as: token), owner.permits(current) else { return nil }
    try context.check(origin, namedByApp: false, for: record)
    return AddressedToken(module: self, token: token, origin: origin, owner: current)
  }

  /// Combines a token with a server of its provider; throws if another user signed in while the
  /// request waited for the token.
  ///
  /// The caller has already compared the server with the token's record.
  func addressedToken(
    _ token: SQToken, at origin: ResourceOrigin, of owner: RequestOwner
  ) throws(SQOAuthError) -> AddressedToken {
    let current = session.owner(with: token)
    guard owner.permits(current) else { throw .sessionReplaced(ofAccount: accountID) }
    // If only the ID tokens name the same user, another user may be signed in now.
    let isCurrent = owner.lasts(until: current) || session.owner(of: token) != nil
    return AddressedToken(
      module: self, token: token, origin: origin, owner: isCurrent ? current : owner)
  }
}
