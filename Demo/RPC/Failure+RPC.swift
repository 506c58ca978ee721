import SequencingOAuth
import SequencingOAuthGRPC

extension Failure {
  /// Creates a failure from the error of a call, with gRPC's name of the status as its code.
  init(_ error: RPCCallError) {
    let code = error.status.description.lowercased()
    switch error.status {
    case .cancelled where !error.isFromServer:
      self.init("cancelled", "the command was interrupted", status: .cancelled)
    case .unauthenticated:
      // If there was no token to send, the SDK's error says why.
      if !error.isFromServer, let cause = error.oauthError {
        self.init(cause)
        return
      }
      self.init(
        code,
        "Invalid credentials. Server challenge:\n"
          + (error.oauth2ChallengeHeader?.onScreen ?? "none"), status: .notAuthorized)
    default:
      self.init(
        code, "Unexpected RPC error \(error.status.rawValue): \(error.message.onScreen)",
        status: .notAuthorized)
      challenge = error.oauth2ChallengeHeader?.onScreen
      hint = Self.hint(error) ?? error.oauthError.flatMap(Self.option)
    }
  }

  private static func hint(_ error: RPCCallError) -> String? {
    switch error.status {
    case .deadlineExceeded where !error.isFromServer:
      "The server did not answer in time; --timeout gives it more time."
    case .permissionDenied where error.challenge?.error == .insufficientScope:
      signInForMore
    default:
      nil
    }
  }
}
