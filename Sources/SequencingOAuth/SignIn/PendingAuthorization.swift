import SQBasics

/// The wait of a sign-in for its redirect; it ends with the first valid response or error.
final class PendingAuthorization: Sendable {
  /// The result of offering a redirect to a sign-in.
  enum OfferResult: Sendable, Hashable {
    /// The redirect is the response to the sign-in, and was accepted.
    case taken
    /// The redirect is the response that was already accepted.
    ///
    /// A browser repeats a request if it has not received the page, and a link scanner may open the
    /// URL before the browser does.
    case repeated
    /// The redirect is for a different redirect URI.
    case notAddressed
    /// The redirect does not have this sign-in's `state`; the sign-in still waits.
    case wrongState
    /// The sign-in already got a different response, or has ended without one.
    case tooLate

    /// Whether the redirect is the response, accepted now or earlier.
    var isAnswer: Bool { self == .taken || self == .repeated }
  }

  let expectation: AuthorizationResponse.Expectation
  private let answer = OneShot<Result<AuthorizationResponse, SQOAuthError>>()
  /// The content of the accepted redirect; `nil` if none was accepted yet.
  private let accepted = OneShot<AuthorizationResponse.Content>()
  /// A lock that is held while a response is accepted, or while the wait ends for another reason.
  ///
  /// A second response at the same time then finds the content of the accepted response.
  private let offering = Locked(())
  private let rejectedRedirects = Locked(RejectedRedirects())
  /// The first error in a redirect without a `state`.
  let unboundError = OneShot<SQOAuthError>()
  /// The closure that gets the result of each offer.
  private let told: @Sendable (OfferResult) -> Void

  init(
    _ expectation: AuthorizationResponse.Expectation,
    told: @escaping @Sendable (OfferResult) -> Void = { _ in }
  ) {
    self.expectation = expectation
    self.told = told
  }

  /// Checks a redirect and ends the wait if it is the response; may be called on any thread.
  func offer(_ redirect: String) -> OfferResult {
    let result = judge(redirect)
    if result != .taken { told(result) }
    return result
  }

  private func judge(_ redirect: String) -> OfferResult {
    switch AuthorizationResponse.judge(redirect, against: expectation) {
    case .notAddressed:
      rejectedRedirects.withLock { $0.rejectedOtherAddress() }
      return .notAddressed
    case .wrongState(let error):
      rejectedRedirects.withLock { $0.rejectedState(saying: error) }
      if let error { unboundError.resolve(SQOAuthError(.stateMismatch, error.withoutState)) }
      return .wrongState
    case .unreadable(let error):
      rejectedRedirects.withLock { $0.rejectedSigned(because: error) }
      return .wrongState
    case .answer(let result):
      let content = AuthorizationResponse.Content(result)
      return offering.withLock { _ in
        guard answer.current == nil else { return recall(content) }
        // Tell the observer before the sign-in continues, so that its events are in order.
        told(.taken)
        accepted.resolve(content)
        answer.resolve(result)
        return .taken
      }
    }
  }

  /// Compares a redirect with the response that was accepted earlier, without accepting it.
  ///
  /// It is for a sign-in that has ended, and for an authorization request that a later request of
  /// the running sign-in has replaced.
  func recall(_ redirect: String) -> OfferResult {
    switch AuthorizationResponse.judge(redirect, against: expectation) {
    case .notAddressed: .notAddressed
    case .wrongState, .unreadable: .wrongState
    case .answer(let result): recall(AuthorizationResponse.Content(result))
    }
  }

  private func recall(_ content: AuthorizationResponse.Content) -> OfferResult {
    accepted.current == content ? .repeated : .tooLate
  }

  /// Whether a redirect was accepted.
  var isAnswered: Bool { accepted.current != nil }

  /// Ends the wait with an error; does nothing if a response was already accepted.
  func end(_ error: SQOAuthError) {
    offering.withLock { _ in _ = answer.resolve(.failure(error)) }
  }

  /// Ends the wait because of its time limit, with an error that gives the most likely reason.
  ///
  /// `turnedAway` is the number of connections that the receiver closed, and `refused` describes
  /// its last refused request.
  func endByTimeout(
    after timeout: Duration, receiver: RedirectReceiver, turnedAway: Int, refused: String?
  ) {
    end(
      rejectedRedirects.withLock(\.self).error(
        after: timeout, receiver: receiver, turnedAway: turnedAway, refused: refused))
  }

  /// Waits for the response; if the task is cancelled, throws the error of a cancelled sign-in.
  func response() async throws(SQOAuthError) -> AuthorizationResponse {
    guard let result = await answer.value() else { throw .signInCancelled }
    return try result.get()
  }
}
