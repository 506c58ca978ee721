import SQBasics

/// A gate that a test closes, so that a task stops there until the test opens it.
public final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var last = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// The waiters whose tasks were cancelled before they waited.
    var left: Set<Int> = []
  }

  private let state: Locked<State>

  /// Creates a gate, which is open unless `isOpen` is `false`.
  public init(isOpen: Bool = true) {
    state = Locked(State(isOpen: isOpen))
  }

  /// The number of tasks that wait at the gate.
  public var waiting: Int { state.withLock(\.waiters.count) }

  /// Closes the gate, so that later tasks wait.
  public func close() { state.withLock { $0.isOpen = false } }

  /// Opens the gate, so that all tasks continue.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until the gate is open.
  ///
  /// A cancelled task waits too, like a server that works on after its client has left.
  public func pass() async { await wait(as: number()) }

  /// Waits until the gate is open or the task is cancelled; other tasks continue to wait.
  public func opened() async {
    let waiter = number()
    await withTaskCancellationHandler {
      await wait(as: waiter)
    } onCancel: {
      leave(waiter)
    }
  }

  private func number() -> Int {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  private func wait(as waiter: Int) async {
    await withCheckedContinuation { continuation in
      let waits = state.withLock { state in
        guard !state.isOpen, state.left.remove(waiter) == nil else { return false }
        state.waiters[waiter] = continuation
        return true
      }
      if !waits { continuation.resume() }
    }
  }

  private func leave(_ waiter: Int) {
    let continuation = state.withLock { state in
      let continuation = state.waiters.removeValue(forKey: waiter)
      if continuation == nil { state.left.insert(waiter) }
      return continuation
    }
    continuation?.resume()
  }

  /// Waits until at least this number of tasks wait at the gate.
  public func isHolding(_ count: Int = 1) async throws {
    while waiting < count { try await Task.sleep(for: .milliseconds(2)) }
  }
}
