import SQBasics

// The sign-ins of one account as a value: who joins them, and how they end.
extension SignIns {
  /// A sign-in with its callers.
  struct Joined {
    let signIn: SignIn
    /// The number of callers that wait for the sign-in; when all of them stop waiting, the sign-in
    /// ends.
    var waiters = 0
    /// Whether the sign-in continues if no caller waits for it.
    var isKept = false

    var isWanted: Bool { waiters > 0 || isKept }
  }

  struct State {
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
    /// The logouts at the provider that may wait for their redirects, and the latest one.
    var logouts: [PendingLogout] = []
  }

  /// The sign-in that a caller starts or joins.
  struct Entry {
    let signIn: SignIn
    /// Whether this caller must start the sign-in.
    let isNew: Bool
    /// The previous sign-in, which must end before this sign-in begins; `nil` if there is none.
    let previous: SignIn?
  }
}

extension SignIns.State {
  /// Adds a caller that waits for the sign-in; with `isKept`, only keeps the sign-in running.
  ///
  /// `hasScreen` says whether the caller shows the code of a sign-in on another device.
  ///
  /// It fails if a sign-in with other options is running. But a silent sign-in is short, so a
  /// sign-in that may show pages waits until it has ended.
  mutating func enter(
    _ request: SignIn.Request, isKept: Bool = false, hasScreen: Bool = false
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
    if hasScreen { entry.signIn.addScreen() }
    return .success(entry)
  }

  /// Removes a caller; returns whether the sign-in has no other caller and must be cancelled.
  mutating func leave(_ left: SignIn) -> Bool {
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
  mutating func detach() -> SignIns.Joined? {
    guard let joined = running else { return nil }
    running = nil
    // If another sign-in is ending, it waits for the end of this silent sign-in before it.
    ending = ending ?? joined.signIn
    remember(joined)
    return joined
  }

  /// Keeps the wait for the redirect of a removed sign-in, to identify a late redirect.
  private mutating func remember(_ removed: SignIns.Joined) {
    if let pending = removed.signIn.pending { over = pending }
  }

  /// Removes the running sign-in and the silent sign-in before it, and counts it as ended.
  ///
  /// Because it counts as ended, a caller that was already waiting for a token does not open the
  /// browser again.
  mutating func cancel() -> [SignIn] {
    guard let cancelled = detach() else { return [] }
    note(.cancelled)
    guard let silent else { return [cancelled.signIn] }
    self.silent = nil
    remember(silent)
    return [silent.signIn, cancelled.signIn]
  }

  /// Removes a sign-in whose code no delegate shows; returns `false` if a caller shows the code.
  ///
  /// It is removed at once, so that a caller with a screen that comes now begins a new sign-in.
  mutating func delegateHasNoScreen(for signIn: SignIn) -> Bool {
    guard !signIn.delegateHasNoScreen() else { return false }
    if running?.signIn === signIn {
      _ = detach()
      note(SignIn.Failure(.failure(signIn.cancellation), of: signIn))
    }
    return true
  }

  /// Removes a sign-in that has ended.
  mutating func end(_ ended: SignIn, _ outcome: SignIn.Outcome) {
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
  mutating func note(_ failure: SignIn.Failure?) {
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
