public import Dispatch
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

/// Signs a user in and holds the token; most apps use the shared instance, but an app may make
/// several.
///
/// Register the client, set the delegates, then call ``authorizeUser()``. Any thread may call any
/// method, and no method blocks its thread. Each operation has a form with a completion and an
/// `async` form.
///
/// A delegate or a completion that belongs to an actor, such as one of a `@MainActor` screen, is
/// called on that actor. All others are called on the ``callbackQueue``.
public final class SQOAuth: AccountOperations {

  /// The instance for apps with one account.
  public static let shared = SQOAuth()

  /// The holder of this instance's current token.
  public let result: SQAuthResult
  /// The module that does the work: it has the account's client and token, and sends requests.
  public let module: AuthorizationModule
  private let delegates = Locked(Delegates())
  /// Whether to read the token from the store as soon as a client is registered.
  let resumesAtRegistration = Locked(false)

  /// Makes an instance with a token of its own.
  ///
  /// The environment's token store keeps the account's record under `accountID`; two instances on
  /// one store need different ids.
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
    // As in the pod, an app's only token is refreshed automatically.
    module.refreshesAutomatically = true
    module.signIns.onEnd { [weak self] in self?.tell($0) }
    module.signIns.onCode { [weak self] in self?.tell($1, of: $0) }
    module.session.observers.setHandler { [weak self] in self?.tell($0) }
  }

  /// Learns how a sign-in ended; the SDK holds it weakly.
  public var authorizationDelegate: (any AuthorizationDelegate)? {
    get { delegates.withLock(\.self).authorization }
    set {
      let change = Delegates(authorization: newValue)
      delegates.withLock { $0.authorization = change.authorization }
    }
  }

  /// Learns what happens to the token after the sign-in; the SDK holds it weakly.
  public var tokenRefreshDelegate: (any TokenRefreshDelegate)? {
    get { delegates.withLock(\.self).tokenRefresh }
    set {
      let change = Delegates(tokenRefresh: newValue)
      delegates.withLock { $0.tokenRefresh = change.tokenRefresh }
    }
  }

  /// The queue for delegates and completions that belong to no actor; it is the main queue unless
  /// set.
  ///
  /// The main queue needs a main thread that runs it: `dispatchMain()`, `RunLoop.main.run()` or an
  /// `async` main. A program that blocks its main thread must set a serial queue of its own. A
  /// callback that belongs to an actor is called on that actor, whatever the queue.
  public var callbackQueue: DispatchQueue {
    get { module.callbackQueue }
    set { module.callbackQueue = newValue }
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

  /// Calls the one method with which the delegate learns of a failure most exactly.
  nonisolated(nonsending) private static func tell(
    _ delegate: any AuthorizationDelegate, why error: SQOAuthError
  ) async {
    if error.isCancellation {
      if await OptionalMethod.call({ await delegate.userDidCancelAuthorization(because: error) }) {
        return
      }
      if await OptionalMethod.call({ await delegate.userDidCancelAuthorization() }) { return }
    } else if await OptionalMethod.call({ await delegate.userIsNotAuthorized(because: error) }) {
      return
    }
    await delegate.userIsNotAuthorized()
  }

  /// Calls the delegate with what the user of another device must see.
  private func tell(_ authorization: DeviceAuthorization, of signIn: SignIn) {
    let delegates = delegates.withLock(\.self)
    let call = DelegateCall {
      delegates.authorization
    } cast: {
      castToAuthorizationDelegate($0)
    } call: { delegate in
      if await !OptionalMethod.call({ await delegate.userMustEnterCode(authorization) }) {
        signIn.delegateHasNoScreen()
      }
    }
    module.callbacks.inOrder { await call.run() }
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
        if await !OptionalMethod.call({ await delegate.tokenIsTakenOver(token) }) {
          await delegate.tokenIsRefreshed(token)
        }
      case .replaced(let token):
        if await !OptionalMethod.call({ await delegate.sessionIsReplaced(token) }) {
          await delegate.tokenIsRefreshed(token)
        }
      // The refresh has succeeded; who wants to know more listens to the events.
      case .idTokenIgnored: break
      case .refreshFailed(let error): await delegate.tokenRefreshDidFail(error)
      case .ended(let reason): await delegate.sessionDidEnd(reason)
      }
    }
    module.callbacks.inOrder { await call.run() }
  }

  /// The replaceable parts, such as the store and the user agent, for the next operation.
  public var environment: ClientEnvironment {
    get { module.environment }
    set { module.environment = newValue }
  }
}

// MARK: - Registering the client

extension SQOAuth {
  /// Sets the client that signs users in; call it before ``authorizeUser()``.
  ///
  /// Calling it again replaces the client; the current token stays. If a parameter cannot be used,
  /// the next sign-in fails, and its delegate or completion gets the reason. The initializer of
  /// ``ClientConfiguration`` throws that reason at once.
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

  /// Sets the client that signs users in, and whether the SDK or the app receives its redirects.
  ///
  /// Use it if the app's own web server listens on the port of a loopback redirect URI:
  /// ``RedirectReceiver/app``. If a parameter cannot be used, the next sign-in fails, as for
  /// ``registerApplicationParameters(clientID:clientSecret:redirectURI:scope:provider:)``. If the
  /// SDK is the receiver, the sign-in ends with a page whose name and colours are
  /// ``ClientEnvironment/landingPage`` of the ``environment``.
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
