import SQBasics

/// A delegate's method that the delegate may implement, or inherit as a default implementation.
///
/// The default implementations are synchronous, as most delegates' methods are. An `async` default
/// that calls another method would be simpler. But in the delegate's own `async` code, Swift would
/// choose that default over the delegate's synchronous method with the same name. So a default
/// implementation only records what to call instead, and the SDK's call ends with that.
enum OptionalMethod: Sendable {
  case userIsNotAuthorizedBecause
  case userDidCancelAuthorization
  case userDidCancelAuthorizationBecause
  case userMustEnterCode
  case tokenIsTakenOver
  case sessionIsReplaced

  /// A closure that calls another method of the delegate.
  typealias Substitute = nonisolated(nonsending) () async -> Void

  /// A delegate and a method that it inherits.
  private struct Inheritance: Hashable {
    let delegate: ObjectIdentifier
    let method: OptionalMethod
  }

  /// The inherited methods that a call of the SDK has reached.
  private final class Call: Sendable {
    /// The substitutes that the SDK has yet to call.
    ///
    /// Only the SDK's call takes them, and calls them where it called the delegate.
    private struct Reached: @unchecked Sendable {
      var methods: Set<Inheritance> = []
      var substitutes: [Substitute] = []
    }

    private let reached = Locked(Reached())

    func add(_ method: Inheritance, _ substitute: @escaping Substitute) {
      let addition = Reached(methods: [method], substitutes: [substitute])
      reached.withLock { reached in
        guard reached.methods.insert(method).inserted else { return }
        reached.substitutes += addition.substitutes
      }
    }

    /// Calls the substitutes, and those of the methods that they reach.
    nonisolated(nonsending) func callSubstitutes() async {
      while true {
        let next = reached.withLock { reached in
          defer { reached.substitutes = [] }
          return Reached(substitutes: reached.substitutes)
        }
        if next.substitutes.isEmpty { return }
        for substitute in next.substitutes { await substitute() }
      }
    }

    func contains(_ method: Inheritance) -> Bool {
      reached.withLock { $0.methods.contains(method) }
    }
  }

  @TaskLocal private static var call: Call?

  /// Records that a delegate inherits this method; called by the method's default implementation.
  ///
  /// The delegate may be another one than the SDK's, which passes the SDK's calls on. In one call of
  /// the SDK, a delegate's method has its substitute called once, so two methods that call each other
  /// do not go on without end.
  func isInherited(by delegate: AnyObject, insteadCalling substitute: @escaping Substitute = {}) {
    Self.call?.add(
      Inheritance(delegate: ObjectIdentifier(delegate), method: self), substitute)
  }

  /// Calls this method of a delegate, and then the substitutes of all inherited methods that the
  /// call has reached.
  ///
  /// - Returns: Whether the delegate implements this method.
  @discardableResult
  nonisolated(nonsending) func call(
    of delegate: AnyObject, _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let call = Call()
    await Self.$call.withValue(call) {
      await method()
      await call.callSubstitutes()
    }
    return !call.contains(Inheritance(delegate: ObjectIdentifier(delegate), method: self))
  }
}
