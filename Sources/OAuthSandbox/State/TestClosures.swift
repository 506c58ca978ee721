import SQBasics
import SQLibC

/// The closure of a test that an endpoint calls, which may itself use the sandbox.
///
/// The endpoint holds the lock of the state meanwhile, so the closure's thread gets the state here.
final class TestClosures: Sendable {
  private struct Call {
    let thread: pthread_t
    var state: SandboxState
  }

  private let call = Locked<Call?>(nil)

  /// The state for the closure that this thread runs; `nil` if it runs none.
  var state: SandboxState? {
    get {
      call.withLock { call in
        call.flatMap { pthread_equal($0.thread, pthread_self()) == 0 ? nil : $0.state }
      }
    }
    set { set(newValue) }
  }

  /// Replaces the state, and returns the earlier one.
  @discardableResult
  fileprivate func set(_ state: SandboxState?) -> SandboxState? {
    call.withLock { call in
      defer { call = state.map { Call(thread: pthread_self(), state: $0) } }
      return call?.state
    }
  }
}

extension SandboxState {
  /// Calls a closure of the test, and keeps what the closure changes in the sandbox.
  mutating func calling<Result>(_ closure: () -> Result) -> Result {
    // A closure that asks the sandbox for a token may cause the call of another one.
    let outer = closures.set(self)
    let result = closure()
    self = closures.set(outer) ?? self
    return result
  }
}
