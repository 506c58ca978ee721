import Basics
import Dispatch

/// A thread of a store's own, one call after the other, for what blocks: the cooperative pool must
/// not wait for disks, locks and keyrings.
package struct BlockingQueue: Sendable {
  private let queue: DispatchQueue

  package init(_ label: String) {
    queue = DispatchQueue(label: "SequencingOAuth.\(label)")
  }

  /// Returns what the work came to; it is done whether or not the caller is cancelled.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let result = OneShot<Result<Value, SQOAuthError>>()
    queue.async { result.resolve(Result(catching: work)) }
    return try await result.wait().get()
  }

  /// Does something later, after what was asked for before.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}
