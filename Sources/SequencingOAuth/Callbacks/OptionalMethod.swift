import Synchronization

/// Calls a delegate's method, and tells whether the delegate implements it or has only the default.
///
/// The defaults are synchronous, as most delegates' methods are. An `async` default that calls
/// another method would be simpler, but in a delegate's own `async` code Swift would prefer it to
/// the delegate's method with that name.
enum OptionalMethod {
  private final class Mark: Sendable {
    let isReached = Atomic(false)
  }

  @TaskLocal private static var mark: Mark?

  /// A default calls this to say that the delegate has no method of its own.
  static func isDefault() {
    mark?.isReached.store(true, ordering: .relaxed)
  }

  /// Calls a method; returns `false` if the delegate has only the default.
  nonisolated(nonsending) static func call(
    _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let mark = Mark()
    await $mark.withValue(mark) { await method() }
    return !mark.isReached.load(ordering: .relaxed)
  }
}
