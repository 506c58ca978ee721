import Synchronization

/// A delegate's method that the delegate may implement, or inherit as a default implementation.
///
/// The default implementations are synchronous, as most delegates' methods are. An `async` default
/// that calls another method would be simpler. But in the delegate's own `async` code, Swift would
/// choose that default over the delegate's synchronous method with the same name.
enum OptionalMethod: Sendable {
  case userIsNotAuthorizedBecause
  case userDidCancelAuthorization
  case userDidCancelAuthorizationBecause
  case userMustEnterCode
  case tokenIsTakenOver
  case sessionIsReplaced

  /// A call that the SDK makes.
  private final class Call: Sendable {
    let delegate: ObjectIdentifier
    let method: OptionalMethod
    let isInherited = Atomic(false)

    init(_ method: OptionalMethod, of delegate: AnyObject) {
      self.method = method
      self.delegate = ObjectIdentifier(delegate)
    }
  }

  @TaskLocal private static var call: Call?

  /// Records that a delegate inherits this method; called by the method's default implementation.
  ///
  /// A call that the delegate itself makes does not count: it may pass the SDK's call on to another
  /// delegate, or call another method of its own.
  func isInherited(by delegate: AnyObject) {
    guard let call = Self.call, call.method == self, call.delegate == ObjectIdentifier(delegate)
    else { return }
    call.isInherited.store(true, ordering: .relaxed)
  }

  /// Calls this method of a delegate; returns `false` if the delegate inherits the default
  /// implementation.
  nonisolated(nonsending) func call(
    of delegate: AnyObject, _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let call = Call(self, of: delegate)
    await Self.$call.withValue(call) { await method() }
    return !call.isInherited.load(ordering: .relaxed)
  }
}
