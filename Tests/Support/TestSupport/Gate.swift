import SQBasics

/// A gate that a test closes, so that a task stops there until the test opens it.
public final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var waiters: [CheckedContinuation<Void, Never>] = []
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
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until the gate is open.
  ///
  /// A cancelled task waits too, as a server continues its work.
  public func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Waits until the gate is open, and opens it if the waiting task is cancelled.
  public func opened() async {
    await withTaskCancellationHandler {
      if Task.isCancelled { open() }
      await pass()
    } onCancel: {
      open()
    }
  }

  /// Waits until at least this number of tasks wait at the gate.
  public func isHolding(_ count: Int = 1) async throws {
    while waiting < count { try await Task.sleep(for: .milliseconds(2)) }
  }
}
