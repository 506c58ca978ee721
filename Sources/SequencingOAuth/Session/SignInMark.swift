import SQBasics

/// Identifies the sign-in from which a session's token comes.
///
/// The next sign-in may be another user's, and that user's token must not be sent with this user's
/// requests.
struct SignInMark: Sendable, Equatable {
  /// How many times the session had ended by then.
  let ends: Int
  /// How many times a sign-in of another process had replaced the session by then.
  let replacements: Int
  /// The sign-in's name in the record, ``AccountRecord/session``.
  let name: String?
}

extension TokenSession {
  /// The sign-in from which the current token comes; `nil` if there is no token.
  var mark: SignInMark? { decide(\.mark) }

  /// The sign-in from which a token comes; `nil` if that token is not the current one.
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
