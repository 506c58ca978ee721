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

  /// Takes a redirect to this logout's address; any thread may call this.
  ///
  /// Its `state` says whether it answers this logout. A redirect with another `state` ends the wait
  /// too, with an error. It can do no harm: the tokens are gone already.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult {
    guard let query = RedirectMatch.query(of: redirect, for: redirectURI) else {
      return .notAddressed
    }
    let states = FormCoding.mend(Substring(query)).filter { $0.name == "state" }
    let fits = states.count == 1 && states[0].value == state
    let result: Result<Void, SQOAuthError> = fits ? .success(()) : .failure(.logoutStateMismatch)
    guard answer.resolve(result) else { return fits && isAnswered ? .repeated : .tooLate }
    return fits ? .taken : .wrongState
  }

  /// Whether a redirect with the right `state` was taken.
  private var isAnswered: Bool {
    guard case .success = answer.current else { return false }
    return true
  }

  /// Ends the wait with an error; does nothing after a redirect was taken.
  func end(_ error: SQOAuthError) {
    answer.resolve(.failure(error))
  }

  /// Waits for the redirect.
  func response() async throws(SQOAuthError) {
    guard let result = await answer.value() else { throw .waitCancelled }
    try result.get()
  }
}

extension PendingLogout: Redacted {}

extension SQOAuthError {
  fileprivate static let logoutStateMismatch = SQOAuthError(
    .stateMismatch,
    "the redirect after the logout has no state or a wrong one, so it may answer another logout; the "
      + "tokens were forgotten here, and the user may still be logged in at the provider")
}
