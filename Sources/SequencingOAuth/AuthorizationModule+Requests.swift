import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests for protected resources.
extension AuthorizationModule {
  /// A copy of a request that carries a valid token; the request itself is not changed.
  ///
  /// An `Authorization` field that is there is replaced. The token goes to no server but those that
  /// ``ClientConfiguration/resourceOrigins`` explains, and never over http to another machine.
  ///
  /// - Throws: ``SQOAuthError``: what ``token()`` throws,
  ///   ``SQOAuthError/Code/originNotAllowed`` or ``SQOAuthError/Code/insecureEndpoint``.
  public func authenticate(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPRequest {
    authenticated(request, with: try await tokenUse(for: originOfApps(request)))
  }

  /// Says that servers may see the tokens: `try module.allowTokens(at: "https://api.example")`.
  ///
  /// They may from now on, for as long as this module lives, besides those that
  /// ``ClientConfiguration/resourceOrigins`` explains. Call it for servers that the app knows by
  /// itself, and never for the URL that an answer named.
  ///
  /// - Throws: ``SQOAuthError/Code/insecureEndpoint`` for http on anything but a loopback address,
  ///   ``SQOAuthError/Code/malformedRequest`` for what is no http or https URL. Then none is allowed.
  public func allowTokens(at servers: String...) throws(SQOAuthError) {
    try allowTokens(atAll: servers)
  }

  /// Says that servers may see the tokens, all of them or none.
  func allowTokens(atAll servers: [String]) throws(SQOAuthError) {
    let origins = try servers.map { server throws(SQOAuthError) in try ResourceOrigin(server) }
    context.allowTokens(at: origins)
  }

  /// Sends a request with a valid token; a token that the server refuses is refreshed, once.
  ///
  /// A response with status 401 is never returned: the token is refreshed and the request sent
  /// again, unless that cannot help, and a second 401 is thrown with its fields and its content in
  /// ``SQOAuthError/resourceResponse``. Any other status is a response, but for a 403 whose
  /// challenge says `insufficient_scope`.
  ///
  /// A request that sets no ``HTTPRequest/timeout`` of its own has ``ClientConfiguration/timeout``,
  /// each time that it is sent; the time for a refresh does not count.
  ///
  /// - Throws: ``SQOAuthError``: what ``authenticate(_:)`` throws and what the HTTP client throws;
  ///   ``SQOAuthError/Code/invalidToken`` and ``SQOAuthError/Code/insufficientScope`` with the
  ///   server's ``SQOAuthError/challenge`` and its whole answer, ``SQOAuthError/resourceResponse``.
  /// - SeeAlso: RFC 6750, section 3.1
  public func send(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPResponse {
    let use = try await tokenUse(for: originOfApps(request))
    let request = request.limited(to: try context.configuration.get().timeout)
    do throws(ResourceFailure) {
      return try await request.reportingProgress(by: callbacks) { request throws(ResourceFailure) in
        try await exchange(request, with: use)
      }
    } catch {
      throw error.error
    }
  }

  /// Sends a request with a token, and once more with the next one where the server refuses it.
  ///
  /// The request's URL was checked.
  func exchange(
    _ request: HTTPRequest, with use: TokenUse
  ) async throws(ResourceFailure) -> HTTPResponse {
    try await exchange(request, behind: try await response(to: request, with: use), to: use)
  }

  /// Goes on with the response to a request's first sending.
  func exchange(
    _ request: HTTPRequest, behind response: HTTPResponse, to first: TokenUse
  ) async throws(ResourceFailure) -> HTTPResponse {
    guard let refusal = ResourceRefusal(response, of: first.token) else { return response }
    guard refusal.isWorthRefresh else { throw .refused(refusal.error, response) }
    let replacement: TokenUse?
    do throws(SQOAuthError) {
      replacement = try await first.replaced()
    } catch {
      throw .noAccess(error)
    }
    guard let second = replacement else { throw .refused(refusal.error, response) }
    let next = try await self.response(to: request, with: second)
    guard let refusal = ResourceRefusal(next, of: second.token) else { return next }
    if refusal.isWorthRefresh { second.wasRefused(refusal.error) }
    throw .refused(refusal.error, next)
  }

  /// Sends a request with a token, once.
  func response(
    to request: HTTPRequest, with use: TokenUse, _ interruption: Interruption? = nil
  ) async throws(ResourceFailure) -> HTTPResponse {
    do throws(SQOAuthError) {
      return try await environment.httpClient.exchange(
        authenticated(request, with: use), interruption)
    } catch {
      throw .noAnswer(error)
    }
  }

  private func authenticated(_ request: HTTPRequest, with use: TokenUse) -> HTTPRequest {
    var request = request
    for field in use.fields { request.headers[field.name] = field.value }
    return request
  }

  /// The server of a request that the app made; refuses one that may not see the token.
  private func originOfApps(_ request: HTTPRequest) throws(SQOAuthError) -> ResourceOrigin {
    let origin = try ResourceOrigin(request.url)
    try context.check(origin, namedByApp: true)
    return origin
  }

  /// Refuses a server that may not see the token.
  func check(_ origin: ResourceOrigin) throws(SQOAuthError) {
    try context.check(origin, namedByApp: false)
  }

  /// Takes the app's word for the server of a pipe or a channel that carries this account's token.
  package func name(_ origin: ResourceOrigin) {
    context.name(origin)
  }
}
