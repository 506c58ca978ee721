import Dispatch

/// A queue that runs blocking calls one after the other, outside Swift's cooperative thread pool.
///
/// Stores and files use it, because the pool's threads must not wait for disks, locks and keyrings.
package struct BlockingQueue: Sendable {
  private let queue: DispatchQueue

  /// The moment of the call whose work runs on the current thread; `nil` outside of a queue's work.
  @TaskLocal static var start: ContinuousClock.Instant?

  /// The moment from which a time limit of blocking work counts: when the caller began to wait.
  ///
  /// A call first waits for the earlier work of its queue. If its own limit counted only from the
  /// start of its work, many calls would wait one after the other, each for the whole limit.
  package static var callStart: ContinuousClock.Instant { start ?? .now }

  package init(_ label: String) {
    queue = DispatchQueue(label: "SequencingOAuth.\(label)")
  }

  /// Runs the work and returns its result; the work runs even if the caller is cancelled.
  package func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await result(of: work).get()
  }

  /// Runs the work and returns its result, unless the caller is cancelled before the work begins.
  ///
  /// In that case, this throws `error` at once, and the work never runs. Work that has begun runs
  /// to its end, and the caller waits for it.
  package func run<Value: Sendable, Failure: Error>(
    unlessCancelled error: Failure,
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = OneShot<Result<Value, Failure>>()
    // The first of two events decides: the beginning of the work, or the cancellation.
    let begins = OneShot<Bool>()
    add {
      guard begins.resolve(true) else { return }
      result.resolve(Result(catching: work))
    }
    let outcome = await withTaskCancellationHandler {
      await result.wait()
    } onCancel: {
      if begins.resolve(false) { result.resolve(.failure(error)) }
    }
    return try outcome.get()
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
    add {
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
    add { result.resolve(Result(catching: work)) }
    return await result.wait()
  }

  /// Adds work to the queue without waiting for it.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  /// Adds the work of a call whose caller waits for it.
  private func add(_ work: @escaping @Sendable () -> Void) {
    let start = ContinuousClock.now
    queue.async { Self.$start.withValue(start, operation: work) }
  }
}
