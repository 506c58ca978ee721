public import SQBasics
public import SequencingOAuth

/// The source of the access token that a channel's calls carry.
public enum RPCCredential: Sendable {
  /// The calls carry no token.
  case none
  /// The calls carry this token, for programs that get a token from elsewhere.
  ///
  /// If the server rejects it, the call fails.
  case accessToken(String)
  /// Each call carries a valid token of this account, refreshed first if necessary.
  ///
  /// A call belongs to the user who is signed in when it starts. If another user signs in while it
  /// waits for a token, the call is not sent, and fails with `SQOAuthError.Code.sessionReplaced`.
  case account(AuthorizationModule)
}

extension RPCCredential: Redacted {
  /// The kind of credential, with the account's identifier but without a token.
  public var description: String {
    switch self {
    case .none: "none"
    case .accessToken: "access token"
    case .account(let module): "account \(module.accountID)"
    }
  }
}
