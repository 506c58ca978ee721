public import Dispatch
import LoopbackHTTP

/// Signs a user in and holds the token: the shared instance that most apps use, or one of several.
///
/// Register the client, set the delegate, call ``authorizeUser()``. Every method may be called from
/// any thread. Methods that are not `async` return at once; the others wait for what they return.
public final class SQOAuth: Sendable {
  private struct State {
    weak var authorizationDelegate: (any AuthorizationDelegate)?
    weak var tokenRefreshDelegate: (any TokenRefreshDelegate)?
    var callbackQueue: DispatchQueue
  }

  /// The instance for apps with one account.
  public static let shared = SQOAuth()

  /// The current token's holder.
  public let result: SQAuthResult
  /// What does the work: the account's client and its token, for requests and everything else.
  public let module: AuthorizationModule
  private let state: Locked<State>

  /// Makes an instance with a token of its own.
  ///
  /// `accountID` names its record in the environment's token store; two instances on one store
  /// need two names.
  public init(
    environment: ClientEnvironment = ClientEnvironment(), accountID: String = "default"
  ) {
    module = AuthorizationModule(
      .failure(
        SQOAuthError(
          .notRegistered, "call registerApplicationParameters before a user is signed in")),
      environment: environment, accountID: accountID)
    result = SQAuthResult(module)
    state = Locked(State(callbackQueue: DispatchQueue(label: "SequencingOAuth.callbacks")))
    module.signIns.onEnd { [weak self] in self?.tellDelegate($0) }
    module.session.observers.setHandler { [weak self] in self?.tellRefreshDelegate($0) }
  }

  /// Hears how a sign-in ended; held weakly.
  public var authorizationDelegate: (any AuthorizationDelegate)? {
    get { state.withLock(\.authorizationDelegate) }
    set { state.withLock { $0.authorizationDelegate = newValue } }
  }

  /// Hears what becomes of the token after the sign-in; held weakly.
  public var tokenRefreshDelegate: (any TokenRefreshDelegate)? {
    get { state.withLock(\.tokenRefreshDelegate) }
    set { state.withLock { $0.tokenRefreshDelegate = newValue } }
  }

  /// Where delegates are called: a private serial queue, or for example `.main`.
  public var callbackQueue: DispatchQueue {
    get { state.withLock(\.callbackQueue) }
    set { state.withLock { $0.callbackQueue = newValue } }
  }

  /// The parts that the next sign-in works with.
  public var environment: ClientEnvironment {
    get { module.environment }
    set { module.environment = newValue }
  }
}

// MARK: - Registering the client

extension SQOAuth {
  /// Sets the client that signs users in, before ``authorizeUser()``.
  ///
  /// Calling it again replaces the client; a token that is there stays. Parameters that cannot be
  /// used are told to the delegate when the user is to be signed in; ``register(_:)`` tells at once.
  public func registerApplicationParameters(
    clientID: String, clientSecret: String? = nil, redirectURI: String, scope: String? = nil,
    provider: Provider = .sequencing
  ) {
    module.configure(
      Result { () throws(SQOAuthError) in
        try ClientConfiguration(
          clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI, scope: scope,
          provider: provider)
      })
  }

  /// Sets the client that signs users in, from a configuration that was checked when it was made.
  public func register(_ configuration: ClientConfiguration) {
    module.configure(.success(configuration))
  }
}

// MARK: - Signing in and out

extension SQOAuth {
  /// Signs the user in, in the browser; the delegate hears once how that ended.
  ///
  /// Called again while a sign-in is under way, it joins that one.
  public func authorizeUser() {
    module.startSignIn()
  }

  /// Signs the user in, or joins the sign-in under way, and returns its token.
  ///
  /// The delegate hears of it too. Cancelling the task ends the wait, and the sign-in as well if
  /// nobody else waits for it.
  public func authorize() async throws(SQOAuthError) -> SQToken {
    try await module.signIn()
  }

  /// Whether a sign-in is under way.
  public var isAuthorizationPending: Bool { module.signIns.isUnderWay }

  /// Ends the sign-in under way, if there is one; a redirect that comes later is refused.
  public func cancelAuthorization() {
    module.cancelSignIn()
  }

  /// Forgets the token, in memory at once and in the store soon; the server is not told.
  ///
  /// A sign-in under way is cancelled. ``signOut()`` does the same and tells when the store is done.
  public func userDidSignOut() {
    module.signOut()
  }

  /// Forgets the token, in memory and in the store; the server is not told.
  public func signOut() async throws(SQOAuthError) {
    try await module.signOut().wait().get()
  }

  private func tellDelegate(_ outcome: SignIn.Outcome) {
    // As the pod did: from a sign-in on, the token is kept fresh without being asked for.
    if module.currentToken != nil { module.refreshesAutomatically = true }
    let (delegate, queue) = state.withLock { ($0.authorizationDelegate, $0.callbackQueue) }
    guard let delegate else { return }
    queue.async {
      switch outcome {
      case .success(let token):
        delegate.userIsSuccessfullyAuthorized(token)
      case .failure(let error) where error.isCancellation:
        delegate.userDidCancelAuthorization()
      case .failure(let error):
        delegate.userIsNotAuthorized(because: error)
      }
    }
  }
}
