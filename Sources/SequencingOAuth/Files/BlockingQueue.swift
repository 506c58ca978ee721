import Basics
import Dispatch

/// Runs a store's blocking calls one after the other, outside Swift's cooperative thread pool.
///
/// The pool's threads must not wait for disks, locks and keyrings.
package struct BlockingQueue: Sendable {
  private let queue: DispatchQueue

  package init(_ label: String) {
    queue = DispatchQueue(label: "SequencingOAuth.\(label)")
  }

  /// Runs the work and returns its result; the work runs even if the caller is cancelled.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let result = OneShot<Result<Value, SQOAuthError>>()
    queue.async { result.resolve(Result(catching: work)) }
    return try await result.wait().get()
  }

  /// Starts the work after all earlier work, and does not wait for it.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}
