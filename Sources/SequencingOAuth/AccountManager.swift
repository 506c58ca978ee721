import Basics

/// The accounts of an app that last: granted once, authorized after every restart.
///
/// Each account has a module, which keeps its record in the store up to date by itself: at a
/// sign-in, at a refresh, and when the session ends. Any method may be called from any thread.
public final class AccountManager: Sendable {
  /// Where the accounts are kept.
  public var store: any TokenStore { environment.tokenStore }
  private let environment: ClientEnvironment
  private let modules = Locked<[String: AuthorizationModule]>([:])

  /// Makes a manager of the accounts in a store; the environment's own store is not used.
  public init(store: any TokenStore, environment: ClientEnvironment = ClientEnvironment()) {
    var environment = environment
    environment.tokenStore = store
    self.environment = environment
  }

  /// The module of an account, with its token where it was signed in before.
  ///
  /// Asked again for the same account it is the same module. An account without an id has that of
  /// ``defaultID(for:)``, so give ids where a user may have two accounts at one server.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/duplicateName`` where the id is in use for
  ///   another configuration, ``SQOAuthError/Code/invalidConfiguration`` where the store has it for
  ///   another client or server, or why the store cannot be read.
  public func account(
    _ configuration: ClientConfiguration, id: String? = nil
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let id = id ?? Self.defaultID(for: configuration)
    let (module, isNew) = modules.withLock { modules -> (AuthorizationModule, Bool) in
      if let module = modules[id] { return (module, false) }
      let module = AuthorizationModule(
        configuration: configuration, environment: environment, accountID: id)
      modules[id] = module
      return (module, true)
    }
    guard module.configuration == configuration else {
      throw .duplicateName(id, of: "an account")
    }
    do throws(SQOAuthError) {
      try await module.restore()
    } catch {
      // The next call is to begin anew, perhaps with another configuration.
      if isNew { forget(id, module) }
      throw error
    }
    return module
  }

  /// The module of an account that was asked for before.
  public func module(id: String) -> AuthorizationModule? {
    modules.withLock { $0[id] }
  }

  /// The modules of all accounts that were asked for.
  var all: [AuthorizationModule] { modules.withLock { Array($0.values) } }

  /// The records of all accounts in the store, in the order of their ids.
  public func accounts() async throws(SQOAuthError) -> [AccountRecord] {
    try await store.attempt("be read") { try await $0.all() }
  }

  /// The records of one client's accounts.
  public func accounts(clientID: String) async throws(SQOAuthError) -> [AccountRecord] {
    try await accounts().filter { $0.clientID == clientID }
  }

  /// Signs an account out, here and in the store, and forgets its module.
  ///
  /// The server is not told: ``AuthorizationModule/revoke()`` before that does. An account that is
  /// not there is no error.
  public func remove(id: String) async throws(SQOAuthError) {
    let known = modules.withLock { $0.removeValue(forKey: id) }
    // One that nobody asked for here may be at work in another process, so its turn is waited for.
    let module =
      known
      ?? AuthorizationModule(
        .failure(SQOAuthError(.notRegistered, "nobody asked for the account here")),
        environment: environment, accountID: id)
    try await module.clearAccessToken()
  }

  /// The id of an account that was given none: `CLIENT at SERVER`, by the client identifier and the
  /// issuer, or by the token endpoint of a server without one.
  public static func defaultID(for configuration: ClientConfiguration) -> String {
    "\(configuration.clientID) at \(configuration.provider.identifier)"
  }

  private func forget(_ id: String, _ module: AuthorizationModule) {
    modules.withLock { if $0[id] === module { $0[id] = nil } }
  }
}
