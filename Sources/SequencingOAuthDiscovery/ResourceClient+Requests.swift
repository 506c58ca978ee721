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
  /// demands. If the account's authorization server is out of reach and the resource names another
  /// one, the client signs the user in there. If the authorization server refuses the credentials of
  /// a client that registered itself, the client reads its registration, and refreshes the token
  /// with its new secret. If an answer of the resource was lost, it does so only
  /// for an idempotent method, because the resource may have carried the request out.
  ///
  /// A request belongs to the user of the account at the time of the call, and another user's token
  /// never completes it. If ID tokens name both users, the client compares them. Otherwise, the
  /// request goes on only after a sign-in that a request of the same user has led to. If another
  /// user signs in meanwhile, or the app ends the session, the request fails with the error that it
  /// had before. A sign-in for a request is open to the request's user only.
  ///
  /// - Throws: `SQOAuthError`: `SQOAuthError.Code.notAuthorized` if there is no account, and the
  ///   resource demands a sign-in that is not allowed; `SQOAuthError.Code.originNotAllowed` for a
  ///   URL of another server; `SQOAuthError.Code.sessionReplaced` if another user has signed in
  ///   while the request waited for a token, or another process as a new client;
  ///   `SQOAuthError.Code.idTokenSubject` if another user has signed in for the request; the errors
  ///   of ``signIn()`` and of `AccountOperations.send(_:)`.
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    try check(request)
    if let access = try await access() {
      return try await send(request, by: access, for: await owner(access.module), signIns: 0)
    }
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
    let gained = try await gainAccess(allowed(Demand(challenges: challenges)))
    return try await send(request, by: gained.access, for: gained.owner, signIns: 1)
  }

  /// The largest number of sign-ins for one request.
  ///
  /// Without this limit, a resource could demand something new after each sign-in, forever.
  private static let maximumSignIns = 3

  /// The largest number of renewals of the client for one request.
  ///
  /// The first may only take over the credentials that another process has stored.
  private static let maximumRenewals = 2

  /// Throws if a request is not for the resource's server.
  private func check(_ request: WebRequest) throws(SQOAuthError) {
    let origin = try ResourceOrigin(request.url)
    guard origin == resource.origin else {
      throw SQOAuthError(
        .originNotAllowed,
        "the request is for \(origin), and the client is for \(resource.origin); nothing was sent")
    }
  }

  /// Returns the user who is signed in to an account as a request begins.
  private func owner(_ module: AuthorizationModule) async -> Requester {
    let owner = Requester(of: module)
    guard owner.party == nil else { return owner }
    // Another process may have signed a user in.
    _ = try? await module.restore()
    return owner.isSignedOut ? owner : Requester(of: module)
  }

  /// Sends a request of `owner`, and gains access for it as often as that can help.
  ///
  /// `signIns` is the number of sign-ins that the request has led to.
  func send(
    _ request: WebRequest, by access: Access, for owner: Requester, signIns: Int
  ) async throws(SQOAuthError) -> WebResponse {
    var (access, owner, signIns) = (access, owner, signIns)
    var hasSignedIn = false
    var hasLooked = false
    var hasFollowed = false
    var renewals = 0
    while true {
      let token = access.module.currentToken
      // After the failure, the module may have the credentials that another request has renewed.
      let used = access.module.configuration
      let failure: ResourceFailure
      do throws(ResourceFailure) {
        return try await access.module.response(to: request, of: owner.owner)
      } catch {
        failure = error
      }
      let error = failure.error
      // If this request cannot be sent again, the next one uses the new credentials.
      let renewal = try await renewal(of: access, used, after: failure, &renewals)
      guard request.isReplayable, signIns < Self.maximumSignIns else { throw error }
      var demand = Demand(after: error, of: access.module, sent: token, by: owner)
      let now = try checkOwner(of: demand, access.module)
      if case .renewed = renewal { continue }
      switch error.code {
      case .sessionReplaced where failure.isWithoutAccess && !hasFollowed:
        // The session counts sign-ins, and cannot tell that this one is the owner's.
        hasFollowed = true
        owner = now
        if let known, known.module === access.module { access = known }
        continue
      case .insufficientScope, .insufficientUserAuthentication:
        guard options.interaction == .signInAndStepUp else { throw error }
        if try await !hasMoved(away: access, error) {
          demand = demand.steppingUp(after: try await namingScopes(error, access))
        }
      case _ where error.isOfAnotherClient && !hasLooked:
        hasLooked = true
        demand = demand.lookingForClient()
      case _ where error.isOutage && !hasSignedIn && options.interaction != .none:
        // If the answer was lost, the resource may have carried the request out.
        guard failure.isBeforeAnswer || request.isIdempotent, await isAbandoned(access) else {
          throw error
        }
        hasSignedIn = true
      case _ where error.needsSignIn && !hasSignedIn:
        // After a sign-in for this request, the token is new. The token of another sign-in would
        // be refused too, unless the resource asks for a token that is bound to a key.
        guard signIns == 0 || error.asksForProof(after: token) else { throw error }
        hasSignedIn = true
        if error.code == .invalidClient, case .ended = renewal {
          demand.unknownClient = used?.clientID
        }
        demand = try allowed(demand)
      default:
        throw error
      }
      let gained = try await gainAccess(demand)
      if demand.kind != .client || gained.hasSignedIn { signIns += 1 }
      (access, owner) = (gained.access, gained.owner)
    }
  }

  /// Renews the account's client if the authorization server has refused its credentials, those of
  /// `used`; the account's module uses the new ones from then on.
  ///
  /// `renewals` is the number of renewals for the request so far.
  ///
  /// - Throws: The refusal, if the server cannot be asked now.
  private func renewal(
    of access: Access, _ used: ClientConfiguration?, after failure: ResourceFailure,
    _ renewals: inout Int
  ) async throws(SQOAuthError) -> ClientIdentification.Renewal {
    guard failure.error.code == .invalidClient, failure.isWithoutAccess,
      let refused = used, let identifier = refused.resources.first
    else { return .ended }
    guard renewals < Self.maximumRenewals else { return .unchanged }
    renewals += 1
    let renewal = try await identification.renewal(
      of: refused, at: access.issuer, after: failure.error)
    guard case .renewed(let client) = renewal else { return renewal }
    if access.module.configuration == refused {
      access.module.register(
        configuration(of: client, binding: refused.tokenBinding, for: identifier))
    } else {
      // The app, or another request, has registered a client, perhaps before this failure.
      access.module.session.configurationDidChange()
    }
    return renewal
  }

  /// Returns the resource's demand if the user may be asked to sign in; otherwise throws.
  private func allowed(_ demand: Demand) throws(SQOAuthError) -> Demand {
    guard options.interaction == .none else { return demand }
    throw demand.waiting?.error
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

  /// Returns a resource's demand for more scopes, with the scopes that the resource's metadata names
  /// if the demand names none.
  ///
  /// - Throws: The error itself if no sign-in can help.
  private func namingScopes(
    _ error: SQOAuthError, _ access: Access
  ) async throws(SQOAuthError) -> SQOAuthError {
    guard error.code == .insufficientScope, error.challenge?.scope == nil else { return error }
    let found = try await discovery.find(named: error.challenge?.resourceMetadata)
    guard let scopes = found.metadata.scopes, !scopes.isEmpty,
      let token = access.module.currentToken, !token.scopesMissing(from: scopes).isEmpty
    else { throw error }
    return error.demanding(scopes)
  }
}

extension ResourceFailure {
  /// Whether there was no token for the request.
  fileprivate var isWithoutAccess: Bool {
    if case .noAccess = self { true } else { false }
  }

  /// Whether the resource has certainly not carried the request out.
  fileprivate var isBeforeAnswer: Bool {
    switch self {
    case .noAccess, .refused: true
    case .noAnswer: false
    }
  }
}

extension SQOAuthError {
  /// Whether a new sign-in may help after the resource or the server refused the account.
  ///
  /// A server that has lost its registrations refuses the client itself.
  fileprivate var needsSignIn: Bool {
    requiresSignIn || isOfAnotherClient
      || [.invalidToken, .tokenNotBound, .invalidClient].contains(code)
  }

  /// Whether the account's token belongs to a different client or server than the module's.
  fileprivate var isOfAnotherClient: Bool { cause is RecordOfAnotherClient }

  /// Whether the resource wants a token that is bound to a key, and refused a token that is not.
  fileprivate func asksForProof(after token: SQToken?) -> Bool {
    challenge?.asksForProof == true && token?.isBound != true
  }
}
