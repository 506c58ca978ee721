package import SQBasics

/// A set of accounts in a store: each user signs in once and stays signed in after a restart.
///
/// Each account has an ``AuthorizationModule``. The module updates the account's record in the
/// store after a sign-in, after a refresh, and when the session ends. Any method may be called from
/// any thread.
///
/// List the servers of your APIs in the clients' ``ClientConfiguration/resourceOrigins``: the server
/// of an account's first request is not allowed by itself.
public final class AccountManager: Sendable {
  /// The module of an account.
  private struct Entry {
    let module: AuthorizationModule
    /// The number of calls that load the account now.
    var loads = 0
    /// Whether a caller has got the module, so that every later caller must get it too.
    var isInUse = false
  }

  /// The store with the accounts' records.
  public var store: any TokenStore { environment.tokenStore }
  package let environment: ClientEnvironment
  package var clock: any WallClock { environment.clock }
  private let modules = Locked(TextDictionary<Entry>())
  /// The sessions of all modules that this manager has created, also of those that it has released.
  private let sessions = Locked(WeakSessions())
  /// The web sign-ins that are being finished; calls for the same sign-in and redirect share one
  /// operation.
  package let webSignIns = KeyedWork<AuthorizationModule, SQOAuthError>()
  /// The token requests of web sign-ins, and of all modules that this manager has created.
  package let tokenRequests = TokenRequests()

  /// Creates a manager for the accounts in a store.
  ///
  /// The store replaces the environment's ``ClientEnvironment/tokenStore``.
  public init(store: any TokenStore, environment: ClientEnvironment = ClientEnvironment()) {
    var environment = environment
    environment.tokenStore = store
    self.environment = environment
  }

  /// Returns the module of an account.
  ///
  /// The module has a token if the user has signed in before. Calls for one account return the same
  /// module, until ``release(id:)`` or ``remove(id:)``. An account without an `id` gets the id from
  /// ``defaultID(for:)``, so choose ids if a user may have two accounts at one server.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/duplicateName`` if the id is in use for
  ///   another configuration, ``SQOAuthError/Code/invalidConfiguration`` if the stored account
  ///   belongs to another client or server, or the store's error.
  public func account(
    _ configuration: ClientConfiguration, id: String? = nil
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let id = id ?? Self.defaultID(for: configuration)
    let module = beginLoad(id, configuration)
    var isLoaded = false
    defer { endLoad(id, module, isLoaded) }
    guard module.configuration == configuration else {
      throw SQOAuthError(
        .duplicateName,
        "the account \"\(id.printable)\" is already loaded with another configuration; give the new "
          + "one to its module by register(_:), or choose another id")
    }
    try await module.restore()
    isLoaded = true
    return module
  }

  /// Returns the module that ``account(_:id:)`` created for an account; `nil` if there is none.
  public func module(id: String) -> AuthorizationModule? {
    modules.withLock { modules in
      modules[id]?.isInUse = true
      return modules[id]?.module
    }
  }

  /// Releases the module of an account; the account stays in the store.
  ///
  /// Call it in a server with very many accounts when it does not need an account for a while. A
  /// module that the app still holds keeps working; the next ``account(_:id:)`` creates a new
  /// module. If the account has no module, the call does nothing. A refresh that was sent continues,
  /// as does the revocation of a token whose caller was cancelled, a token that the store could not
  /// save is saved later, and ``flush()`` waits for all of them.
  public func release(id: String) {
    // The deinit of the module, and of the app's objects in it, must not run under the lock.
    let removed = modules.withLock { $0.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }

  /// The modules that ``account(_:id:)`` created and that have not been released or removed.
  package var all: [AuthorizationModule] { modules.withLock { $0.all.map(\.module) } }

  /// Reads the records of all accounts in the store, in the order of their ids.
  ///
  /// If the sign-in brought the user's identity, the record's token has it (``SQToken/idToken``).
  /// This does not depend on the kind of store. The call throws if a single record cannot be read,
  /// for example because a later version of the SDK wrote it; ``entries`` has the other accounts.
  public func accounts() async throws(SQOAuthError) -> [AccountRecord] {
    try await store.all()
  }

  /// The records of all accounts in the store, loaded page by page.
  ///
  /// The iteration throws at the first record that cannot be read; ``entries`` has the other
  /// accounts too.
  public var records: AccountRecords { store.records() }

  /// All accounts in the store, loaded page by page; an unreadable record is an entry with an error.
  public var entries: AccountEntries { store.entries() }

  /// Reads the records of one client's accounts in the store, in the order of their ids.
  ///
  /// The call throws if a single record of the store cannot be read; ``entries`` has the other
  /// accounts.
  public func accounts(clientID: String) async throws(SQOAuthError) -> [AccountRecord] {
    try await accounts().filter { $0.clientID == clientID }
  }

  /// Signs an account out, in memory and in the store, and forgets its module.
  ///
  /// The server gets no request; to revoke the tokens there, call ``AccountOperations/revoke()``
  /// first. Removing an account that does not exist is not an error.
  /// To forget the module and keep the account, call ``release(id:)``, which is what
  /// ``Authorizer/remove(_:)`` does with a module of an ``Authorizer``.
  public func remove(id: String) async throws(SQOAuthError) {
    let known = modules.withLock { $0.removeValue(forKey: id)?.module }
    // An account without a module here may nevertheless be in use: by another process, or by a
    // module of an `AccountKeeper`. `signOut()` waits for the account's lease, unless the store is a
    // `ComparingTokenStore`, which discards a token that is refreshed meanwhile.
    let module =
      known
      ?? managed(
        AuthorizationModule(
          .failure(
            SQOAuthError(
              .notRegistered,
              "this program has registered no client for the account; call account(_:id:) first")),
          environment: environment, accountID: id))
    try await module.signOut()
  }

  /// Stops the timers of all accounts, and returns when no token request is under way, the store has
  /// all tokens, and other hosts can use the accounts.
  ///
  /// That includes accounts that were released, web sign-ins that `finishSignIn` is finishing, and
  /// the modules that it has returned.
  ///
  /// Call it before the program ends if a framework handles the signals, such as a `ServiceGroup`
  /// or a web server; ``TerminationSignals`` gets no signals there. It has the time limits of
  /// ``AccountOperations/flush()``. If an `AccountKeeper` renews the accounts, call
  /// `AccountKeeper.stop()` first.
  ///
  /// - Throws: ``SQOAuthError``: why an account's newest token could not be stored (it is lost when
  ///   the program ends), or why the store still has an account that was signed out.
  public func flush() async throws(SQOAuthError) {
    let failures = Locked<[SQOAuthError]>([])
    await flush { error in failures.withLock { $0.append(error) } }
    if let error = failures.withLock(\.first) { throw error }
  }

  /// Finishes the work of all accounts, and passes each error to `onFailure`.
  func flush(_ onFailure: @escaping @Sendable (SQOAuthError) -> Void) async {
    let failures = await uncancelled {
      await self.tokenRequests.flush {
        let failures = Locked<[SQOAuthError]>([])
        let sessions = self.sessions.withLock(\.all)
        await sessions.flush { error in failures.withLock { $0.append(error) } }
        return failures.withLock(\.self)
      }
    }
    failures.forEach(onFailure)
    // The session of a released module may have ended, and left changes that the store must write.
    await uncancelled { [store] in await store.shared.flush() }
  }

  /// Returns the default id of an account: `CLIENT at SERVER`.
  ///
  /// The client is the client identifier. The server is the issuer, or the token endpoint if there
  /// is no issuer. Stores and events have ids in clear, so give the account another id if the token
  /// endpoint has a secret key in its query.
  public static func defaultID(for configuration: ClientConfiguration) -> String {
    "\(configuration.clientID) at \(configuration.provider.identifier)"
  }

  /// Creates a module for one operation; this manager does not keep it.
  package func module(
    for configuration: ClientConfiguration, id: String = "default"
  ) -> AuthorizationModule {
    managed(
      AuthorizationModule(configuration: configuration, environment: environment, accountID: id))
  }

  /// Lets ``flush()`` wait for a new module's session and token requests, allows no server because
  /// of its first request, and returns the module.
  private func managed(_ module: AuthorizationModule) -> AuthorizationModule {
    module.context.join(managers: tokenRequests)
    let session = module.session
    withExtendedLifetime(sessions.withLock { $0.add(session) }) {}
    return module
  }

  /// Begins a call that loads an account; returns the account's module.
  private func beginLoad(
    _ id: String, _ configuration: ClientConfiguration
  ) -> AuthorizationModule {
    var new: AuthorizationModule?
    while true {
      let module = modules.withLock { modules -> AuthorizationModule? in
        guard var entry = modules[id] ?? new.map({ Entry(module: $0) }) else { return nil }
        entry.loads += 1
        modules[id] = entry
        return entry.module
      }
      if let module { return module }
      // Not under the lock, because a new module calls the environment's clock.
      new = managed(
        AuthorizationModule(configuration: configuration, environment: environment, accountID: id))
    }
  }

  /// Ends a call that loaded an account.
  ///
  /// If no caller got the module, the next call starts from the beginning, perhaps with another
  /// configuration.
  private func endLoad(_ id: String, _ module: AuthorizationModule, _ isLoaded: Bool) {
    modules.withLock { modules in
      guard var entry = modules[id], entry.module === module else { return }
      entry.loads -= 1
      entry.isInUse = entry.isInUse || isLoaded
      modules[id] = entry.loads == 0 && !entry.isInUse ? nil : entry
    }
  }
}

extension [TokenSession] {
  /// Stops the timers of the sessions, waits for their refreshes and the store, and passes each
  /// error to `onFailure`.
  func flush(_ onFailure: @escaping @Sendable (SQOAuthError) -> Void) async {
    for session in self { session.updates(false) }
    await withTaskGroup(of: Void.self) { group in
      for session in self {
        group.addTask {
          do throws(SQOAuthError) {
            try await session.flushWithRequests()
          } catch {
            onFailure(error)
          }
        }
      }
    }
  }
}
