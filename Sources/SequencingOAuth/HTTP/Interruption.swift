import LoopbackHTTP

/// Ends one exchange from outside of the task that waits for it.
final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Ends the exchange, now or as soon as it begins.
  func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action.take()
    }
    action?()
  }

  /// Says how the exchange is ended; that is done at once if it was asked for before.
  func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let isRaised = state.withLock { state in
      if !state.isRaised { state.action = action }
      return state.isRaised
    }
    if isRaised { action() }
  }
}
