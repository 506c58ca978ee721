import Basics

/// One sign-in that waits for its redirect: the first right answer, or the first end, counts.
final class PendingAuthorization: Sendable {
  /// What became of a redirect that was offered.
  enum Offer: Sendable, Hashable {
    /// It is the answer and was taken.
    case taken
    /// It is addressed to another redirect URI.
    case notAddressed
    /// Its `state` is not this sign-in's; the sign-in still waits.
    case wrongState
    /// The sign-in was answered, or has ended, before.
    case tooLate
  }

  let expectation: AuthorizationResponse.Expectation
  private let answer = OneShot<Result<AuthorizationResponse, SQOAuthError>>()
  private let misses = Locked(Misses())

  /// What was offered in vain.
  private struct Misses {
    var sawWrongState = false
    var sawOtherAddress = false

    /// What the message of a sign-in that ran out of time adds, for an app that is the receiver.
    func hint(for receiver: RedirectReceiver) -> String {
      guard receiver == .app else { return "" }
      guard sawOtherAddress else { return "; your app passed no redirect to handleRedirect" }
      return "; your app passed on no URL that begins with the redirect URI: pass the whole URL, "
        + "with its scheme, host and port"
    }
  }

  init(_ expectation: AuthorizationResponse.Expectation) {
    self.expectation = expectation
  }

  /// Offers a redirect, from any thread.
  func offer(_ redirect: String) -> Offer {
    switch AuthorizationResponse.judge(redirect, against: expectation) {
    case .notAddressed:
      misses.withLock { $0.sawOtherAddress = true }
      return .notAddressed
    case .wrongState:
      misses.withLock { $0.sawWrongState = true }
      return .wrongState
    case .answer(let result):
      return answer.resolve(result) ? .taken : .tooLate
    }
  }

  /// Ends the waiting; without effect once an answer was taken.
  func end(_ error: SQOAuthError) {
    answer.resolve(.failure(error))
  }

  /// Ends the waiting because the time is over.
  ///
  /// When answers with a wrong `state` came and none with the right one, that is the reason to
  /// tell: a forged one must not end a sign-in, but a server that alters it leads nowhere else.
  /// When connections were turned away from the receiver, the browser's may have been among them,
  /// and it is not known that the user did not want to sign in. If the app is the receiver, the
  /// message says what it passed on, since a mistake there looks like a user who did nothing.
  func endByTimeout(after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int) {
    let seconds = timeout.components.seconds
    let misses = misses.withLock(\.self)
    if misses.sawWrongState {
      end(
        SQOAuthError(
          .stateMismatch,
          "a redirect with a wrong state was refused, and none with the right one came within "
            + "\(seconds) s"))
    } else if turnedAway > 0 {
      end(
        SQOAuthError(
          .redirectUnavailable,
          "nobody signed in within \(seconds) s, but other programs crowded the port of the "
            + "redirect URI: \(turnedAway) connections were turned away, and the browser's may have "
            + "been one of them; end those programs and sign in again"))
    } else {
      let hint = misses.hint(for: receiver)
      end(
        SQOAuthError(
          .timedOut,
          "nobody signed in within \(seconds) s\(hint); a page of the server that shows an error "
            + "does not come back here, such as for a redirect URI that is not registered there"))
    }
  }

  /// Waits for the code; a cancelled task stops waiting as if the sign-in had been cancelled.
  func response() async throws(SQOAuthError) -> AuthorizationResponse {
    guard let result = await answer.value() else { throw .signInCancelled }
    return try result.get()
  }
}
