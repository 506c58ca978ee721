/// The call of a delegate's method, where the delegate can be called.
///
/// A delegate's method goes to its actor by itself. Only a conformance that is isolated as a whole, as
/// in a module whose default isolation is the main actor, must be used on that actor. The runtime
/// tells: such a delegate cannot be cast to its own protocol anywhere else (Swift evolution SE-0470).
struct DelegateCall<Delegate>: Sendable {
  /// The delegate, unless it has gone.
  ///
  /// As `Any`, made where the protocol's name is known: a generic `Delegate` is the protocol's type
  /// itself, of which every value is one.
  let delegate: @Sendable () -> Any?
  /// The delegate, if its conformance may be used here.
  let cast: @Sendable (Any) -> Delegate?
  let call: nonisolated(nonsending) @Sendable (Delegate) async -> Void

  /// Calls the method here, on the way to the delegate's own actor, or on the main actor.
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
        "\(type(of: object)) conforms to \(Delegate.self) on a global actor of its own, where it cannot "
          + "be called from here: write `nonisolated` before the protocol's name in its declaration"
      )
    }
    await call(delegate)
  }
}

// Not inlined: the compiler must not take the answer from what it knows of the type.

@inline(never)
func castToAuthorizationDelegate(_ object: Any) -> (any AuthorizationDelegate)? {
  object as? any AuthorizationDelegate
}

@inline(never)
func castToTokenRefreshDelegate(_ object: Any) -> (any TokenRefreshDelegate)? {
  object as? any TokenRefreshDelegate
}
