import SequencingOAuth
import SequencingOAuthPipes

extension Failure {
  /// Creates a failure from a pipe's error and, if there was one, the sign-in that the pipe used.
  init(_ error: PipeError, signIn: CommandLineSignIn? = nil) {
    switch error {
    case .noAccess(let cause):
      self = signIn?.failure(cause) ?? Failure(cause)
    case .unreadable(let cause), .timedOut(let cause), .failed(let cause):
      self.init(cause)
    case .cancelled:
      self.init("cancelled", "the command was interrupted", status: .cancelled)
    case .refused(let refusal):
      self.init(refusal)
    }
  }

  /// Creates a failure from an error answer of an API.
  private init(_ refusal: PipeError.Refusal) {
    self.init(
      refusal.challenge?.error?.rawValue.onScreen ?? "http_\(refusal.status)",
      Self.reason(refusal) ?? "the API answered with status \(refusal.status)",
      status: .notAuthorized)
    challenge = refusal.challenge?.inWords
    if refusal.challenge?.error == .insufficientScope {
      hint = Self.signInForMore
    }
  }

  /// Returns the reason in the body of the answer, in the format of Google's APIs, or `nil`.
  private static func reason(_ refusal: PipeError.Refusal) -> String? {
    let words = JSONMessage.members(of: refusal.body)?["error"]["message"].string
    guard let words, !words.isEmpty else { return nil }
    let text = words.prefix(300).onScreen
    return "the API answered with status \(refusal.status): \(text)"
  }
}
