import Dispatch
import SequencingOAuth
import Synchronization

/// Reads redirects from standard input, if the system does not deliver them to this program.
///
/// A user pastes them there, or a script writes them.
final class PastedRedirects: Sendable {
  private let oauth: SQOAuth
  private let console: Console
  private let inputHasEnded = Atomic(false)

  init(_ oauth: SQOAuth, _ console: Console) {
    self.oauth = oauth
    self.console = console
  }

  /// The failure if the sign-in was cancelled because standard input ended without a redirect.
  var failure: Failure? {
    guard inputHasEnded.load(ordering: .acquiring) else { return nil }
    return Failure(
      SQOAuthError(.cancelled, "standard input ended before the redirect was pasted"))
  }

  /// The message for a line that was not the answer: the reason, and what to do.
  private static func refusal(of outcome: RedirectOutcome, _ start: String) -> String {
    switch outcome {
    case .foreignAddress:
      "That is not the answer: it does not start with \(start). Paste the whole address:"
    case .wrongState:
      "That is not the answer to this sign-in: it answers another one, or it is only a part of "
        + "the address. Paste the whole address:"
    case .answered, .noSignIn, .tooLate:
      "That is not the answer to this sign-in. Paste the whole address:"
    }
  }

  /// Asks for the redirect, and reads lines until one is the answer or standard input ends.
  func read(for redirectURI: RedirectURI) {
    let start = redirectURI.string.prefix { $0 != "?" }.description.onScreen
    console.progress("When you have signed in, paste the address to which your browser is sent.")
    console.progress("It starts with \(start). Paste all of it:")
    // The read gets a thread of its own, since it waits for the user.
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
