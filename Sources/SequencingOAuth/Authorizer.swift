/// A registry of modules by name, for an app that works with several authorization servers.
///
/// The environment's token store holds the tokens, by default in memory only. For accounts that
/// survive a restart use ``AccountManager``; its ``AccountManager/remove(id:)`` signs the user out,
/// and ``remove(_:)`` does not. Any method may be called from any thread.
public final class Authorizer: Sendable {
  private let environment: ClientEnvironment
  private let modules = Registry<AuthorizationModule>(of: "a module")

  /// Creates an empty registry with an environment for its modules.
  public init(environment: ClientEnvironment = ClientEnvironment()) {
    self.environment = environment
  }

  /// Creates a module and adds it under a name.
  ///
  /// The name is also the module's ``AuthorizationModule/accountID``.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` if the name is taken; the module with that name
  ///   stays.
  @discardableResult
  public func add(
    _ name: String, _ configuration: ClientConfiguration
  ) throws(SQOAuthError) -> AuthorizationModule {
    try modules.add(
      AuthorizationModule(
        configuration: configuration, environment: environment, accountID: name),
      named: name)
  }

  /// Returns the module with a name, or `nil` if there is none.
  public func module(named name: String) -> AuthorizationModule? {
    modules[name]
  }

  /// Removes a module and returns it; the token stays in the module and in the store.
  ///
  /// The user stays signed in. ``AccountManager/remove(id:)`` signs the user out and erases the
  /// account; what this method does is ``AccountManager/release(id:)`` there.
  @discardableResult
  public func remove(_ name: String) -> AuthorizationModule? {
    modules.remove(name)
  }

  /// The names of all modules, sorted.
  public var names: [String] { modules.names }
}
