import Basics

/// A sign-in that waits for its redirect; it ends with the first valid answer or the first error.
final class PendingAuthorization: Sendable {
  /// What happened to a redirect that was offered to a sign-in.
  enum OfferResult: Sendable, Hashable {
    /// The redirect is the answer, and was accepted.
    case taken
    /// The redirect goes to another redirect URI.
    case notAddressed
    /// The `state` of the redirect is not this sign-in's; the sign-in still waits.
    case wrongState
    /// The sign-in already had its answer, or has ended.
    case tooLate
  }

  let expectation: AuthorizationResponse.Expectation
  private let answer = OneShot<Result<AuthorizationResponse, SQOAuthError>>()
  private let misses = Locked(Misses())

  /// The redirects that were offered and not accepted.
  private struct Misses {
    var sawWrongState = false
    var sawOtherAddress = false

    /// The hint for the timeout's message, if the app receives the redirect itself.
    func hint(for receiver: RedirectReceiver) -> String {
      guard receiver == .app else { return "" }
      guard sawOtherAddress else { return "; your app passed no redirect to handleRedirect" }
      return "; the URLs that your app passed to handleRedirect do not begin with the redirect "
        + "URI: pass the whole URL, with its scheme, host and port"
    }
  }

  init(_ expectation: AuthorizationResponse.Expectation) {
    self.expectation = expectation
  }

  /// Checks a redirect and ends the wait if it is the answer; any thread may call this.
  func offer(_ redirect: String) -> OfferResult {
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

  /// Ends the wait with an error; does nothing after an answer was accepted.
  func end(_ error: SQOAuthError) {
    answer.resolve(.failure(error))
  }

  /// Ends the wait because the time is over.
  ///
  /// The error gives the most likely reason. Redirects with a wrong `state` and none with the right
  /// one: a forged redirect must not end a sign-in, but a server that alters `state` causes the
  /// same. Connections that the receiver turned away: the browser's may have been among them, so
  /// perhaps the user did sign in. If the app is the receiver, the message says what the app passed
  /// on, since a mistake in the app looks like a user who did nothing.
  func endByTimeout(after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int) {
    let seconds = timeout.components.seconds
    let misses = misses.withLock(\.self)
    if misses.sawWrongState {
      end(
        SQOAuthError(
          .stateMismatch,
          "a redirect with a wrong state was refused, and no redirect with the right state came "
            + "within \(seconds) s"))
    } else if turnedAway > 0 {
      end(
        SQOAuthError(
          .redirectUnavailable,
          "no redirect came within \(seconds) s, but other programs opened too many connections to "
            + "the port of the redirect URI: the SDK closed \(turnedAway) of them, perhaps also the "
            + "browser's; end those programs and sign in again"))
    } else {
      let hint = misses.hint(for: receiver)
      end(
        SQOAuthError(
          .timedOut,
          "no redirect came within \(seconds) s\(hint); if the server showed an error page, for "
            + "example because it does not know the client or the redirect URI, the SDK cannot see it"
        ))
    }
  }

  /// Waits for the code; if the task is cancelled, throws as for a cancelled sign-in.
  func response() async throws(SQOAuthError) -> AuthorizationResponse {
    guard let result = await answer.value() else { throw .signInCancelled }
    return try result.get()
  }
}
