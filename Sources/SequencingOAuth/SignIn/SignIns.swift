import SQBasics

/// The sign-ins of one account: only one runs at a time, and further calls join it.
final class SignIns: Sendable {
  /// A sign-in with its callers.
  fileprivate struct Joined {
    let signIn: SignIn
    /// The number of callers that wait for the sign-in; when all of them stop waiting, the sign-in
    /// ends.
    var waiters = 0
    /// Whether the sign-in continues if no caller waits for it.
    var isKept = false

    var isWanted: Bool { waiters > 0 || isKept }
  }

  fileprivate struct State {
    /// The running sign-in; further calls join it.
    var running: Joined?
    /// A silent sign-in; the running sign-in has not begun, because it waits for its end.
    var silent: Joined?
    /// The last removed sign-in, which may still use its port; the next sign-in waits for its end.
    var ending: SignIn?
    /// The number of sign-ins that have ended; see ``SignIns/endCount``.
    var endCount = 0
    /// The failure of the last ended sign-in; `nil` if it succeeded.
    var failure: SignIn.Failure?
    /// The wait for a redirect of the last ended sign-in; it identifies a late redirect.
    var over: PendingAuthorization?
    var onEnd: (@Sendable (SignIn.Outcome) -> Void)?
    var onCode: (@Sendable (SignIn, DeviceAuthorization) -> Void)?
    /// The latest logout at the provider; it may wait for its redirect.
    var logout: PendingLogout?
  }

  /// The sign-in that a caller starts or joins.
  fileprivate struct Entry {
    let signIn: SignIn
    /// Whether this caller must start the sign-in.
    let isNew: Bool
    /// The previous sign-in, which must end before this sign-in begins; `nil` if there is none.
    let previous: SignIn?
  }

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
    return try await token(of: state.withLock { $0.enter(request) }.get(), on: screen, run)
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
    let entry: Result<Entry?, SQOAuthError> = state.withLock { state in
      guard state.running == nil, state.endCount > endCount,
        state.failure?.answers(request) != false
      else { return state.enter(request).map(Optional.some) }
      return state.failure.map { .failure($0.error) } ?? .success(nil)
    }
    guard let entry = try entry.get() else { return nil }
    return try await token(of: entry, on: screen, run)
  }

  private func token(
    of entry: Entry, on screen: Screen?, _ run: @escaping Run
  ) async throws(SQOAuthError) -> SignIn.Gain {
    let signIn = entry.signIn
    if screen != nil { signIn.addScreen() }
    begin(entry, run)
    if let screen, let authorization = await signIn.authorization.value() ?? nil {
      await screen(authorization) { !Task.isCancelled && signIn.work.outcome.current == nil }
    }
    guard let outcome = await signIn.work.outcome.value() else {
      leave(signIn)
      throw .signInCancelled
    }
    return (try outcome.get(), signIn.owner)
  }

  /// Cancels the running sign-in, and the silent one that it waits for; a later call starts a new
  /// one.
  func cancel() {
    for signIn in state.withLock({ $0.cancel() }) { signIn.cancel() }
  }

  /// Makes callers that already wait for a token start no sign-in.
  func dismissWaiting() {
    state.withLock { $0.note(.cancelled) }
  }

  /// Records a logout that waits for its redirect.
  func expect(_ logout: PendingLogout) {
    state.withLock { $0.logout = logout }
  }

  /// Offers a redirect to the running sign-in or logout, and returns the result.
  func offer(_ redirect: String) -> RedirectOutcome {
    let (signIn, silent, over, logout) = state.withLock {
      ($0.running?.signIn, $0.silent?.signIn, $0.over, $0.logout)
    }
    if let silent, silent.offer(redirect)?.isAnswer == true { return .answered }
    let offer = signIn?.offer(redirect)
    if offer?.isAnswer != true, let logout, logout.offer(redirect).isAnswer { return .answered }
    if let offer { return RedirectOutcome(offer) }
    switch over?.recall(redirect) {
    case .repeated: return .answered
    case .tooLate: return .tooLate
    case .taken, .notAddressed, .wrongState, nil: return .noSignIn
    }
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
    reporting.withLock { _ in
      let ((value, outcome), onEnd) = state.withLock { (change(&$0), $0.onEnd) }
      if let outcome { onEnd?(outcome) }
      return value
    }
  }

  private func leave(_ signIn: SignIn) {
    if state.withLock({ $0.leave(signIn) }) { signIn.cancel() }
  }
}

extension SignIns.State {
  /// Adds a caller that waits for the sign-in; with `isKept`, only keeps the sign-in running.
  ///
  /// It fails if a sign-in with other options is running. But a silent sign-in is short, so a
  /// sign-in that may show pages waits until it has ended.
  fileprivate mutating func enter(
    _ request: SignIn.Request, isKept: Bool = false
  ) -> Result<SignIns.Entry, SQOAuthError> {
    if let signIn = running?.signIn {
      if signIn.options.isSilent, !request.isSilent {
        silent = detach()
      } else if !signIn.fits(request) {
        return .failure(.signInUnderWay)
      }
    }
    let entry: SignIns.Entry
    if let signIn = running?.signIn {
      entry = SignIns.Entry(signIn: signIn, isNew: false, previous: nil)
    } else {
      entry = SignIns.Entry(signIn: SignIn(request), isNew: true, previous: ending)
      running = SignIns.Joined(signIn: entry.signIn)
      ending = nil
    }
    if isKept { running?.isKept = true } else { running?.waiters += 1 }
    return .success(entry)
  }

  /// Removes a caller; returns whether the sign-in has no other caller and must be cancelled.
  fileprivate mutating func leave(_ left: SignIn) -> Bool {
    if silent?.signIn === left {
      silent?.waiters -= 1
      guard silent?.isWanted == false else { return false }
      silent = nil
      return true
    }
    guard running?.signIn === left else { return false }
    running?.waiters -= 1
    guard running?.isWanted == false else { return false }
    _ = detach()
    // A silent sign-in that this sign-in waited for is the running one again.
    running = silent
    silent = nil
    return true
  }

  /// Removes the running sign-in, so that the next call starts a new one.
  fileprivate mutating func detach() -> SignIns.Joined? {
    guard let joined = running else { return nil }
    running = nil
    // A sign-in that is ending already waits for this one: a silent one that was running before.
    ending = ending ?? joined.signIn
    remember(joined)
    return joined
  }

  /// Keeps the wait for the redirect of a removed sign-in, to identify a late redirect.
  private mutating func remember(_ removed: SignIns.Joined) {
    if let pending = removed.signIn.pending { over = pending }
  }

  /// Removes the running sign-in and the silent one that it waits for, and counts it as ended.
  ///
  /// Because it counts as ended, a caller that was already waiting for a token does not open the
  /// browser again.
  fileprivate mutating func cancel() -> [SignIn] {
    guard let cancelled = detach() else { return [] }
    note(.cancelled)
    guard let silent else { return [cancelled.signIn] }
    self.silent = nil
    remember(silent)
    return [silent.signIn, cancelled.signIn]
  }

  /// Removes a sign-in that has ended.
  fileprivate mutating func end(_ ended: SignIn, _ outcome: SignIn.Outcome) {
    if running?.signIn === ended {
      _ = detach()
      // The failure of a silent sign-in says only that the server must show its pages.
      if !ended.options.isSilent || outcome.error == nil {
        note(SignIn.Failure(outcome, of: ended))
      }
    }
    if ending === ended { ending = nil }
    if silent?.signIn === ended { silent = nil }
  }

  /// Counts an ended sign-in; `failure` is `nil` if it succeeded.
  fileprivate mutating func note(_ failure: SignIn.Failure?) {
    endCount += 1
    self.failure = failure
  }
}

extension SQOAuthError {
  fileprivate static let signInUnderWay = SQOAuthError(
    .signInUnderWay,
    "a sign-in with other options, or in another way, is running; wait for its end or cancel it "
      + "first")
}
