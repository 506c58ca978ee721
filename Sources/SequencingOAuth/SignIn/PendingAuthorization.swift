import SQBasics

/// A sign-in that waits for its redirect; it ends with the first valid answer or the first error.
final class PendingAuthorization: Sendable {
  /// What happened to a redirect that was offered to a sign-in.
  enum OfferResult: Sendable, Hashable {
    /// The redirect is the answer, and was accepted.
    case taken
    /// The redirect is the answer that was accepted before: a browser repeats a request whose page it
    /// does not have, and a link scanner may come before the browser.
    case repeated
    /// The redirect goes to another redirect URI.
    case notAddressed
    /// The `state` of the redirect is not this sign-in's; the sign-in still waits.
    case wrongState
    /// The sign-in already had another answer, or has ended without one.
    case tooLate

    /// Whether the redirect is the answer, for the first time or again.
    var isAnswer: Bool { self == .taken || self == .repeated }
  }

  let expectation: AuthorizationResponse.Expectation
  private let answer = OneShot<Result<AuthorizationResponse, SQOAuthError>>()
  /// What the accepted redirect said; `nil` until there is one.
  private let accepted = OneShot<AuthorizationResponse.Content>()
  /// Held while an answer is accepted, so that one that comes at the same time finds its content.
  private let offering = Locked(())
  private let misses = Locked(RedirectMisses())
  /// The first error that came in a redirect without a `state`.
  let unboundError = OneShot<SQOAuthError>()

  init(_ expectation: AuthorizationResponse.Expectation) {
    self.expectation = expectation
  }

  /// Checks a redirect and ends the wait if it is the answer; any thread may call this.
  func offer(_ redirect: String) -> OfferResult {
    switch AuthorizationResponse.judge(redirect, against: expectation) {
    case .notAddressed:
      misses.withLock { $0.missedAddress() }
      return .notAddressed
    case .wrongState(let error):
      misses.withLock { $0.missedState(saying: error) }
      if let error { unboundError.resolve(SQOAuthError(.stateMismatch, error.withoutState)) }
      return .wrongState
    case .answer(let result):
      let content = AuthorizationResponse.Content(result)
      return offering.withLock { _ in
        guard answer.resolve(result) else { return recall(content) }
        accepted.resolve(content)
        return .taken
      }
    }
  }

  /// Says what a redirect is to a sign-in that has ended; it never becomes the answer.
  func recall(_ redirect: String) -> OfferResult {
    switch AuthorizationResponse.judge(redirect, against: expectation) {
    case .notAddressed: .notAddressed
    case .wrongState: .wrongState
    case .answer(let result): recall(AuthorizationResponse.Content(result))
    }
  }

  private func recall(_ content: AuthorizationResponse.Content) -> OfferResult {
    accepted.current == content ? .repeated : .tooLate
  }

  /// Whether a redirect was accepted.
  var isAnswered: Bool { accepted.current != nil }

  /// Ends the wait with an error; does nothing after an answer was accepted.
  func end(_ error: SQOAuthError) {
    answer.resolve(.failure(error))
  }

  /// Ends the wait because the time is over; the error gives the most likely reason.
  ///
  /// The receiver may have turned connections away, and `refused` says what it refused last.
  func endByTimeout(
    after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int, refused: String?
  ) {
    end(
      misses.withLock(\.self).error(
        after: timeout, receiver: receiver, turnedAway: turnedAway, refused: refused))
  }

  /// Waits for the code; if the task is cancelled, throws as for a cancelled sign-in.
  func response() async throws(SQOAuthError) -> AuthorizationResponse {
    guard let result = await answer.value() else { throw .signInCancelled }
    return try result.get()
  }
}
