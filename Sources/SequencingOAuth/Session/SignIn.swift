import LoopbackHTTP

/// One sign-in that is under way, and whoever waits for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>

  private struct State {
    var pending: PendingAuthorization?
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  /// How it ended; there once, for everyone.
  let outcome = OneShot<Outcome>()
  private let state = Locked(State())

  /// Starts the work; cancelled at once if the sign-in was before.
  func start(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Tells that the sign-in waits for a redirect from now on.
  func isWaiting(_ pending: PendingAuthorization) {
    state.withLock { $0.pending = pending }
  }

  /// Offers a redirect; `true` where it was the answer.
  func offer(_ redirect: String) -> Bool {
    guard let pending = state.withLock(\.pending) else { return false }
    return pending.offer(redirect) == .taken
  }

  /// Ends the sign-in as soon as it can be; without effect once the token is there.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}
