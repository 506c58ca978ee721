package import Dispatch
import SQBasics

/// An object that calls the app's delegates and completions: on their actor if they belong to one,
/// and otherwise on a queue.
///
/// A closure knows its own isolation (`@isolated(any)`), and the call of a delegate's method moves
/// to the delegate's actor. If the delegate's whole conformance belongs to the main actor,
/// ``DelegateCall`` moves to that actor first.
package final class Callbacks: Sendable {
  private typealias Call = @Sendable () async -> Void

  private struct State {
    var executor: CallbackExecutor
    /// The waiting calls, in order.
    var calls: [Call] = []
    var isCalling = false
  }

  private let state: Locked<State>

  package init(queue: DispatchQueue = .main) {
    state = Locked(State(executor: CallbackExecutor(queue)))
  }

  /// The queue for callbacks that belong to no actor.
  package var queue: DispatchQueue {
    get { state.withLock(\.executor).queue }
    set {
      let executor = CallbackExecutor(newValue)
      state.change { $0.executor = executor }
    }
  }

  // MARK: Delegates

  /// Makes a call to a delegate after all calls that were added earlier have ended.
  func inOrder(_ call: @escaping @Sendable () async -> Void) {
    let starts = state.withLock { state in
      state.calls.append(call)
      defer { state.isCalling = true }
      return !state.isCalling
    }
    guard starts else { return }
    Task {
      while let call = self.next() { await self.call(call) }
    }
  }

  private func next() -> Call? {
    state.withLock { state in
      guard !state.calls.isEmpty else {
        state.isCalling = false
        return nil
      }
      return state.calls.removeFirst()
    }
  }

  // MARK: Completions

  /// Runs the work of an operation and passes the result to the completion, once.
  package func complete<Value: Sendable, Failure: Error>(
    _ completion: @escaping @isolated(any) (Result<Value, Failure>) -> Void,
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    complete(with: completion) { await .of(work) }
  }

  /// Runs the work of an operation that cannot fail, and passes the result to the completion, once.
  func complete<Value: Sendable>(
    with completion: @escaping @isolated(any) (Value) -> Void,
    _ work: @escaping @Sendable () async -> Value
  ) {
    let completion = Completion(completion)
    Task { await self.call(completion, with: await work()) }
  }

  /// Calls a closure of the app, and returns when the closure has returned.
  ///
  /// `isWanted` runs on the closure's actor or queue, directly before the closure. If it returns
  /// `false`, the closure is not called.
  package func call<Value: Sendable>(
    _ completion: Completion<Value>, with value: Value,
    if isWanted: @escaping @Sendable () -> Bool = { true }
  ) async {
    if completion.hasActor {
      // A queue may be blocked, so a closure that belongs to an actor is called without a queue.
      await completion.call(with: value, if: isWanted)
    } else {
      await call { await completion.call(with: value, if: isWanted) }
    }
  }

  private func call(_ call: @escaping Call) async {
    let executor = state.withLock(\.executor)
    await executor.run(call)
  }
}
