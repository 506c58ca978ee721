import Dispatch
import SequencingOAuth
import Synchronization

/// Redirects that the system brings to no program, read from standard input, where a person or a
/// script puts them.
final class PastedRedirects: Sendable {
  private let oauth: SQOAuth
  private let console: Console
  private let inputHasEnded = Atomic(false)

  init(_ oauth: SQOAuth, _ console: Console) {
    self.oauth = oauth
    self.console = console
  }

  /// Why the sign-in was cancelled, if it was for want of a redirect.
  var failure: Failure? {
    guard inputHasEnded.load(ordering: .acquiring) else { return nil }
    return Failure(
      SQOAuthError(.cancelled, "standard input ended before the redirect was pasted"))
  }

  /// Why a line was not the answer, and what to do.
  private static func refusal(of outcome: RedirectOutcome, _ start: String) -> String {
    switch outcome {
    case .foreignAddress:
      "That is not the answer: it is not an address at \(start). Paste the whole address:"
    case .wrongState:
      "That is not the answer to this sign-in but to another one, or not all of it. "
        + "Paste the whole address:"
    case .answered, .noSignIn, .tooLate:
      "That is not the answer to this sign-in. Paste the whole address:"
    }
  }

  /// Asks for the redirect, and reads lines until one is the answer or there are no more.
  func read(for redirectURI: RedirectURI) {
    let start = redirectURI.string.prefix { $0 != "?" }.description.printable
    console.progress("When you have signed in, paste the address that your browser is sent to.")
    console.progress("It starts with \(start), and is needed whole:")
    // A thread of its own, since the read waits for a person.
    DispatchQueue(label: "sq-demo.redirects").async { [self] in
      while let line = readLine() {
        guard oauth.isSigningIn else { return }
        let redirect = line.split(whereSeparator: \.isWhitespace).joined()
        guard !redirect.isEmpty else { continue }
        let outcome = oauth.module.receiveRedirect(redirect)
        if outcome == .answered { return }
        console.progress(Self.refusal(of: outcome, start))
      }
      inputHasEnded.store(true, ordering: .releasing)
      oauth.cancelSignIn()
    }
  }
}
