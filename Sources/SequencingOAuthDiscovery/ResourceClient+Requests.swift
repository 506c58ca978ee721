import SQBasics
public import SequencingOAuth

// Requests to the resource, and the sign-ins that its responses demand.
extension ResourceClient {
  /// Sends a request to the resource, and signs the user in if the resource demands it and
  /// ``Options/interaction`` allows it.
  ///
  /// A sign-in may open a browser.
  ///
  /// Without an account, the request is first sent without a token. If the resource answers with
  /// status 401, the client begins the search for the authorization server with the challenge. Any
  /// other response is returned. If the body can be sent only once, the search and the sign-in come
  /// first. With an account, the client sends the request by `AccountOperations.send(_:)`. If the
  /// resource refuses the account, the client asks the resource again which server it trusts, and
  /// signs the user in once. One request leads to three sign-ins at most, whatever the resource
  /// demands.
  ///
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.notAuthorized` if there is no account, and the
  ///   resource demands a sign-in that is not allowed; `SQOAuthError.Code.originNotAllowed` for a
  ///   URL of another server; the errors of ``signIn()`` and of `AccountOperations.send(_:)`.
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    try check(request)
    if let access = try await access() { return try await send(request, by: access) }
    let challenges: [TokenChallenge]
    if !request.isReplayable {
      // The body can be sent only once, so it is kept for the request with the token.
      challenges = []
    } else {
      var plain = request
      plain.headers["Authorization"] = nil
      let response = try await environment.exchange(plain, for: .resource)
      challenges = response.headers.tokenChallenges
      guard response.status == 401 else { return response }
    }
    let access = try await gainAccess(
      allowed(Demand(challenges: challenges, refused: nil), after: nil))
    return try await send(request, by: access, signIns: 1)
  }

  /// The largest number of sign-ins for one request.
  ///
  /// Without this limit, a resource could demand something new after each sign-in, forever.
  private static let maximumSignIns = 3

  /// Throws if a request is not for the resource's server.
  private func check(_ request: WebRequest) throws(SQOAuthError) {
    let origin = try ResourceOrigin(request.url)
    guard origin == resource.origin else {
      throw SQOAuthError(
        .originNotAllowed,
        "the request is for \(origin), and the client is for \(resource.origin); nothing was sent")
    }
  }

  private func send(
    _ request: WebRequest, by access: Access, signIns: Int = 0
  ) async throws(SQOAuthError) -> WebResponse {
    var access = access
    var signIns = signIns
    var hasSignedIn = false
    while true {
      let token = access.module.currentToken
      do throws(SQOAuthError) {
        return try await access.module.send(request)
      } catch {
        guard request.isReplayable, signIns < Self.maximumSignIns else { throw error }
        switch error.code {
        case .insufficientScope, .insufficientUserAuthentication:
          guard options.interaction == .signInAndStepUp else { throw error }
          if try await hasMoved(away: access, error) {
            signIns += 1
            access = try await gainAccess(Demand(after: error, of: access.module, sent: token))
          } else if try await stepUp(after: error, access) {
            signIns += 1
          }
        case _ where error.isOutage && !hasSignedIn && options.interaction != .none:
          guard await isAbandoned(access) else { throw error }
          hasSignedIn = true
          signIns += 1
          access = try await gainAccess(Demand(after: error, of: access.module, sent: token))
        case _ where error.needsSignIn && !hasSignedIn:
          // After a sign-in for this request, the token is new. The token of another sign-in would
          // be refused too, unless the resource asks for a token that is bound to a key.
          guard signIns == 0 || error.asksForProof(after: token) else { throw error }
          hasSignedIn = true
          signIns += 1
          var demand = Demand(after: error, of: access.module, sent: token)
          if error.code == .invalidClient { demand.unknownClient = access.client.clientID }
          access = try await gainAccess(allowed(demand, after: error))
        default:
          throw error
        }
      }
    }
  }

  /// Returns the resource's demand if the user may be asked to sign in; otherwise throws.
  private func allowed(
    _ demand: Demand, after error: SQOAuthError?
  ) throws(SQOAuthError) -> Demand {
    guard options.interaction == .none else { return demand }
    throw error
      ?? SQOAuthError(
        .notAuthorized,
        "there is no token for \(resource), and this request must not start a sign-in; call "
          + "signIn() when a user is there")
  }

  /// Returns whether the resource's metadata no longer names the account's authorization server.
  ///
  /// Returns `false` without a request if the challenge names no metadata.
  ///
  /// - SeeAlso: RFC 9728, section 5.2
  private func hasMoved(away access: Access, _ error: SQOAuthError) async throws(SQOAuthError)
    -> Bool
  {
    guard let address = error.challenge?.resourceMetadata else { return false }
    let found = try await discovery.find(named: address)
    return !found.metadata.authorizationServers.contains(access.issuer)
  }

  /// The time limit of each request in a search after an outage of the authorization server.
  private static let outageLimit = Duration.seconds(10)

  /// Returns whether the resource no longer names the account's server, which may be unreachable.
  private func isAbandoned(_ access: Access) async -> Bool {
    var discovery = discovery
    discovery.timeout = min(discovery.timeout, Self.outageLimit)
    let found = try? await discovery.find(named: nil)
    return found.map { !$0.metadata.authorizationServers.contains(access.issuer) } ?? false
  }

  /// Signs the user in with the additional scopes or the login that the resource demands; returns
  /// `false` if a newer token is enough.
  private func stepUp(
    after error: SQOAuthError, _ access: Access
  ) async throws(SQOAuthError) -> Bool {
    var error = error
    if error.code == .insufficientScope, error.challenge?.scope == nil {
      // Some servers only say in their metadata which scopes they need.
      let found = try await discovery.find(named: error.challenge?.resourceMetadata)
      guard let scopes = found.metadata.scopes, !scopes.isEmpty,
        let token = access.module.currentToken, !token.scopesMissing(from: scopes).isEmpty
      else { throw error }
      error = error.demanding(scopes)
    }
    guard
      var signIn = try access.module.stepUpOptions(answering: error, with: SignInOptions())
    else { return false }
    // Some servers grant `offline_access` without naming it in the response, so ask for it again.
    let server = try? await access.module.providerMetadata()
    signIn.scope = signIn.scope.map { addingOffline(to: $0.words, server, access.client) }
      .map { $0.joined(separator: " ") }
    try await self.signIn(signIn, access)
    return true
  }
}

extension SQOAuthError {
  /// Whether a new sign-in may help after the resource or the server refused the account.
  ///
  /// A server that has lost its registrations refuses the client itself.
  fileprivate var needsSignIn: Bool {
    requiresSignIn || [.invalidToken, .tokenNotBound, .invalidClient].contains(code)
  }

  /// Whether the resource wants a token that is bound to a key, and refused a token that is not.
  fileprivate func asksForProof(after token: SQToken?) -> Bool {
    challenge?.asksForProof == true && token?.isBound != true
  }
}
