extension Task where Failure == Never {
  /// Starts a task that runs on the caller's thread until it suspends for the first time.
  ///
  /// This avoids waking another thread. On older Apple systems, it starts an ordinary task.
  @discardableResult
  package static func startingHere(
    _ operation: sending @escaping @isolated(any) () async -> Success
  ) -> Task<Success, Never> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate(operation: operation)
    }
    return Task(operation: operation)
  }
}

/// Runs work to its end even if the caller is cancelled, and returns its result.
///
/// Use it if the result must not be lost, for example for a request that the server answers only
/// once.
package func uncancelled<Value: Sendable, Failure>(
  _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let task = Task { await Result.of(work) }
  return try await task.value.get()
}
