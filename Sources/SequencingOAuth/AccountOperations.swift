public import Dispatch
import SQBasics

/// An object that offers the operations of one account.
///
/// ``SQOAuth`` and ``AuthorizationModule`` conform to it. The operations are extensions of this
/// protocol, so a function of an app can take an object of either type: `func upload(as user: some
/// AccountOperations)`. If a function needs only the operations of ``OAuthAccount``, let it take
/// that protocol instead, so that a test can replace the account.
public protocol AccountOperations: AnyObject, Sendable {
  /// The module that performs the operations.
  var module: AuthorizationModule { get }
}

extension AuthorizationModule: AccountOperations {
  /// The module of the operations: this object itself.
  public var module: AuthorizationModule { self }
}

// MARK: - Settings

extension AccountOperations {
  /// The replaceable parts, such as the HTTP client and the store; a change applies from the next
  /// operation on.
  ///
  /// Threads may change different parts in place at the same time: no change is lost. A change in
  /// place must not contain an `await`, as in `await environment.load()`: it may end the program.
  /// Change a copy instead, and assign the copy.
  public var environment: ClientEnvironment {
    get { module.context.environment }
    _modify {
      let context = module.context
      context.changes.lock()
      var changed = context.environment
      defer {
        let old = context.replaceEnvironment(by: changed)
        context.changes.unlock()
        module.session.environmentDidChange()
        // An object of the app in the old environment may call the SDK in its deinit.
        withExtendedLifetime(old) {}
      }
      yield &changed
    }
  }

  /// The queue for completions and delegates that belong to no actor; the main queue by default.
  ///
  /// The main queue needs a main thread that runs it: `dispatchMain()`, `RunLoop.main.run()` or an
  /// `async` main. Completions and delegates that belong to an actor are always called on that
  /// actor.
  public var callbackQueue: DispatchQueue {
    get { module.callbacks.queue }
    set { module.callbacks.queue = newValue }
  }
}
