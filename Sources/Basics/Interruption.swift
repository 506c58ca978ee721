/// Lets any thread end one piece of work, even before it is known how to end it.
package final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  package init() {}

  /// Ends the work now, or as soon as ``whenRaised(_:)`` says how.
  package func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action.take()
    }
    action?()
  }

  /// Sets the action that ends the work, and runs it at once if ``raise()`` was called before.
  package func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let isRaised = state.withLock { state in
      if !state.isRaised { state.action = action }
      return state.isRaised
    }
    if isRaised { action() }
  }
}
