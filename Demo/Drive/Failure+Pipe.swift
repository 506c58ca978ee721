import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Failure {
  /// What a pipe reports; `signIn` is how it had access, where it had to sign in.
  init(_ error: PipeError, signIn: CommandLineSignIn? = nil) {
    switch error {
    case .noAccess(let cause):
      self = signIn?.failure(cause) ?? Failure(cause)
    case .unreadable(let cause), .timedOut(let cause), .failed(let cause):
      self.init(cause)
    case .cancelled:
      self.init("cancelled", "it was interrupted", status: .cancelled)
    case .refused(let refusal):
      self.init(refusal)
    }
  }

  /// What an API answered instead of what was asked.
  private init(_ refusal: PipeError.Refusal) {
    self.init(
      refusal.challenge?.error?.rawValue.printable ?? "http_\(refusal.status)",
      Self.reason(refusal) ?? "the API answered with status \(refusal.status)",
      status: .notAuthorized)
    challenge = refusal.challenge?.inWords
    if refusal.challenge?.error == .insufficientScope {
      hint = Self.signInForMore
    }
  }

  /// What Google's APIs, and those like them, say of an error.
  private static func reason(_ refusal: PipeError.Refusal) -> String? {
    struct Answer: Decodable {
      struct Fault: Decodable {
        let message: String
      }
      let error: Fault
    }
    guard let answer = try? JSONDecoder().decode(Answer.self, from: refusal.body),
      !answer.error.message.isEmpty
    else { return nil }
    let text = answer.error.message.prefix(300).printable
    return "the API says with status \(refusal.status): \(text)"
  }
}
