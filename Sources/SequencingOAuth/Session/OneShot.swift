import LoopbackHTTP

/// A value that arrives once and that any number of tasks wait for.
package final class OneShot<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
    var lastWaiter = 0
  }

  private let state = Locked(State())

  package init() {}

  /// Delivers the value; only the first one counts, and only it returns `true`.
  @discardableResult
  package func resolve(_ value: Value) -> Bool {
    let waiters: [CheckedContinuation<Value?, Never>]? = state.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    waiters?.forEach { $0.resume(returning: value) }
    return waiters != nil
  }

  /// The value, if it is there.
  package var current: Value? { state.withLock { $0.value } }

  /// Waits for the value, even in a task that is cancelled.
  package func wait() async -> Value {
    while true {
      if let value = current { return value }
      _ = await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.value == nil else { return true }
          state.lastWaiter += 1
          state.waiters[state.lastWaiter] = continuation
          return false
        }
        if isReady { continuation.resume(returning: nil) }
      }
    }
  }

  /// Waits for the value; `nil` when the waiting task is cancelled first.
  package func value() async -> Value? {
    let (id, current) = state.withLock { state in
      state.lastWaiter += 1
      return (state.lastWaiter, state.value)
    }
    if let current { return current }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready: Value?? = state.withLock { state in
          if let value = state.value { return .some(value) }
          if Task.isCancelled { return .some(nil) }
          state.waiters[id] = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil)
    }
  }
}
