public import Basics
public import SequencingOAuth

/// Whose access token the calls of a channel carry.
public enum RPCCredential: Sendable {
  /// None.
  case none
  /// This one, for programs that are given a token; when the server refuses it, that is the end.
  case accessToken(String)
  /// The account's: one that is valid for each call, refreshed where it has to be.
  case account(AuthorizationModule)
}

extension RPCCredential: Redacted {
  /// The kind, without a token.
  public var description: String {
    switch self {
    case .none: "none"
    case .accessToken: "access token"
    case .account(let module): "account \(module.accountID)"
    }
  }
}
