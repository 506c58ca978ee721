import SQBasics
public import SQFoundation

// Tokens that the SDK does not save: exchanged tokens, and tokens with fewer rights.
extension AccountOperations {
  /// Exchanges a token for one with a different type or for a different service.
  ///
  /// A service that receives a user's token and calls another service uses this method to get a
  /// token for that service, instead of forwarding the received token. The SDK does not save the
  /// new token, and the account's own token does not change. With
  /// ``ClientConfiguration/tokenBinding``, a new access token is bound to the account's key, or to
  /// a new key if the account has none; ``send(_:with:)`` adds the proofs. The request takes at
  /// most ``ClientConfiguration/timeout``, in addition to a refresh of the account's own token.
  ///
  /// The account's own token goes only to the server that issued it. A subject that the app passes
  /// goes to the server of the registered client.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/unexpectedTokenType`` or
  ///   ``SQOAuthError/Code/unexpectedAudience`` if the response does not match the request;
  ///   ``SQOAuthError/Code/invalidTarget`` and other refusals of the server;
  ///   ``SQOAuthError/Code/tokenNotBound``; the reason why the account has no token;
  ///   ``SQOAuthError/Code/invalidConfiguration`` if the exchange is incomplete, or if it is for
  ///   the account's own token and another client or server has been registered since the sign-in.
  /// - SeeAlso: RFC 8693
  public func exchangeToken(
    _ exchange: TokenExchange
  ) async throws(SQOAuthError) -> ExchangedToken {
    guard let subject = exchange.subject else {
      return try await module.derived { () throws(SQOAuthError) in
        let record = try await module.validRecord()
        return try await module.exchange(
          exchange, subject: .accessToken(record.token.accessToken), of: record)
      }
    }
    let client = try await module.context.client()
    let own = module.session.record
    return try await module.exchange(
      exchange, subject: subject, by: client,
      // A key that another server knows would show that server's user to this one.
      key: own?.origin.isOf(client) == true ? own?.proofKey : nil)
  }

  /// Returns the fields that authorize a request to a URL with an exchanged access token.
  ///
  /// They are for this method, this URL and one attempt. If the server refuses the proof,
  /// ``RequestAuthorization/renewed(afterStatus:fields:)`` returns new fields; it never replaces
  /// the token. Use this method only for services for which the token was exchanged.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if the token is not an access token;
  ///   ``SQOAuthError/Code/insecureEndpoint`` for http to another machine;
  ///   ``SQOAuthError/Code/malformedRequest`` for a method that no request can have, or for a
  ///   usual method in lower case; ``SQOAuthError/Code/clientKeyFailed``.
  /// - SeeAlso: RFC 9449, section 7
  public func authorization(
    for url: URL, method: String, with token: ExchangedToken
  ) async throws(SQOAuthError) -> RequestAuthorization {
    let request = try ResourceRequest(ofApp: method, url)
    return try await module.use(token, for: url).authorization(for: request)
  }

  /// Sends a request with an exchanged or narrowed access token, and again if a new proof can help.
  ///
  /// The time limit is that of ``send(_:)``. Use this method only for services for which the token
  /// was exchanged.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``authorization(for:method:with:)`` and of the HTTP
  ///   client; ``SQOAuthError/Code/invalidToken``, ``SQOAuthError/Code/insufficientScope`` or
  ///   another code of the server, with the server's ``SQOAuthError/challenge``.
  /// - SeeAlso: RFC 6750, section 3.1
  public func send(
    _ request: WebRequest, with token: ExchangedToken
  ) async throws(SQOAuthError) -> WebResponse {
    do throws(SQOAuthError) {
      return try await module.send(request, with: try module.use(token, for: request.url))
    } catch {
      if error.code == .invalidToken { module.session.forgetNarrowed(token.token) }
      throw error
    }
  }
}

// MARK: - Fewer rights

extension AccountOperations {
  /// Returns an access token for some of the account's resources, for a part of its scope, or for
  /// both.
  ///
  /// An API that misuses such a token can do less with it elsewhere than with the account's own
  /// token. The SDK keeps the token in memory, and returns it again while it is valid. The
  /// account's own access token does not change, but its refresh token may. Callers share the
  /// request as they share a refresh, and it takes as long as a refresh. For a client that acts on
  /// its own behalf, the SDK repeats the client's grant. Send requests with ``send(_:with:)``: if a
  /// server refuses the token, the next call of this method gets a new one.
  ///
  /// `resources` must be among ``ClientConfiguration/resources``, if there are any; an empty list
  /// means all of them. Without a `scope`, the token has the account's whole scope, as far as the
  /// server allows it at the resources.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/invalidConfiguration`` if both arguments are
  ///   empty, or if a resource is not in the configuration; ``SQOAuthError/Code/invalidTarget``,
  ///   ``SQOAuthError/Code/invalidScope`` and other refusals of the server, which do not end the
  ///   session; the errors of ``refresh()``.
  /// - SeeAlso: RFC 8707, section 2.2; RFC 6749, section 6
  public func narrowedToken(
    for resources: [String] = [], scope: String? = nil
  ) async throws(SQOAuthError) -> ExchangedToken {
    let access = NarrowedAccess(resources, scope: scope)
    try access.check(of: module.context.configuration.get())
    return try await module.derived { () throws(SQOAuthError) in
      ExchangedToken(type: .accessToken, token: try await module.session.token(for: access))
    }
  }
}

extension AuthorizationModule {
  /// Returns a token that is made of the account's, with its owner.
  ///
  /// If another user signs in meanwhile, the owner is the user at the beginning of this call.
  fileprivate func derived(
    _ make: () async throws(SQOAuthError) -> ExchangedToken
  ) async throws(SQOAuthError) -> ExchangedToken {
    let owner = session.owner
    var token = try await make()
    let now = session.owner
    token.owner = owner.permits(now) ? now : owner
    return token
  }

  /// Exchanges a token of a record, with the client that got it.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` if another client or server is
  ///   registered; nothing is sent then.
  func exchange(
    _ exchange: TokenExchange, subject: TokenExchange.Token, of record: AccountRecord
  ) async throws(SQOAuthError) -> ExchangedToken {
    try await self.exchange(
      exchange, subject: subject, by: context.unprovenClient(of: record), key: record.proofKey)
  }

  /// Exchanges a token; a new token is bound to `key`, or to a new key if `key` is `nil`.
  fileprivate func exchange(
    _ exchange: TokenExchange, subject: TokenExchange.Token, by client: RegisteredClient,
    key: ProofKey?
  ) async throws(SQOAuthError) -> ExchangedToken {
    let key = client.configuration.newBinding == nil ? nil : key
    return try await TokenExchangeGrant(
      client: key == nil ? try client.provingAnew() : client.proving(with: key),
      tokenRequests: tokenRequests
    )
    .run(exchange, subject: subject)
  }

  /// Prepares an exchanged token for a service that the app names; no other token replaces it.
  fileprivate func use(
    _ token: ExchangedToken, for url: URL
  ) throws(SQOAuthError) -> AddressedToken {
    guard token.type == .accessToken else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a token of the type \"\(token.type.rawValue.printable)\" is no access token, so no request "
          + "can carry it")
    }
    return AddressedToken(
      module: self, token: token.token, origin: try ResourceOrigin(url), owner: nil,
      asker: token.owner)
  }
}
