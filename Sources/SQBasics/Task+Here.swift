extension Task where Failure == Never {
  /// Starts a task that runs on the caller's thread until it waits for the first time.
  ///
  /// That saves waking another thread.
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

/// Runs work in a task that the cancellation of the caller does not reach, and waits for its end.
///
/// It is for work whose end must not be lost, such as a request that the server answers only once.
package func uncancelled<Value: Sendable, Failure>(
  _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let task = Task { () async -> Result<Value, Failure> in
    do throws(Failure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
  return try await task.value.get()
}
