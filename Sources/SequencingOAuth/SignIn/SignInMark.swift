import Basics

/// Tells the sign-in that a session's token comes from from every other one.
///
/// The next one may be another user's, who is not to make this one's requests.
struct SignInMark: Sendable, Equatable {
  /// How often the session had ended.
  let ends: Int
  /// How often a sign-in of another process took the session's place.
  let replacements: Int
  /// ``AccountRecord/session``.
  let name: String?
}

extension TokenSession {
  /// Which sign-in the current token comes from; `nil` where there is none.
  var mark: SignInMark? { state.withLock { $0.core.mark } }

  /// The same, where this is the current token.
  func mark(of token: SQToken) -> SignInMark? {
    state.withLock { state in
      guard let current = state.core.token, current.isSame(as: token) else { return nil }
      return state.core.mark
    }
  }
}

extension SessionState {
  fileprivate var mark: SignInMark? {
    record.map { SignInMark(ends: ends, replacements: replacements, name: $0.session) }
  }
}
