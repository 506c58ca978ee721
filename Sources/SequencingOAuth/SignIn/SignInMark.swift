import Basics

/// Identifies the sign-in that a session's token comes from.
///
/// The next sign-in may be another user's, and must not make this user's requests.
struct SignInMark: Sendable, Equatable {
  /// How often the session had ended.
  let ends: Int
  /// How often a sign-in of another process took the session's place.
  let replacements: Int
  /// ``AccountRecord/session``.
  let name: String?
}

extension TokenSession {
  /// Which sign-in the current token comes from; `nil` when there is no token.
  var mark: SignInMark? { decide(\.mark) }

  /// Which sign-in a token comes from, if it is the current token.
  func mark(of token: SQToken) -> SignInMark? {
    decide { state in
      guard let current = state.token, current.isSame(as: token) else { return nil }
      return state.mark
    }
  }
}

extension SessionState {
  fileprivate var mark: SignInMark? {
    record.map { SignInMark(ends: ends, replacements: replacements, name: $0.session) }
  }
}
