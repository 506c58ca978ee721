/// A registry of modules by name, for an app that works with several authorization servers.
///
/// It keeps tokens where its environment says, by default in memory only; ``AccountManager`` is for
/// accounts that last. Any method may be called from any thread.
public final class Authorizer: Sendable {
  private let environment: ClientEnvironment
  private let modules = Registry<AuthorizationModule>(of: "a module")

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
    try modules.add(
      AuthorizationModule(
        configuration: configuration, environment: environment, accountID: name),
      named: name)
  }

  /// The module of a name, if there is one.
  public func module(named name: String) -> AuthorizationModule? {
    modules[name]
  }

  /// Takes a module out and returns it; its token stays with it and in the store.
  @discardableResult
  public func remove(_ name: String) -> AuthorizationModule? {
    modules.remove(name)
  }

  /// The names, in order.
  public var names: [String] { modules.names }
}
