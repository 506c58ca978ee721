import Basics
public import Dispatch

/// The delegates of an ``SQOAuth``, which holds them weakly.
///
/// They need not be `Sendable`: they are only called where they belong.
private struct Delegates: @unchecked Sendable {
  weak var authorization: (any AuthorizationDelegate)?
  weak var tokenRefresh: (any TokenRefreshDelegate)?

  init(
    authorization: (any AuthorizationDelegate)? = nil,
    tokenRefresh: (any TokenRefreshDelegate)? = nil
  ) {
    self.authorization = authorization
    self.tokenRefresh = tokenRefresh
  }
}

/// Signs a user in and holds the token: the shared instance that most apps use, or one of several.
///
/// Register the client, set the delegates, call ``authorizeUser()``. Any method may be called from any
/// thread, and none blocks it. Each act has a form with a completion and an `async` form.
///
/// A delegate or a completion that belongs to an actor, such as a `@MainActor` screen's, is called on
/// that actor. Any other one is called on the ``callbackQueue``.
public final class SQOAuth: Sendable {

  /// The instance for apps with one account.
  public static let shared = SQOAuth()

  /// The current token's holder.
  public let result: SQAuthResult
  /// What does the work: the account's client and its token, for requests and everything else.
  public let module: AuthorizationModule
  private let delegates = Locked(Delegates())
  /// Whether the token is taken from the store as soon as there is a client.
  let resumesAtRegistration = Locked(false)

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
    // As the pod did: an app's one token is kept fresh without being asked for.
    module.refreshesAutomatically = true
    module.signIns.onEnd { [weak self] in self?.tell($0) }
    module.session.observers.setHandler { [weak self] in self?.tell($0) }
  }

  /// Hears how a sign-in ended; held weakly.
  public var authorizationDelegate: (any AuthorizationDelegate)? {
    get { delegates.withLock(\.self).authorization }
    set {
      let change = Delegates(authorization: newValue)
      delegates.withLock { $0.authorization = change.authorization }
    }
  }

  /// Hears what becomes of the token after the sign-in; held weakly.
  public var tokenRefreshDelegate: (any TokenRefreshDelegate)? {
    get { delegates.withLock(\.self).tokenRefresh }
    set {
      let change = Delegates(tokenRefresh: newValue)
      delegates.withLock { $0.tokenRefresh = change.tokenRefresh }
    }
  }

  /// Where delegates and completions without an actor of their own are called: the main queue, unless
  /// the app sets another.
  ///
  /// The main queue needs a main thread that runs it: `dispatchMain()`, `RunLoop.main.run()` or an
  /// `async` main. A program that blocks its main thread sets a serial queue of its own. What belongs
  /// to an actor is called on that actor, whatever the queue.
  public var callbackQueue: DispatchQueue {
    get { module.callbackQueue }
    set { module.callbackQueue = newValue }
  }

  /// Tells the delegate, in order, how a sign-in ended.
  private func tell(_ outcome: SignIn.Outcome) {
    let delegates = delegates.withLock(\.self)
    let call = DelegateCall {
      delegates.authorization
    } cast: {
      castToAuthorizationDelegate($0)
    } call: { delegate in
      switch outcome {
      case .success(let token):
        await delegate.userIsSuccessfullyAuthorized(token)
      case .failure(let error):
        let isDone = await OptionalMethod.call {
          if error.isCancellation {
            await delegate.userDidCancelAuthorization()
          } else {
            await delegate.userIsNotAuthorized(because: error)
          }
        }
        if !isDone { await delegate.userIsNotAuthorized() }
      }
    }
    module.callbacks.inOrder { await call.run() }
  }

  /// Tells the delegate, in order, what became of the token.
  func tell(_ event: SessionEvent) {
    let delegates = delegates.withLock(\.self)
    let call = DelegateCall {
      delegates.tokenRefresh
    } cast: {
      castToTokenRefreshDelegate($0)
    } call: { delegate in
      switch event {
      case .refreshed(let token): await delegate.tokenIsRefreshed(token)
      case .replaced(let token):
        if await !OptionalMethod.call({ await delegate.sessionIsReplaced(token) }) {
          await delegate.tokenIsRefreshed(token)
        }
      case .refreshFailed(let error): await delegate.tokenRefreshDidFail(error)
      case .ended(let reason): await delegate.sessionDidEnd(reason)
      }
    }
    module.callbacks.inOrder { await call.run() }
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
  /// used make the next sign-in fail, and its delegate or completion gets the reason; the initializer
  /// of ``ClientConfiguration`` throws it at once.
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
    resumeIfKept()
  }

  /// Sets the client that signs users in, and who receives its redirects.
  ///
  /// It is for an app whose own web server listens on the port of a loopback redirect URI:
  /// ``RedirectReceiver/app``. Parameters that cannot be used make the next sign-in fail, as in
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``. The page
  /// that ends a sign-in where the SDK is the receiver is ``ClientEnvironment/landingPage`` of the
  /// ``environment``.
  public func registerApplicationParameters(
    clientID: String, clientSecret: String? = nil, redirectURI: String,
    redirectReceiver: RedirectReceiver, scope: String? = nil, provider: Provider
  ) {
    module.configure(
      Result { () throws(SQOAuthError) in
        try ClientConfiguration(
          clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI,
          redirectReceiver: redirectReceiver, scope: scope, provider: provider)
      })
    resumeIfKept()
  }

  /// Sets the client that signs users in, from a configuration that was checked when it was made.
  public func register(_ configuration: ClientConfiguration) {
    module.configure(.success(configuration))
    resumeIfKept()
  }
}
