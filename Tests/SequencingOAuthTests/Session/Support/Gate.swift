import LoopbackHTTP

/// A place that a test closes, so that something stays under way for as long as it likes.
final class Gate: Sendable {
  private struct State {
    var isOpen = true
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// How many wait in front of it.
  var waiting: Int { state.withLock(\.waiters.count) }

  func close() { state.withLock { $0.isOpen = false } }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when the gate is open; a cancelled task waits all the same, as a server would go on.
  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Returns when so many wait in front of it.
  func isHolding(_ count: Int = 1) async throws {
    try await eventually { self.waiting >= count }
  }
}
