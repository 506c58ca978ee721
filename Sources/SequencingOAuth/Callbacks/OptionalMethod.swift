import Synchronization

/// A call of a delegate's method that shows whether the delegate implements the method or inherits
/// its default implementation.
///
/// The default implementations are synchronous, as most delegates' methods are. An `async` default
/// that calls another method would be simpler. But in the delegate's own `async` code, Swift would
/// choose that default over the delegate's synchronous method with the same name.
enum OptionalMethod {
  private final class Mark: Sendable {
    let isReached = Atomic(false)
  }

  @TaskLocal private static var mark: Mark?

  /// Records that the delegate does not implement the method; called by its default implementation.
  static func isDefault() {
    mark?.isReached.store(true, ordering: .relaxed)
  }

  /// Calls a method; returns `false` if the delegate inherits the default implementation.
  nonisolated(nonsending) static func call(
    _ method: nonisolated(nonsending) () async -> Void
  ) async -> Bool {
    let mark = Mark()
    await $mark.withValue(mark) { await method() }
    return !mark.isReached.load(ordering: .relaxed)
  }
}
