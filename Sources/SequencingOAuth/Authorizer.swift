import Basics

/// A registry of modules by name, for an app that works with several authorization servers.
///
/// It keeps tokens where its environment says, by default in memory only; ``AccountManager`` is for
/// accounts that last. Any method may be called from any thread.
public final class Authorizer: Sendable {
  private let environment: ClientEnvironment
  private let modules = Locked<[String: AuthorizationModule]>([:])

  /// Makes an empty registry, whose modules work with an environment.
  public init(environment: ClientEnvironment = ClientEnvironment()) {
    self.environment = environment
  }

  /// Makes a module and keeps it under a name, which is its ``AuthorizationModule/accountID`` too.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` where the name is taken; that module stays.
  @discardableResult
  public func add(
    _ name: String, _ configuration: ClientConfiguration
  ) throws(SQOAuthError) -> AuthorizationModule {
    let module = AuthorizationModule(
      configuration: configuration, environment: environment, accountID: name)
    let isAdded = modules.withLock { modules in
      guard modules[name] == nil else { return false }
      modules[name] = module
      return true
    }
    guard isAdded else { throw .duplicateName(name, of: "a module") }
    return module
  }

  /// The module of a name, if there is one.
  public func module(named name: String) -> AuthorizationModule? {
    modules.withLock { $0[name] }
  }

  /// Takes a module out and returns it; its token stays with it and in the store.
  @discardableResult
  public func remove(_ name: String) -> AuthorizationModule? {
    modules.withLock { $0.removeValue(forKey: name) }
  }

  /// The names, in order.
  public var names: [String] { modules.withLock { $0.keys.sorted() } }
}

extension SQOAuthError {
  static func duplicateName(_ name: String, of what: String) -> SQOAuthError {
    SQOAuthError(
      .duplicateName,
      "there is \(what) \"\(name.printable)\" already; remove it, or take another name")
  }
}
