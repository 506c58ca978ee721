import Dispatch
import SequencingOAuth
import Synchronization

/// A reader of redirects from standard input, for redirects that the system does not deliver.
///
/// A user pastes a redirect, or a script writes it.
final class PastedRedirects: Sendable {
  private let oauth: SQOAuth
  private let console: Console
  private let inputHasEnded = Atomic(false)
  private let isReading = Atomic(false)

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

  /// Returns the message for a line that was not the answer, with the reason and advice.
  private static func refusal(of outcome: RedirectOutcome, _ start: String) -> String {
    switch outcome {
    case .foreignAddress:
      "That is not the answer: it does not start with \(start). Paste the whole address:"
    case .wrongState:
      "That is not the answer to this sign-in: it is for another sign-in, or only a part of "
        + "the address. Paste the whole address:"
    case .answered, .noSignIn, .tooLate:
      "That is not the answer to this sign-in. Paste the whole address:"
    }
  }

  /// Asks for the redirect, and reads lines until one is the answer or standard input ends.
  func read(for redirectURI: RedirectURI) {
    let start = Self.start(of: redirectURI)
    console.progress("When you have signed in, paste the address that your browser is sent to.")
    console.progress("It starts with \(start). Paste all of it:")
    read(startingWith: start) { [self] in
      inputHasEnded.store(true, ordering: .releasing)
      oauth.cancelSignIn()
    }
  }

  /// Asks for the redirect if the browser on another machine cannot reach this machine.
  ///
  /// It asks only if standard input is a terminal. The sign-in also accepts a redirect that reaches
  /// this machine.
  func offer(for redirectURI: RedirectURI) {
    guard InputLines.isTerminal, !isReading.load(ordering: .acquiring) else { return }
    console.progress(
      "If your browser is on another machine, it stops at an address that it cannot open.")
    console.progress("Paste that address here:")
    read(startingWith: Self.start(of: redirectURI)) {}
  }

  /// Returns the start of every redirect, without the port at a loopback address.
  private static func start(of redirectURI: RedirectURI) -> String {
    let text = redirectURI.string.prefix { $0 != "?" }
    guard redirectURI.isLoopback else { return String(text).onScreen }
    let host = text.dropFirst("http://".count).prefix { $0 != "/" }
    return "http://\(host)".onScreen
  }

  /// Returns the address in a line, without blanks, quotation marks, and the marks with which a
  /// terminal encloses a pasted text.
  static func redirect(in line: String) -> String {
    var text = line.split(whereSeparator: \.isWhitespace).joined()
    for mark in ["\u{1B}[200~", "\u{1B}[201~"] { text = text.replacing(mark, with: "") }
    for (open, close) in [("\"", "\""), ("'", "'"), ("<", ">")]
    where text.count > 1 && text.hasPrefix(open) && text.hasSuffix(close) {
      text = String(text.dropFirst().dropLast())
    }
    return text
  }

  private func read(startingWith start: String, atEnd end: @escaping @Sendable () -> Void) {
    isReading.store(true, ordering: .releasing)
    // The read gets its own thread, because it waits for the user.
    DispatchQueue(label: "sq-demo.redirects").async { [self] in
      defer { isReading.store(false, ordering: .releasing) }
      var lines = InputLines()
      while let line = lines.next(while: { oauth.isSigningIn }) {
        let redirect = Self.redirect(in: line)
        guard !redirect.isEmpty else { continue }
        let outcome = oauth.module.receiveRedirect(redirect)
        if outcome == .answered { return }
        console.progress(Self.refusal(of: outcome, start))
      }
      if oauth.isSigningIn { end() }
    }
  }
}
