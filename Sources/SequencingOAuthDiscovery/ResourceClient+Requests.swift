import SQBasics
public import SequencingOAuth

// Requests to the resource.
extension ResourceClient {
  /// Sends a request to the resource, and signs the user in if the resource demands it and
  /// ``Options/interaction`` allows it; it may open a browser then.
  ///
  /// Without an account, the request is first sent without a token. If the resource answers 401, its
  /// challenge is the beginning of the search for its authorization server. A response without such
  /// a challenge is returned. With an account, this is ``AccountOperations/send(_:)``; if the
  /// resource refuses the account, the client asks the resource again which server it trusts, and
  /// signs the user in once.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/notAuthorized`` if the resource demands a sign-in
  ///   that is not allowed; ``SQOAuthError/Code/originNotAllowed`` for a URL of another server; the
  ///   errors of ``signIn()`` and of ``AccountOperations/send(_:)``.
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    try check(request)
    if let access = try await access() { return try await send(request, by: access) }
    let challenges: [TokenChallenge]
    if !request.isReplayable {
      // Its body is for the request that has the token.
      challenges = []
    } else {
      var plain = request
      plain.headers["Authorization"] = nil
      let response = try await environment.transport.exchange(plain)
      challenges = response.headers.tokenChallenges
      guard response.status == 401 else { return response }
    }
    let access = try await gainAccess(
      allowed(Demand(challenges: challenges, refused: nil), after: nil))
    return try await send(request, by: access)
  }

  /// Throws if a request is for another server than the resource's.
  private func check(_ request: WebRequest) throws(SQOAuthError) {
    let origin = try ResourceOrigin(request.url)
    guard origin == resource.origin else {
      throw SQOAuthError(
        .originNotAllowed,
        "the request is for \(origin), and the client is for \(resource.origin); nothing was sent")
    }
  }

  /// The largest number of sign-ins that one request may demand of a user who has signed in.
  private static let mostStepUps = 3

  private func send(
    _ request: WebRequest, by access: Access
  ) async throws(SQOAuthError) -> WebResponse {
    var access = access
    var hasSignedIn = false
    var stepUps = 0
    while true {
      let token = access.module.currentToken
      do throws(SQOAuthError) {
        return try await access.module.send(request)
      } catch {
        guard request.isReplayable else { throw error }
        switch error.code {
        case .insufficientScope, .insufficientUserAuthentication:
          // A server could otherwise demand something new each time, without an end.
          guard options.interaction == .signInAndStepUp, stepUps < Self.mostStepUps else {
            throw error
          }
          stepUps += 1
          try await stepUp(after: error, access)
        case _ where error.needsSignIn && !hasSignedIn:
          hasSignedIn = true
          let challenges = error.challenge.map { [$0] } ?? []
          access = try await gainAccess(
            allowed(Demand(challenges: challenges, refused: token), after: error))
        default:
          throw error
        }
      }
    }
  }

  /// Returns the demand if the user may be asked.
  private func allowed(
    _ demand: Demand, after error: SQOAuthError?
  ) throws(SQOAuthError) -> Demand {
    guard options.interaction == .none else { return demand }
    throw error
      ?? SQOAuthError(
        .notAuthorized,
        "\(resource) demands a token, and nobody has signed in; call signIn() where a user can")
  }

  /// Signs the user in with the scopes or the login that the resource demands in addition.
  func stepUp(after error: SQOAuthError, _ access: Access) async throws(SQOAuthError) {
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
      let signIn = try access.module.stepUpOptions(answering: error, with: SignInOptions())
    else { return }
    try await self.signIn(signIn, access)
  }
}

extension SQToken {
  fileprivate func scopesMissing(from scopes: [String]) -> [String] {
    scopesMissing(from: scopes.joined(separator: " "))
  }
}

extension SQOAuthError {
  /// Whether a new sign-in may help after the resource or the server refused the account.
  fileprivate var needsSignIn: Bool {
    requiresSignIn || code == .invalidToken || code == .tokenNotBound
      || status == 401 && [.invalidDPoPProof, .useDPoPNonce].contains(code)
  }
}
