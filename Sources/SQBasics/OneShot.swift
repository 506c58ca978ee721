/// A value that is set once and that any number of tasks can wait for.
///
/// A waiting task wakes first and then reads the value under the lock. ThreadSanitizer does not see
/// every value that a continuation passes on, but it sees the lock.
///
/// It is public, like ``Locked`` and ``Boxed``, because the compiler specializes generic code for
/// the types of another module only if that code is public and inlinable.
public final class OneShot<Value: Sendable>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var value: Value?
    @usableFromInline var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    @usableFromInline var lastWaiter = 0

    @inlinable init() {}
  }

  @usableFromInline let state = Locked(State())

  /// Creates an instance without a value.
  @inlinable
  public init() {}

  /// Sets the value and returns `true`; returns `false` if a value was set before.
  @discardableResult
  @inlinable
  public func resolve(_ value: Value) -> Bool {
    let waiters: [CheckedContinuation<Void, Never>]? = state.withLock { state in
      guard state.value == nil else { return nil }
      state.value = value
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    waiters?.forEach { $0.resume() }
    return waiters != nil
  }

  /// The value, or `nil` if it has not arrived yet.
  @inlinable
  public var current: Value? { state.withLock { $0.value } }

  /// Waits for the value; cancelling the waiting task does not end the wait.
  @inlinable
  public func wait() async -> Value {
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

  /// Waits for the value; returns `nil` if the waiting task is cancelled first.
  @inlinable
  public func value() async -> Value? { await wait { _ in nil } }

  /// Waits for the value, at most until a time.
  ///
  /// Returns `nil` at that time, or if the waiting task is cancelled first.
  @inlinable
  public func wait(until end: ContinuousClock.Instant) async -> Value? {
    await wait { id in
      Task {
        try? await Task.sleep(until: end, clock: .continuous)
        self.wake(id)
      }
    }
  }

  /// Waits until the value arrives, the waiting task is cancelled, or the waiter is woken.
  ///
  /// The closure gets the waiter's number, and may start and return a task that wakes this waiter.
  /// It is called only if the value has not arrived yet. The task is cancelled after the wait.
  @inlinable
  func wait(_ limit: (Int) -> Task<Void, Never>?) async -> Value? {
    let (id, value) = state.withLock { state in
      state.lastWaiter += 1
      return (state.lastWaiter, state.value)
    }
    if let value { return value }
    var timer: Task<Void, Never>?
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.value == nil, !Task.isCancelled else { return true }
          state.waiters[id] = continuation
          return false
        }
        if isReady { continuation.resume() } else { timer = limit(id) }
      }
    } onCancel: {
      wake(id)
    }
    timer?.cancel()
    return current
  }

  /// Ends the wait of one waiter, without a value.
  @usableFromInline
  func wake(_ id: Int) {
    state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
  }
}
