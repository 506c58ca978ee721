import Dispatch

/// Runs blocking calls of a store or on a file one after the other, outside Swift's cooperative thread pool.
///
/// The pool's threads must not wait for disks, locks and keyrings.
package struct BlockingQueue: Sendable {
  private let queue: DispatchQueue

  package init(_ label: String) {
    queue = DispatchQueue(label: "SequencingOAuth.\(label)")
  }

  /// Runs the work and returns its result; the work runs even if the caller is cancelled.
  package func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await result(of: work).get()
  }

  /// Runs work that an interruption ends, and returns its result.
  ///
  /// If the calling task is cancelled, the interruption is raised, and this throws at once.
  package func run<Value: Sendable, Failure: Error>(
    ifCancelled error: Failure,
    _ work: @escaping @Sendable (Interruption) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = OneShot<Result<Value, Failure>>()
    let interruption = Interruption()
    queue.async {
      result.resolve(
        Result { () throws(Failure) in
          // The work need not have begun when the caller was cancelled.
          guard !interruption.isRaised else { throw error }
          return try work(interruption)
        })
    }
    if let result = await result.value() { return try result.get() }
    interruption.raise()
    throw error
  }

  /// Runs the work as ``run(_:)`` does, and returns its error, of any type, instead of throwing it.
  package func result<Value: Sendable, Failure: Error>(
    of work: @escaping @Sendable () throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let result = OneShot<Result<Value, Failure>>()
    queue.async { result.resolve(Result(catching: work)) }
    return await result.wait()
  }

  /// Starts the work after all earlier work, and does not wait for it.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}
