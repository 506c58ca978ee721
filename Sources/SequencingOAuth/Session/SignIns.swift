import LoopbackHTTP

/// The sign-ins of one account: one at a time, which further calls join.
final class SignIns: Sendable {
  fileprivate struct State {
    /// The sign-in that a further call joins.
    var signIn: SignIn?
    /// Callers that wait for it, besides those that started it for good.
    var waiters = 0
    var isKept = false
    /// A cancelled sign-in that has not let go of its port yet.
    var ending: SignIn?
    var onEnd: (@Sendable (SignIn.Outcome) -> Void)?
  }

  typealias Run = @Sendable (SignIn) async -> SignIn.Outcome

  private let state = Locked(State())

  /// Sets who hears how each sign-in ended, once.
  func onEnd(_ onEnd: @escaping @Sendable (SignIn.Outcome) -> Void) {
    state.withLock { $0.onEnd = onEnd }
  }

  /// Whether a sign-in is under way.
  var isUnderWay: Bool { state.withLock { $0.signIn != nil } }

  /// Starts a sign-in for good, or makes the one under way last whoever else gives up.
  func start(_ run: @escaping Run) {
    _ = join(keep: true, run)
  }

  /// Signs in, or joins the sign-in under way; the last such caller that is cancelled ends it.
  func token(_ run: @escaping Run) async throws(SQOAuthError) -> SQToken {
    let signIn = join(keep: false, run)
    guard let outcome = await signIn.work.outcome.value() else {
      leave(signIn)
      throw .signInCancelled
    }
    return try outcome.get()
  }

  /// Ends the sign-in under way; a later call starts a new one at once.
  func cancel() {
    state.withLock { $0.detach() }?.cancel()
  }

  /// Offers a redirect to the sign-in under way.
  func offer(_ redirect: String) -> Bool {
    state.withLock(\.signIn)?.offer(redirect) ?? false
  }

  private func join(keep: Bool, _ run: @escaping Run) -> SignIn {
    let (signIn, isNew, previous) = state.withLock { state in
      let previous = state.ending
      let isNew = state.signIn == nil
      let signIn = state.signIn ?? SignIn()
      state.signIn = signIn
      state.ending = nil
      state.waiters += keep ? 0 : 1
      state.isKept = state.isKept || keep
      return (signIn, isNew, previous)
    }
    if isNew {
      signIn.work.start {
        // Two sign-ins of one client may need the same port.
        _ = await previous?.work.outcome.value()
        let outcome = await run(signIn)
        let onEnd = self.state.withLock { state in
          state.end(signIn)
          return state.onEnd
        }
        onEnd?(outcome)
        signIn.work.outcome.resolve(outcome)
      }
    }
    return signIn
  }

  private func leave(_ signIn: SignIn) {
    let isAbandoned = state.withLock { state in
      guard state.signIn === signIn else { return false }
      state.waiters -= 1
      guard state.waiters == 0, !state.isKept else { return false }
      _ = state.detach()
      return true
    }
    if isAbandoned { signIn.cancel() }
  }
}

extension SignIns.State {
  /// Takes the sign-in out, so that a further call starts a new one.
  fileprivate mutating func detach() -> SignIn? {
    guard let signIn else { return nil }
    end(signIn)
    ending = signIn
    return signIn
  }

  /// Forgets a sign-in that has ended.
  fileprivate mutating func end(_ ended: SignIn) {
    if ending === ended { ending = nil }
    guard signIn === ended else { return }
    signIn = nil
    waiters = 0
    isKept = false
  }
}
