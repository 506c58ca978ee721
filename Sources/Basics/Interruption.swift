/// Ends one piece of work from outside, also where how that is done is known only later.
package final class Interruption: Sendable {
  private struct State {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  package init() {}

  /// Ends the work, now or as soon as it begins.
  package func raise() {
    let action = state.withLock { state in
      state.isRaised = true
      return state.action.take()
    }
    action?()
  }

  /// Says how the work is ended from now on; that is done at once if it was asked for before.
  package func whenRaised(_ action: @escaping @Sendable () -> Void) {
    let isRaised = state.withLock { state in
      if !state.isRaised { state.action = action }
      return state.isRaised
    }
    if isRaised { action() }
  }
}
