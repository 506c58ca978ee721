import Dispatch

/// A queue that runs blocking calls one after the other, outside Swift's cooperative thread pool.
///
/// Stores and files use it, because the pool's threads must not wait for disks, locks and keyrings.
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

  /// Runs work that can be interrupted, and returns its result.
  ///
  /// If the calling task is cancelled, this raises the interruption and throws `error` at once.
  package func run<Value: Sendable, Failure: Error>(
    ifCancelled error: Failure,
    _ work: @escaping @Sendable (Interruption) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = OneShot<Result<Value, Failure>>()
    let interruption = Interruption()
    queue.async {
      result.resolve(
        Result { () throws(Failure) in
          // The caller may have been cancelled before the work began.
          guard !interruption.isRaised else { throw error }
          return try work(interruption)
        })
    }
    if let result = await result.value() { return try result.get() }
    interruption.raise()
    throw error
  }

  /// Runs the work and returns its result or its error; the work runs even if the caller is
  /// cancelled.
  package func result<Value: Sendable, Failure: Error>(
    of work: @escaping @Sendable () throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    let result = OneShot<Result<Value, Failure>>()
    queue.async { result.resolve(Result(catching: work)) }
    return await result.wait()
  }

  /// Adds work to the queue without waiting for it.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}
