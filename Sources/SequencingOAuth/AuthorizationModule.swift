import SQBasics

/// The client of one account at one authorization server: gets the account's token, keeps it valid,
/// and adds it to requests.
///
/// Any thread or task may call any method, any number of times at once. ``SQOAuth`` holds one
/// module and adds delegates; a server or a daemon with many accounts creates its own modules.
///
/// If many callers find the token expired or refused, the module refreshes it once, and all of them
/// get the result. If the refresh fails, each caller gets its error, unless the old token is still
/// valid for that caller. After a failure the module pauses: for 1 s, then for 2 s, up to 60 s, or
/// for as long as the server asks, up to an hour. During a pause, other callers get the same error
/// without a request, so a server in trouble gets one request for each pause.
///
/// A failed refresh ends the session if the server refused the refresh token (`invalid_grant`, or a
/// code in ``Provider/endedSessionCodes``), or if the response is about another issuer or user.
/// After any other error the next attempt may succeed. If the client can repeat the grant of the
/// token, such as the client credentials grant, the module does so after a refusal of the refresh
/// token; the session ends only if the server refuses that grant too.
public final class AuthorizationModule: Sendable {
  /// The id of the account and of its record in the token store.
  public let accountID: String
  package let context: ClientContext
  package let session: TokenSession
  let refusals = Locked(ResourceRefusals())

  // These objects are made at their first use, because a web application holds many accounts, and
  // most never need them.
  private let lazySignIns = LazyObject<SignIns>()
  private let lazyCallbacks = LazyObject<Callbacks>()

  var signIns: SignIns { lazySignIns.get(orMake: SignIns()) }
  var tokenRequests: TokenRequests { context.tokenRequests }
  package var callbacks: Callbacks { lazyCallbacks.get(orMake: Callbacks()) }

  /// Creates the module of an account; nothing is read or sent yet.
  ///
  /// Two modules with the same store need different account ids.
  public convenience init(
    configuration: ClientConfiguration, environment: ClientEnvironment = ClientEnvironment(),
    accountID: String = "default"
  ) {
    self.init(.success(configuration), environment: environment, accountID: accountID)
  }

  init(
    _ configuration: Result<ClientConfiguration, SQOAuthError>, environment: ClientEnvironment,
    accountID: String
  ) {
    self.accountID = accountID
    context = ClientContext(configuration, environment)
    session = TokenSession(context, accountID: accountID)
  }

  deinit {
    session.close()
  }

  /// The current token while it is valid.
  ///
  /// It must not be inlined. In a method of this class, the compiler need not retain the session;
  /// in other code, it would. A retain is slow, because stores refer to the session weakly.
  @inline(never) var heldToken: SQToken? { session.validToken }

  package var requestAuthenticator: any ResourceRequestAuthenticator {
    context.withEnvironment(\.requestAuthenticator)
  }

  /// Values of the app that are stored with the account, such as a name to show.
  ///
  /// The module stores them with the next token, after a sign-in or a refresh, or during
  /// ``AccountOperations/flush()``. If the app sets none, they come from the store. A sign-out
  /// keeps them for the next sign-in, so an app whose users change must set them again. Threads may
  /// change different values in place at the same time. A change in place must not contain an
  /// `await`, because it may end the program: change a copy, and assign the copy.
  public var attributes: [String: String] {
    get { context.attributes }
    _modify {
      context.changes.lock()
      var changed = context.attributes
      defer {
        context.attributes = changed
        context.changes.unlock()
      }
      yield &changed
    }
  }
}

// MARK: - The client

extension AuthorizationModule {
  /// The module's client; `nil` if no usable client is registered.
  public var configuration: ClientConfiguration? { try? context.configuration.get() }

  /// Sets the module's client from the next operation on.
  ///
  /// Any thread may call it. An operation that is under way continues with the earlier client, or
  /// fails. The token stays in memory and in the store, but only the client that got it can use it,
  /// and only with the server that issued it. With another client or server,
  /// ``AccountOperations/validToken`` is `nil`, and each call that needs the token fails with
  /// ``SQOAuthError/Code/invalidConfiguration``: a request to an API, a refresh, a revocation, an
  /// exchange, ``AccountOperations/requestAccess()``. Call ``AccountOperations/signIn()`` to replace
  /// the account, or register the earlier client again. A refresh that failed with
  /// the earlier client can be tried again at once, unless the server asked for a pause.
  ///
  /// If neither the provider nor the app named an API, the server of the first request may get the
  /// tokens (``ClientConfiguration/resourceOrigins``). That permission ends when the provider
  /// changes. Permissions for servers that the app named stay, for the new client's tokens.
  public func register(_ configuration: ClientConfiguration) {
    configure(.success(configuration))
  }

  /// Sets the client, or the reason why there is none, from the next operation on; the token stays.
  func configure(_ configuration: Result<ClientConfiguration, SQOAuthError>) {
    context.configuration = configuration
    session.configurationDidChange()
  }
}
