import SequencingOAuth
import SequencingOAuthGRPC

extension Failure {
  /// Why a call failed, by gRPC's name of the status, and what a screen shows of it.
  init(_ error: RPCError) {
    let code = error.status.description.lowercased()
    switch error.status {
    case .cancelled where !error.isFromServer:
      self.init("cancelled", "it was interrupted", status: .cancelled)
    case .unauthenticated:
      // Where there was no token to send, the SDK says why.
      if !error.isFromServer, let cause = error.oauthError {
        self.init(cause)
        return
      }
      self.init(
        code,
        "Invalid credentials. Server challenge:\n"
          + (error.oauth2ChallengeHeader?.printable ?? "none"), status: .notAuthorized)
    default:
      self.init(
        code, "Unexpected RPC error \(error.status.rawValue): \(error.message.printable)",
        status: .notAuthorized)
      challenge = error.oauth2ChallengeHeader?.printable
      hint = Self.hint(error)
    }
  }

  private static func hint(_ error: RPCError) -> String? {
    switch error.status {
    case .deadlineExceeded where !error.isFromServer:
      "The server did not answer in time; --timeout gives it longer."
    case .permissionDenied where error.challenge?.error == .insufficientScope:
      signInForMore
    default:
      nil
    }
  }
}
