package import SQBasics
public import SQFoundation

/// Requests for protected resources, sent with the account's token.
extension AccountOperations {
  /// Returns a copy of a request with a valid token; never opens a browser.
  ///
  /// The token replaces an `Authorization` field of the request. The SDK adds it only for the
  /// servers that ``ClientConfiguration/resourceOrigins`` describes, and never for http to another
  /// machine.
  ///
  /// For a token that is bound to a key, the copy has a proof. The proof is valid for one attempt
  /// to send this request.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``authorization(for:method:)``.
  public func authenticate(_ request: WebRequest) async throws(SQOAuthError) -> WebRequest {
    request.with(try await authorization(for: request.url, method: request.method).fields)
  }

  /// Returns the fields that authorize a request to a URL; never opens a browser.
  ///
  /// Use it in adapters for other HTTP libraries: after a refusal,
  /// ``RequestAuthorization/renewed(afterStatus:fields:)`` replaces the token, once for all
  /// callers. For a token that is bound to a key, the fields contain a proof for this method and
  /// URL only. Give the method exactly as your client sends it, because it is case-sensitive.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``token()``; ``SQOAuthError/Code/sessionReplaced`` if
  ///   another user signs in while this call waits; ``SQOAuthError/Code/originNotAllowed`` or
  ///   ``SQOAuthError/Code/insecureEndpoint`` if the server must not get the token;
  ///   ``SQOAuthError/Code/malformedRequest`` for a method that no request can have, or for a usual
  ///   method in lower case.
  /// - SeeAlso: RFC 9449, section 4.2; RFC 9110, section 9.1
  public func authorization(
    for url: URL, method: String
  ) async throws(SQOAuthError) -> RequestAuthorization {
    let request = try ResourceRequest(ofApp: method, url)
    return try await module.addressedToken(for: module.originOfApps(url))
      .authorization(for: request)
  }

  /// Allows the SDK to send the account's tokens to the given servers.
  ///
  /// For example: `try module.allowTokens(at: "https://api.example")`. The permission lasts as long
  /// as this module exists. It adds to the servers that ``ClientConfiguration/resourceOrigins``
  /// describes. Call it for servers that the app itself knows, never for a URL from a server's
  /// response.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` for http to an address that is not loopback,
  ///   or ``SQOAuthError/Code/malformedRequest`` for a text that is not an http or https URL. In
  ///   both cases none of the servers is allowed.
  public func allowTokens(at servers: String...) throws(SQOAuthError) {
    try allowTokens(at: servers)
  }

  /// Allows the SDK to send the account's tokens to the servers of a list; allows none of them if
  /// one is invalid.
  ///
  /// The rules and errors are those of ``allowTokens(at:)-(String...)``.
  public func allowTokens(at servers: [String]) throws(SQOAuthError) {
    let origins = try servers.map { server throws(SQOAuthError) in try ResourceOrigin(server) }
    module.context.allowTokens(at: origins)
  }

  /// Sends a request with a valid token, and again after a refresh if refused; never opens a
  /// browser.
  ///
  /// A response with status 401 is never returned: the SDK refreshes the token and sends the
  /// request again. If that cannot help, or the server answers 401 again, the 401 is thrown as an
  /// error, with its fields and its content in ``SQOAuthError/resourceResponse``. A 403 whose
  /// challenge says `insufficient_scope` is thrown too. A response with any other status is
  /// returned.
  ///
  /// A request whose ``WebRequest/timeout`` was not set gets ``ClientConfiguration/timeout``, for
  /// each attempt to send it. A refresh between two attempts does not count; it has the time limit
  /// of ``token()``.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``authenticate(_:)`` and of the HTTP client;
  ///   ``SQOAuthError/Code/invalidToken``, ``SQOAuthError/Code/insufficientScope``,
  ///   ``SQOAuthError/Code/insufficientUserAuthentication`` or another code of the server, with the
  ///   server's ``SQOAuthError/challenge`` and its whole answer, ``SQOAuthError/resourceResponse``.
  /// - SeeAlso: RFC 6750, section 3.1
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    try await module.send(
      request, with: try await module.addressedToken(for: module.originOfApps(request.url)))
  }
}

extension AuthorizationModule {
  /// Sends an app's request with a token, within the standard time limit.
  func send(
    _ request: WebRequest, with use: AddressedToken
  ) async throws(SQOAuthError) -> WebResponse {
    do throws(ResourceFailure) {
      return try await response(to: request, with: use)
    } catch {
      throw error.error
    }
  }

  /// Sends an app's request with a valid token of its owner, as ``AccountOperations/send(_:)`` does;
  /// the failure says whether the request may have been carried out.
  package func response(
    to request: WebRequest, of owner: RequestOwner
  ) async throws(ResourceFailure) -> WebResponse {
    let use: AddressedToken
    do throws(SQOAuthError) {
      use = try await addressedToken(for: originOfApps(request.url), of: owner)
    } catch {
      throw .noAccess(error)
    }
    return try await response(to: request, with: use)
  }

  private func response(
    to request: WebRequest, with use: AddressedToken
  ) async throws(ResourceFailure) -> WebResponse {
    let limit: Duration
    do throws(SQOAuthError) {
      limit = try context.configuration.get().timeout
    } catch {
      throw .noAccess(error)
    }
    return try await request.withStandardLimit(limit).reportingProgress(by: callbacks) {
      request throws(ResourceFailure) in
      try await self.exchange(request, with: use)
    }
  }

  /// Sends a request with a token, and sends it again while a different token or proof can help.
  ///
  /// The caller has already checked the request's URL.
  func exchange(
    _ request: WebRequest, with use: AddressedToken
  ) async throws(ResourceFailure) -> WebResponse {
    let authorization = try await authorization(of: use, for: request)
    let response = try await response(to: request, with: authorization)
    return try await exchange(request, behind: response, to: authorization).response
  }

  /// Returns the fields for the first attempt to send a request with a token.
  package func authorization(
    of use: AddressedToken, for request: WebRequest
  ) async throws(ResourceFailure) -> RequestAuthorization {
    do throws(SQOAuthError) {
      return try await use.authorization(for: ResourceRequest(request))
    } catch {
      throw .noAccess(error)
    }
  }

  /// Handles the response to a request that was sent once, and sends the request again if that can
  /// help; returns the last response and the authorization of its request.
  package func exchange(
    _ request: WebRequest, behind response: WebResponse, to authorization: RequestAuthorization
  ) async throws(ResourceFailure) -> (response: WebResponse, RequestAuthorization) {
    var response = response
    var authorization = authorization
    while response.status >= 400 {
      let verdict: RequestAuthorization.Verdict
      do throws(SQOAuthError) {
        verdict = try await authorization.verdict(
          afterStatus: response.status, fields: response.headers)
      } catch {
        throw .noAccess(error)
      }
      switch verdict {
      case .accepted: return (response, authorization)
      case .refused(let error): throw .refused(error, response)
      case .again(let next):
        authorization = next
        response = try await self.response(to: request, with: next)
      }
    }
    authorization.learn(response.headers)
    return (response, authorization)
  }

  /// Sends a request with a token, once.
  package func response(
    to request: WebRequest, with authorization: RequestAuthorization,
    _ interruption: Interruption? = nil
  ) async throws(ResourceFailure) -> WebResponse {
    do throws(SQOAuthError) {
      return try await environment.exchange(
        request.with(authorization.fields, onNewConnection: authorization.needsNewConnection),
        for: authorization.observed, interruption)
    } catch {
      throw .noAnswer(error)
    }
  }

  /// Returns the server of a request that the app made; throws if that server must not get the
  /// token.
  fileprivate func originOfApps(_ url: URL) throws(SQOAuthError) -> ResourceOrigin {
    let origin = try ResourceOrigin(url)
    try context.check(origin, namedByApp: true)
    return origin
  }

  /// Records the server of a pipe, or of an RPC channel, as a server that the app named.
  package func addNamed(_ origin: ResourceOrigin) {
    context.addNamed(origin)
  }
}

extension WebRequest {
  /// Returns the request with these fields, which replace fields with the same names.
  fileprivate func with(_ fields: HeaderFields, onNewConnection isNew: Bool = false) -> WebRequest {
    var request = self
    request.needsNewConnection = isNew
    for field in fields { request.headers[field.name] = field.value }
    return request
  }
}
