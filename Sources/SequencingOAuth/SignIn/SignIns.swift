import SQBasics

/// The sign-ins of one account: only one runs at a time, and further calls join it.
final class SignIns: Sendable {
  typealias Run = @Sendable (SignIn) async -> SignIn.Outcome
  /// A function that shows the code for another device if its closure parameter returns `true`.
  typealias Screen = @Sendable (DeviceAuthorization, @escaping @Sendable () -> Bool) async -> Void

  private let state = Locked(State())
  /// A lock that is held from the end of a sign-in until its outcome has been reported.
  let reporting = Locked(())

  /// Sets the closure that receives the outcomes of the sign-ins, in order.
  func onEnd(_ onEnd: @escaping @Sendable (SignIn.Outcome) -> Void) {
    state.withLock { $0.onEnd = onEnd }
  }

  /// Sets the closure that receives the code for another device, once for each sign-in.
  func onCode(_ onCode: @escaping @Sendable (SignIn, DeviceAuthorization) -> Void) {
    state.withLock { $0.onCode = onCode }
  }

  /// Passes on the code for another device, unless the sign-in was cancelled.
  func show(_ authorization: DeviceAuthorization, of signIn: SignIn) {
    let onCode = state.withLock { $0.running?.signIn === signIn ? $0.onCode : nil }
    signIn.authorization.resolve(authorization)
    onCode?(signIn, authorization)
  }

  /// The running sign-in; `nil` if there is none.
  var underWay: SignIn? { state.withLock(\.running?.signIn) }

  /// Whether a sign-in is running.
  var isUnderWay: Bool { underWay != nil }

  /// The number of sign-ins that have ended.
  ///
  /// It does not count a sign-in that ended because all its callers stopped waiting, a silent
  /// sign-in that another sign-in waited for, or a silent sign-in that failed: a caller that may
  /// show pages can still succeed.
  var endCount: Int { state.withLock(\.endCount) }

  /// Starts a sign-in, or joins the running one.
  ///
  /// After this call, the sign-in continues even if all callers stop waiting. A request without
  /// options joins a running sign-in with any options, unless that sign-in is silent; only the
  /// place, the browser or another device, must be the requested one.
  func start(_ request: SignIn.Request, _ run: @escaping Run) {
    let entry = tell { state in
      let entry = state.enter(request, isKept: true)
      guard case .failure(let error) = entry else { return (entry, nil) }
      return (entry, .failure(error))
    }
    if case .success(let entry) = entry { begin(entry, run) }
  }

  /// Signs in, or joins the running sign-in; the sign-in ends when its last caller is cancelled.
  ///
  /// A caller that is already cancelled starts no sign-in, so no browser opens for it. A request
  /// without options joins as in ``start(_:_:)``. `screen` shows the code of a sign-in on another
  /// device; the call returns only after `screen` has returned.
  func token(
    _ request: SignIn.Request, on screen: Screen? = nil, _ run: @escaping Run
  ) async throws(SQOAuthError) -> SignIn.Gain {
    guard !Task.isCancelled else { throw .signInCancelled }
    let entry = state.change { $0.enter(request, hasScreen: screen != nil) }
    return try await token(of: entry.get(), on: screen, run)
  }

  /// Signs in, unless a sign-in has ended since the caller read `endCount`.
  ///
  /// The caller reads `endCount` when it needs a token. If a sign-in has ended since then, its
  /// result is used and no new one begins: its error is thrown, or `nil` is returned if it
  /// succeeded. The failure of a sign-in for one user only answers a request with the same options,
  /// unless the user cancelled the sign-in: another user may still sign in.
  func token(
    _ request: SignIn.Request, since endCount: Int, on screen: Screen? = nil, _ run: @escaping Run
  ) async throws(SQOAuthError) -> SignIn.Gain? {
    guard !Task.isCancelled else { throw .signInCancelled }
    let entry: Result<Entry?, SQOAuthError> = state.change { state in
      guard state.running == nil, state.endCount > endCount,
        state.failure?.answers(request) != false
      else { return state.enter(request, hasScreen: screen != nil).map(Optional.some) }
      return state.failure.map { .failure($0.error) } ?? .success(nil)
    }
    guard let entry = try entry.get() else { return nil }
    return try await token(of: entry, on: screen, run)
  }

  private func token(
    of entry: Entry, on screen: Screen?, _ run: @escaping Run
  ) async throws(SQOAuthError) -> SignIn.Gain {
    let signIn = entry.signIn
    let left = OneShot<Void>()
    let leave: @Sendable () -> Void = { if left.resolve(()) { self.leave(signIn) } }
    begin(entry, run)
    if let screen, let authorization = await signIn.authorization.value() ?? nil {
      // The app's queue may be busy for a long time, and the caller waits for the token no longer.
      await withTaskCancellationHandler {
        await screen(authorization) { left.current == nil && self.isRunning(signIn) }
      } onCancel: {
        leave()
      }
    }
    guard let outcome = await signIn.work.outcome.value() else {
      leave()
      throw .signInCancelled
    }
    return (try outcome.get(), signIn.owner)
  }

  /// Cancels the running sign-in, and the silent sign-in that it waits for.
  ///
  /// A later call starts a new sign-in.
  func cancel() {
    for signIn in state.change({ $0.cancel() }) { signIn.cancel() }
  }

  /// Ends a sign-in on another device because no delegate shows its code, unless a caller shows it.
  func delegateHasNoScreen(for signIn: SignIn) {
    if state.change({ $0.delegateHasNoScreen(for: signIn) }) { signIn.cancel() }
  }

  /// Makes callers that already wait for a token start no sign-in.
  func dismissWaiting() {
    state.change { $0.note(.cancelled) }
  }

  /// Records a logout that waits for its redirect.
  func expect(_ logout: PendingLogout) {
    state.change { state in
      state.logouts.removeAll(where: \.isOver)
      state.logouts.append(logout)
    }
  }

  /// Offers a redirect to the running sign-in or logout, and returns the result.
  func offer(_ redirect: String) -> RedirectOutcome {
    let (signIn, silent, over, logouts) = state.withLock {
      ($0.running?.signIn, $0.silent?.signIn, $0.over, $0.logouts)
    }
    if let silent, silent.offer(redirect)?.isAnswer == true { return .answered }
    let offer = signIn?.offer(redirect)
    // A user who logs out twice has two pages, and each redirect belongs to one of them.
    let logout = logouts.first { $0.fits(redirect) == true } ?? logouts.last
    if offer?.isAnswer != true, let logout, logout.offer(redirect).isAnswer { return .answered }
    if let offer { return RedirectOutcome(offer) }
    switch over?.recall(redirect) {
    case .repeated: return .answered
    case .tooLate: return .tooLate
    case .taken, .notAddressed, .wrongState, nil: return .noSignIn
    }
  }

  private func isRunning(_ signIn: SignIn) -> Bool {
    state.withLock { $0.running?.signIn === signIn }
  }

  private func begin(_ entry: Entry, _ run: @escaping Run) {
    guard entry.isNew else { return }
    let signIn = entry.signIn
    signIn.work.start {
      // The previous sign-in may still use the port that this sign-in, or a later one, needs.
      _ = await entry.previous?.work.outcome.wait()
      let outcome = await run(signIn)
      self.tell { state in
        state.end(signIn, outcome)
        return ((), outcome)
      }
      signIn.authorization.resolve(nil)
      signIn.work.outcome.resolve(outcome)
    }
  }

  /// Changes the state, and reports the outcome if the change has one; the outcomes are reported in
  /// order.
  private func tell<Value: Sendable>(
    _ change: (inout State) -> (Value, SignIn.Outcome?)
  ) -> Value {
    let (value, old) = reporting.withLock { _ in
      let (old, (value, outcome), onEnd) = state.withLock { state in
        let old = state
        return (old, change(&state), state.onEnd)
      }
      if let outcome { onEnd?(outcome) }
      return (value, old)
    }
    // What the change removed is released outside both locks, as `Locked.change` does for one lock.
    withExtendedLifetime(old) {}
    return value
  }

  private func leave(_ signIn: SignIn) {
    if state.change({ $0.leave(signIn) }) { signIn.cancel() }
  }
}
