/// An object that offers the operations of one account.
///
/// ``SQOAuth`` and ``AuthorizationModule`` are the SDK's own. The operations are extensions of this
/// protocol, so a function of an app can take either: `func upload(as user: some AccountOperations)`.
public protocol AccountOperations: AnyObject, Sendable {
  /// The module that does the work.
  var module: AuthorizationModule { get }
}

extension AuthorizationModule: AccountOperations {
  /// The module itself.
  public var module: AuthorizationModule { self }
}
