/// The call of a delegate's method, made on an actor that allows it.
///
/// A delegate's method goes to its actor by itself. Only a conformance that is isolated as a whole,
/// as in a module whose default isolation is the main actor, must be used on that actor. The
/// runtime shows that: anywhere else such a delegate cannot be cast to its own protocol (Swift
/// evolution SE-0470).
struct DelegateCall<Delegate>: Sendable {
  /// The delegate, or `nil` if it no longer exists.
  ///
  /// The closure returns `Any` and is made where the protocol's name is written: for a generic
  /// `Delegate`, which is the protocol's type itself, every cast would succeed.
  let delegate: @Sendable () -> Any?
  /// Casts the delegate to its protocol; returns `nil` if its conformance may not be used here.
  let cast: @Sendable (Any) -> Delegate?
  let call: nonisolated(nonsending) @Sendable (Delegate) async -> Void

  /// Calls the method from here, or from the main actor if the conformance requires that.
  nonisolated(nonsending) func run() async {
    guard let object = delegate() else { return }
    if let delegate = cast(object) {
      await call(delegate)
    } else {
      await runOnMainActor()
    }
  }

  @MainActor
  private func runOnMainActor() async {
    guard let object = delegate() else { return }
    guard let delegate = cast(object) else {
      fatalError(
        "the delegate \(type(of: object)) conforms to \(Delegate.self) on a global actor other than "
          + "the main actor, so the SDK cannot call it: write `nonisolated` before the protocol's name "
          + "in its declaration"
      )
    }
    await call(delegate)
  }
}

// Not inlined, so that the compiler cannot decide the cast from what it knows about the type.

@inline(never)
func castToAuthorizationDelegate(_ object: Any) -> (any AuthorizationDelegate)? {
  object as? any AuthorizationDelegate
}

@inline(never)
func castToTokenRefreshDelegate(_ object: Any) -> (any TokenRefreshDelegate)? {
  object as? any TokenRefreshDelegate
}
