import SQBasics

/// A logout at the provider that waits for its redirect.
///
/// - SeeAlso: OpenID Connect RP-Initiated Logout 1.0, section 3
final class PendingLogout: Sendable {
  let redirectURI: String
  let state: String
  private let answer = OneShot<Result<Void, SQOAuthError>>()

  init(redirectURI: String, state: String) {
    self.redirectURI = redirectURI
    self.state = state
  }

  /// Accepts a redirect to this logout's address; may be called on any thread.
  ///
  /// Its `state` shows whether it belongs to this logout. A redirect with a wrong `state` also ends
  /// the wait, with an error. This does no harm, because the tokens are already erased.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult {
    guard let fits = fits(redirect) else { return .notAddressed }
    let result: Result<Void, SQOAuthError> = fits ? .success(()) : .failure(.logoutStateMismatch)
    guard answer.resolve(result) else { return fits && isAnswered ? .repeated : .tooLate }
    return fits ? .taken : .wrongState
  }

  /// Returns whether a redirect has this logout's `state`; `nil` if it is to another address.
  func fits(_ redirect: String) -> Bool? {
    guard let query = RedirectMatch.query(of: redirect, for: redirectURI) else { return nil }
    let states = FormCoding.mend(Substring(query)).filter { $0.name == "state" }
    return states.count == 1 && states[0].value == state
  }

  /// Whether the wait has ended.
  var isOver: Bool { answer.current != nil }

  /// Whether a redirect with the correct `state` was accepted.
  private var isAnswered: Bool {
    guard case .success = answer.current else { return false }
    return true
  }

  /// Ends the wait with an error; does nothing if a redirect was already accepted.
  func end(_ error: SQOAuthError) {
    answer.resolve(.failure(error))
  }

  /// Waits until a redirect is accepted, or throws the error that ended the wait.
  func response() async throws(SQOAuthError) {
    guard let result = await answer.value() else { throw .waitCancelled }
    try result.get()
  }
}

extension PendingLogout: Redacted {}

extension SQOAuthError {
  fileprivate static let logoutStateMismatch = SQOAuthError(
    .stateMismatch,
    "the redirect after the logout has no state or a wrong one, so it may belong to another logout; "
      + "the SDK has forgotten the tokens, but the user may still be logged in at the provider")
}
