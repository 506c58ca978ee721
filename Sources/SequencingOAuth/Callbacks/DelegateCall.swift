/// A call of a delegate's method, made on an actor where the delegate's conformance may be used.
///
/// Calling a method moves to the delegate's actor. But an isolated conformance, as in a module
/// whose default isolation is the main actor, can be used only on its actor. The runtime enforces
/// that: on any other actor, the cast of the delegate to its own protocol fails (Swift evolution
/// SE-0470).
struct DelegateCall<Delegate>: Sendable {
  /// The closure that returns the delegate, or `nil` if it no longer exists.
  ///
  /// It returns `Any`, so that ``cast`` checks the conformance at run time. A cast to the generic
  /// `Delegate` would always succeed, because `Delegate` is the existential type of
  /// the protocol itself.
  let delegate: @Sendable () -> Any?
  /// The closure that casts the delegate to its protocol; it returns `nil` if the conformance must
  /// not be used on the current actor.
  let cast: @Sendable (Any) -> Delegate?
  let call: nonisolated(nonsending) @Sendable (Delegate) async -> Void

  /// Calls the method on the current actor, or on the main actor if the conformance requires that.
  ///
  /// - Returns: `false` if the delegate does not exist.
  @discardableResult
  nonisolated(nonsending) func run() async -> Bool {
    guard let object = delegate() else { return false }
    guard let delegate = cast(object) else { return await runOnMainActor() }
    await call(delegate)
    return true
  }

  @MainActor
  private func runOnMainActor() async -> Bool {
    guard let object = delegate() else { return false }
    guard let delegate = cast(object) else {
      fatalError(
        "the delegate \(type(of: object)) conforms to \(Delegate.self) on a global actor other than "
          + "the main actor, so the SDK cannot call it: write `nonisolated` before the protocol's name "
          + "in its declaration"
      )
    }
    await call(delegate)
    return true
  }
}

// Never inlined, so that the compiler cannot evaluate the cast from what it knows about the type.

@inline(never)
func castToAuthorizationDelegate(_ object: Any) -> (any AuthorizationDelegate)? {
  object as? any AuthorizationDelegate
}

@inline(never)
func castToTokenRefreshDelegate(_ object: Any) -> (any TokenRefreshDelegate)? {
  object as? any TokenRefreshDelegate
}
