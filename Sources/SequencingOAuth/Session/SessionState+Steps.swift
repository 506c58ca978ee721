// The needs of a session's callers, and their next steps.
extension SessionState {
  /// The kinds of tokens that callers ask for.
  package enum Need: Sendable {
    /// A token that is valid now.
    case valid
    /// A token other than this access token, because a server refused it.
    case replacing(String)
    /// A token from a renewal that ended after ``SessionState/renewals`` had this value.
    case new(since: Int)
    /// A new token for an `AccountKeeper`; its renewal does not count as a use of the account.
    case kept(since: Int)
    /// The token for the timer, renewed if a renewal is due.
    case due
    /// A token for a part of the account's rights, instead of the account's token.
    case narrowed(NarrowedAccess)

    /// Whether the token is for an `AccountKeeper`.
    var isKeeping: Bool { if case .kept = self { true } else { false } }

    /// Whether the SDK itself needs the token, so that no caller with a time limit waits for it.
    var isOwn: Bool {
      switch self {
      case .kept, .due: true
      case .valid, .replacing, .new, .narrowed: false
      }
    }
  }

  /// The next step of a caller that needs a token.
  enum Step {
    case use(SQToken)
    /// Wait for the running change.
    case join(TokenChange)
    /// Start a renewal of this record and wait for it.
    case start(TokenChange, AccountRecord)
    /// Read the store, because there is no record in memory.
    case absent
    /// Look for a newer record in the store, because the one in memory cannot be renewed, or is of
    /// another client or server; fail with this error if there is none.
    case lapsed(SQOAuthError)
    case fail(SQOAuthError)
  }
}
