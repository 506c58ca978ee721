import SQBasics

/// The identity of the sign-in that a session's token comes from.
///
/// The next sign-in may be another user's, and that user's token must not be sent with this user's
/// requests.
struct SignInGeneration: Sendable, Hashable {
  /// The number of times the session had ended before this sign-in.
  let ends: Int
  /// The number of times another process's sign-in had replaced the session before this sign-in.
  let replacements: Int
  /// The sign-in's identifier in the record, ``AccountRecord/session``.
  let name: String?
}

extension TokenSession {
  /// The sign-in that the current token comes from; `nil` if there is no token.
  var generation: SignInGeneration? { decide(\.generation) }

  /// Returns the sign-in that a token comes from; `nil` if the token is not the current one.
  func generation(of token: SQToken) -> SignInGeneration? {
    decide { state in
      guard let current = state.token, current.isSame(as: token) else { return nil }
      return state.generation
    }
  }
}

extension SessionState {
  fileprivate var generation: SignInGeneration? {
    record.map { SignInGeneration(ends: ends, replacements: replacements, name: $0.session) }
  }
}
