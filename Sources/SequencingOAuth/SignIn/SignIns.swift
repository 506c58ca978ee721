import Basics

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
    /// How many have ended, other than for want of callers.
    var endCount = 0
    /// Why the last of these failed.
    var failure: SQOAuthError?
    /// What the answer to the last sign-in that is over had to carry, so that a late one is known.
    var over: Boxed<AuthorizationResponse.Expectation>?
    var onEnd: (@Sendable (SignIn.Outcome) -> Void)?
  }

  /// A caller's part in a sign-in.
  fileprivate struct Entry {
    let signIn: SignIn
    /// Whether the caller is the one to begin it.
    let isNew: Bool
    /// A cancelled one that must have ended first.
    let previous: SignIn?
  }

  typealias Run = @Sendable (SignIn) async -> SignIn.Outcome

  private let state = Locked(State())

  /// Sets who hears how each sign-in ended, once.
  func onEnd(_ onEnd: @escaping @Sendable (SignIn.Outcome) -> Void) {
    state.withLock { $0.onEnd = onEnd }
  }

  /// Whether a sign-in is under way.
  var isUnderWay: Bool { state.withLock { $0.signIn != nil } }

  /// How many sign-ins have ended so far.
  var endCount: Int { state.withLock(\.endCount) }

  /// Starts a sign-in for good, or makes the one under way last whoever else gives up.
  func start(_ run: @escaping Run) {
    begin(state.withLock { $0.enter(isKept: true) }, run)
  }

  /// Signs in, or joins the sign-in under way; the last such caller that is cancelled ends it.
  ///
  /// A caller that is cancelled already begins none, so no browser flashes up for it.
  func token(_ run: @escaping Run) async throws(SQOAuthError) -> SQToken {
    guard !Task.isCancelled else { throw .signInCancelled }
    return try await token(of: state.withLock { $0.enter() }, run)
  }

  /// The same for a caller that has wanted a token since so many sign-ins had ended.
  ///
  /// One that ended meanwhile was this caller's, too, so none is begun: its failure is thrown, and
  /// where it brought a token this is `nil`.
  func token(
    since endCount: Int, _ run: @escaping Run
  ) async throws(SQOAuthError) -> SQToken? {
    guard !Task.isCancelled else { throw .signInCancelled }
    let entry: Result<Entry?, SQOAuthError> = state.withLock { state in
      guard state.signIn == nil, state.endCount > endCount else { return .success(state.enter()) }
      return state.failure.map { .failure($0) } ?? .success(nil)
    }
    guard let entry = try entry.get() else { return nil }
    return try await token(of: entry, run)
  }

  private func token(of entry: Entry, _ run: @escaping Run) async throws(SQOAuthError) -> SQToken {
    begin(entry, run)
    let signIn = entry.signIn
    guard let outcome = await signIn.work.outcome.value() else {
      leave(signIn)
      throw .signInCancelled
    }
    return try outcome.get()
  }

  /// Ends the sign-in under way; a later call starts a new one at once.
  func cancel() {
    state.withLock { $0.cancel() }?.cancel()
  }

  /// Offers a redirect to the sign-in under way.
  func offer(_ redirect: String) -> RedirectOutcome {
    let (signIn, over) = state.withLock { ($0.signIn, $0.over) }
    if let offer = signIn?.offer(redirect) { return RedirectOutcome(offer) }
    guard let over, case .answer = AuthorizationResponse.judge(redirect, against: over.value)
    else { return .noSignIn }
    return .tooLate
  }

  private func begin(_ entry: Entry, _ run: @escaping Run) {
    guard entry.isNew else { return }
    let signIn = entry.signIn
    signIn.work.start {
      // Two sign-ins of one client may need the same port.
      _ = await entry.previous?.work.outcome.value()
      let outcome = await run(signIn)
      let onEnd = self.state.withLock { state in
        state.end(signIn, outcome)
        return state.onEnd
      }
      onEnd?(outcome)
      signIn.work.outcome.resolve(outcome)
    }
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
  /// Takes a caller in: one that waits, or one that only has the sign-in go on.
  fileprivate mutating func enter(isKept: Bool = false) -> SignIns.Entry {
    let entry = SignIns.Entry(
      signIn: signIn ?? SignIn(), isNew: signIn == nil, previous: ending)
    signIn = entry.signIn
    ending = nil
    if isKept { self.isKept = true } else { waiters += 1 }
    return entry
  }

  /// Takes the sign-in out, so that a further call starts a new one.
  fileprivate mutating func detach() -> SignIn? {
    guard let signIn else { return nil }
    self.signIn = nil
    waiters = 0
    isKept = false
    ending = signIn
    if let expectation = signIn.expectation { over = Boxed(expectation) }
    return signIn
  }

  /// The same for all callers, whoever of them has not come to wait for it yet.
  fileprivate mutating func cancel() -> SignIn? {
    guard let signIn = detach() else { return nil }
    note(.failure(.signInCancelled))
    return signIn
  }

  /// Forgets a sign-in that has ended.
  fileprivate mutating func end(_ ended: SignIn, _ outcome: SignIn.Outcome) {
    if signIn === ended {
      _ = detach()
      note(outcome)
    }
    if ending === ended { ending = nil }
  }

  private mutating func note(_ outcome: SignIn.Outcome) {
    endCount += 1
    failure = nil
    if case .failure(let error) = outcome { failure = error }
  }
}
