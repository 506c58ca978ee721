// What the callers of a session need, and what they do next.
extension SessionState {
  /// The kinds of tokens that callers ask for.
  package enum Need: Sendable {
    /// A token that is valid now.
    case valid
    /// A token other than this access token, which a server refused.
    case replacing(String)
    /// A token from a renewal that ended after the caller read this count of renewals.
    case new(since: Int)
    /// A renewed token for a keeper, whose renewals do not count as a use of the account.
    case kept(since: Int)
    /// The token of the timer: a renewed one if it is time for a renewal.
    case due

    /// Whether a keeper asks.
    var isKeeping: Bool { if case .kept = self { true } else { false } }

    /// Whether the SDK asks for itself, and so has no caller whose time is limited.
    var isOwn: Bool {
      switch self {
      case .kept, .due: true
      case .valid, .replacing, .new: false
      }
    }
  }

  /// The next step of a caller that needs a token.
  enum Step {
    case use(SQToken)
    /// The caller waits for the change that is under way.
    case join(TokenChange)
    /// The caller starts a renewal of this record and waits for it.
    case start(TokenChange, AccountRecord)
    /// The caller reads the store, since there is no record in memory.
    case absent
    case fail(SQOAuthError)
  }
}
