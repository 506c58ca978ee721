/// A value that arrives once and that any number of tasks wait for.
///
/// Who waits is woken without it and takes it under the lock, so that ThreadSanitizer, which does not
/// see every hand-over of a continuation, knows that it was written before.
package final class OneShot<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter = 0
  }

  private let state = Locked(State())

  package init() {}

  /// Delivers the value; only the first one counts, and only it returns `true`.
  @discardableResult
  package func resolve(_ value: Value) -> Bool {
    let waiters: [CheckedContinuation<Void, Never>]? = state.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    waiters?.forEach { $0.resume() }
    return waiters != nil
  }

  /// The value, if it is there.
  package var current: Value? { state.withLock { $0.value } }

  /// Waits for the value, even in a task that is cancelled.
  package func wait() async -> Value {
    while true {
      if let value = current { return value }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.value == nil else { return true }
          state.lastWaiter += 1
          state.waiters[state.lastWaiter] = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }

  /// Waits for the value; `nil` when the waiting task is cancelled first.
  package func value() async -> Value? {
    let (id, value) = state.withLock { state in
      state.lastWaiter += 1
      return (state.lastWaiter, state.value)
    }
    if let value { return value }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.value == nil, !Task.isCancelled else { return true }
          state.waiters[id] = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
    return current
  }
}
