import Basics

/// A place that a test closes, so that something stays under way for as long as it likes.
public final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  /// Makes a gate, open unless it is to be closed.
  public init(isOpen: Bool = true) {
    state = Locked(State(isOpen: isOpen))
  }

  /// How many wait in front of it.
  public var waiting: Int { state.withLock(\.waiters.count) }

  /// Holds who comes from now on.
  public func close() { state.withLock { $0.isOpen = false } }

  /// Lets everyone through.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when the gate is open; a cancelled task waits all the same, as a server would go on.
  public func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Returns when the gate is open; a task that is cancelled opens it.
  public func opened() async {
    await withTaskCancellationHandler {
      if Task.isCancelled { open() }
      await pass()
    } onCancel: {
      open()
    }
  }

  /// Returns when so many wait in front of it.
  public func isHolding(_ count: Int = 1) async throws {
    while waiting < count { try await Task.sleep(for: .milliseconds(2)) }
  }
}
