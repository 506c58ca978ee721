import SQBasics

/// The delegates of an ``SQOAuth``, held weakly.
///
/// They need not be `Sendable`, because each is called only on its own actor or queue.
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

/// The main entry point of the SDK: signs a user in and holds the token.
///
/// Most apps use the ``shared`` instance; an app with several accounts creates more. Register the
/// client, set the delegates, then call ``authorizeUser()``. Any thread may call any method, and no
/// method blocks its thread. Most operations have an `async` form and a form with a completion; a
/// few, such as ``AccountOperations/idToken()``, have only the `async` form.
///
/// The SDK calls a delegate or a completion that belongs to an actor, such as one of a `@MainActor`
/// screen, on that actor. It calls all others on the ``AccountOperations/callbackQueue``.
public final class SQOAuth: AccountOperations {

  /// The instance for apps with one account.
  public static let shared = SQOAuth()

  /// The object from which any thread can read this instance's current token.
  public let result: SQAuthResult
  /// The module with the account's client and token; it sends the requests.
  public let module: AuthorizationModule
  private let delegates = Locked(Delegates())
  /// Whether to read the token from the store as soon as a client is registered.
  let resumesAtRegistration = Locked(false)

  /// Creates an instance with its own token.
  ///
  /// The environment's token store saves the account's record under `accountID`; two instances with
  /// the same store need different ids.
  public init(
    environment: ClientEnvironment = ClientEnvironment(), accountID: String = "default"
  ) {
    module = AuthorizationModule(
      .failure(
        SQOAuthError(
          .notRegistered,
          "no client is registered: call register(_:) or registerApplicationParameters first")),
      environment: environment, accountID: accountID)
    result = SQAuthResult(module)
    // Sequencing.com's CocoaPods library refreshes the token automatically, so this class does too.
    module.refreshesAutomatically = true
    module.signIns.onEnd { [weak self] in self?.tell($0) }
    module.signIns.onCode { [weak self, weak signIns = module.signIns] signIn, authorization in
      guard let self else {
        signIns?.delegateHasNoScreen(for: signIn)
        return
      }
      tell(authorization, of: signIn)
    }
    module.session.observers.setHandler { [weak self] in self?.tell($0) }
  }

  /// The delegate that gets the result of each sign-in; the SDK holds it weakly.
  public var authorizationDelegate: (any AuthorizationDelegate)? {
    get { delegates.withLock(\.self).authorization }
    set {
      let change = Delegates(authorization: newValue)
      delegates.withLock { $0.authorization = change.authorization }
    }
  }

  /// The delegate that gets refreshed tokens and errors after the sign-in; the SDK holds it weakly.
  public var tokenRefreshDelegate: (any TokenRefreshDelegate)? {
    get { delegates.withLock(\.self).tokenRefresh }
    set {
      let change = Delegates(tokenRefresh: newValue)
      delegates.withLock { $0.tokenRefresh = change.tokenRefresh }
    }
  }

  /// Calls the delegate with the outcome of a sign-in, after earlier calls have returned.
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
        await Self.tell(delegate, why: error)
      }
    }
    module.callbacks.inOrder { await call.run() }
  }

  /// Calls the most specific method that the delegate implements for an error.
  nonisolated(nonsending) private static func tell(
    _ delegate: any AuthorizationDelegate, why error: SQOAuthError
  ) async {
    if error.isCancellation {
      await OptionalMethod.userDidCancelAuthorizationBecause.call(of: delegate) {
        await delegate.userDidCancelAuthorization(because: error)
      }
    } else {
      await OptionalMethod.userIsNotAuthorizedBecause.call(of: delegate) {
        await delegate.userIsNotAuthorized(because: error)
      }
    }
  }

  /// Passes the code and the address for the user to the delegate.
  private func tell(_ authorization: DeviceAuthorization, of signIn: SignIn) {
    let delegates = delegates.withLock(\.self)
    let signIns = module.signIns
    let call = DelegateCall {
      delegates.authorization
    } cast: {
      castToAuthorizationDelegate($0)
    } call: { delegate in
      let hasScreen = await OptionalMethod.userMustEnterCode.call(of: delegate) {
        await delegate.userMustEnterCode(authorization)
      }
      if !hasScreen { signIns.delegateHasNoScreen(for: signIn) }
    }
    module.callbacks.inOrder {
      if await !call.run() { signIns.delegateHasNoScreen(for: signIn) }
    }
  }

  /// Calls the delegate with an event of the session, after earlier calls have returned.
  func tell(_ event: SessionEvent) {
    let delegates = delegates.withLock(\.self)
    let call = DelegateCall {
      delegates.tokenRefresh
    } cast: {
      castToTokenRefreshDelegate($0)
    } call: { delegate in
      switch event {
      case .refreshed(let token): await delegate.tokenIsRefreshed(token)
      case .takenOver(let token):
        await OptionalMethod.tokenIsTakenOver.call(of: delegate) {
          await delegate.tokenIsTakenOver(token)
        }
      case .replaced(let token):
        await OptionalMethod.sessionIsReplaced.call(of: delegate) {
          await delegate.sessionIsReplaced(token)
        }
      // The refresh has succeeded; only the stream of events reports the ignored ID token.
      case .idTokenIgnored: break
      case .endsSoon(let date): await delegate.sessionEndsSoon(date)
      case .refreshFailed(let error): await delegate.tokenRefreshDidFail(error)
      case .ended(let reason): await delegate.sessionDidEnd(reason)
      }
    }
    module.callbacks.inOrder { await call.run() }
  }
}

// MARK: - Registering the client

extension SQOAuth {
  /// Sets the client that signs users in; call it before ``authorizeUser()``.
  ///
  /// Calling it again replaces the client; the current token stays. If a parameter cannot be used,
  /// the next sign-in fails, and its delegate or completion gets the reason. The initializer of
  /// ``ClientConfiguration`` throws that reason at once, and describes the parameters.
  ///
  /// Pass ``RedirectReceiver/app`` as `redirectReceiver` if the app's own web server listens on the
  /// port of a loopback redirect URI. If the SDK is the receiver, the browser shows a page at the
  /// end of the sign-in. The page's name and colors come from ``ClientEnvironment/landingPage`` of
  /// the ``AccountOperations/environment``.
  public func registerApplicationParameters(
    clientID: String, clientSecret: String? = nil, redirectURI: String,
    redirectReceiver: RedirectReceiver? = nil, scope: String? = nil, provider: Provider
  ) {
    module.configure(
      Result { () throws(SQOAuthError) in
        try ClientConfiguration(
          clientID: clientID, clientSecret: clientSecret, redirectURI: redirectURI,
          redirectReceiver: redirectReceiver, scope: scope, provider: provider)
      })
    resumeIfKept()
  }

  /// Sets the client that signs users in, from a validated configuration.
  public func register(_ configuration: ClientConfiguration) {
    module.configure(.success(configuration))
    resumeIfKept()
  }
}
