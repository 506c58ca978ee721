import SequencingOAuth

/// Why a client needs access that it does not have.
struct Demand: Sendable {
  /// What meets a demand.
  enum Kind: Sendable, Hashable {
    /// A sign-in for the app, by any user.
    case signIn
    /// A token that the resource has not refused.
    case token
    /// A token with the scopes, or of the login, that the resource's challenge names.
    case stepUp(SQOAuthError.Code, TokenChallenge?)
    /// The client to which the stored account belongs: another process may have changed it.
    case client
  }

  /// A request that was sent with the account's token.
  struct WaitingRequest: Sendable {
    let owner: Requester
    /// The error that the request fails with if no access can be gained for its owner.
    var error: SQOAuthError
  }

  private(set) var kind: Kind
  let challenges: [TokenChallenge]
  /// The token that the resource refused; `nil` if the resource received no token.
  let refused: SQToken?
  /// The request that waits; `nil` if the app asked for a sign-in, or the request was sent without
  /// an account.
  private(set) var waiting: WaitingRequest?
  /// The client that the authorization server no longer knows; `nil` if there is none.
  var unknownClient: String?
  /// Whether the client was renewed for the demand because its server refused its credentials.
  var hasRenewedClient = false

  /// The app's demand for a sign-in, whether there is a token or not.
  static let signIn = Demand(.signIn, [], refused: nil)

  /// Creates the demand of a resource that received no token.
  init(challenges: [TokenChallenge]) {
    self.init(.token, challenges, refused: nil)
  }

  private init(_ kind: Kind, _ challenges: [TokenChallenge], refused: SQToken?) {
    self.kind = kind
    self.challenges = challenges
    self.refused = refused
  }

  /// Creates the demand of a resource that refused the token of an account.
  ///
  /// After the resource refused the `sent` token, the account may have refreshed it, and the
  /// resource may have refused the new token too.
  init(
    after error: SQOAuthError, of module: AuthorizationModule, sent token: SQToken?,
    by owner: Requester
  ) {
    let current = module.currentToken
    self.init(
      .token, error.challenge.map { [$0] } ?? [],
      refused: current.map(error.isRefusal(of:)) == true ? current : token)
    waiting = WaitingRequest(owner: owner, error: error)
  }

  /// Returns the demand for what the challenge of an error names.
  func steppingUp(after error: SQOAuthError) -> Demand {
    var demand = self
    demand.waiting?.error = error
    demand.kind = .stepUp(error.code, error.challenge)
    return demand
  }

  /// Returns the demand for the client to which the stored account belongs.
  func lookingForClient() -> Demand {
    var demand = self
    demand.kind = .client
    return demand
  }

  /// Returns whether the resource may accept a token, so that no sign-in is needed.
  func accepts(_ token: SQToken?) -> Bool {
    guard kind != .signIn, let token else { return false }
    return token.accessToken != refused?.accessToken
  }

  /// Makes a sign-in at an issuer be for the user whose request waits.
  ///
  /// `now` is the account's user. Another issuer has other names for its users, so nobody can
  /// compare a user whom an ID token names.
  func requireUser(in signIn: inout SignInOptions, at issuer: String, _ now: Requester) {
    guard let owner = waiting?.owner, owner.party != nil else { return }
    guard [owner, now].allSatisfy({ $0.user == nil || $0.issuer == issuer }) else { return }
    signIn.requiresSameUser = true
    // The session may have ended, so the account may have no user any more.
    signIn.requiredUser = now.user ?? owner.user
  }

  /// Returns whether the end of another caller's search or sign-in is an answer to this demand too.
  func isMet(by gained: ResourceClient.Gained) -> Bool {
    let other = gained.demand
    let hasSameOwner = other.waiting?.owner == waiting?.owner
    switch (kind, other.kind) {
    case (.signIn, .signIn): return true
    case (.signIn, _):
      guard case .failure(let error) = gained.outcome else { return gained.hasSignedIn }
      // A sign-in that is open to one user only may fail for another.
      return other.waiting == nil || error.isCancellation
    case (.token, .signIn), (.token, .token), (.token, .stepUp):
      guard let access = gained.access else {
        // A user who has just refused does not want to be asked again.
        return other.kind == .signIn || other.kind == kind && hasSameOwner
      }
      return (waiting == nil || hasSameOwner) && accepts(access.module.currentToken)
    case (.token, .client), (.stepUp, _), (.client, _):
      return other.kind == kind && hasSameOwner
    }
  }
}
