import Dispatch
import SQBasics
import SequencingOAuth
import Synchronization

/// A reader of redirects from standard input, for redirects that the system does not deliver.
///
/// A user pastes a redirect, or a script writes it.
final class PastedRedirects: Sendable {
  private let signIn: PendingSignIn
  private let console: Console
  private let isReading = Atomic(false)
  private let isOver = Atomic(false)
  private let end = OneShot<End>()

  /// Why the reading ended.
  private enum End: Sendable {
    /// A line was the redirect of the sign-in.
    case answered
    /// Standard input ended, or the sign-in did.
    case over
    /// Too many lines were not the redirect.
    case refused
  }

  /// The maximum number of wrong lines, so that the reading ends even if the input has no end.
  static let maximumRefusals = 20

  init(_ signIn: PendingSignIn, _ console: Console) {
    self.signIn = signIn
    self.console = console
  }

  /// Returns the message for a line that was not the redirect, with the reason and advice.
  private func refusal(of outcome: RedirectOutcome) -> String {
    switch outcome {
    case .foreignAddress:
      "That is not the answer: it does not start with \(start). Paste the whole address:"
    case .wrongState:
      "That is not the answer: it is for another sign-in, or only a part of the address. Paste "
        + "the whole address:"
    case .answered, .noSignIn, .tooLate:
      "That is not the answer to this sign-in. Paste the whole address:"
    }
  }

  /// The start of every redirect.
  private var start: String { String(signIn.redirectURI.prefix { $0 != "?" }).onScreen }

  /// Asks for the redirect, and reads lines until a line is the redirect or standard input ends.
  func read() {
    console.progress("When you have signed in, paste the address that your browser is sent to.")
    console.progress("It starts with \(start). Paste all of it:")
    startReading()
  }

  /// Asks for the redirect if the browser on another machine cannot reach this machine.
  ///
  /// It asks only if standard input is a terminal. The sign-in also accepts a redirect that reaches
  /// this machine.
  func offer() {
    guard InputLines.isTerminal, !isReading.load(ordering: .acquiring) else { return }
    console.progress(
      "If your browser is on another machine, it stops at an address that it cannot open.")
    console.progress("Paste that address here:")
    startReading()
  }

  /// Waits while lines are read, until the end of the sign-in cancels the task.
  ///
  /// If `isNeeded` is `true`, the redirect cannot arrive in any other way.
  ///
  /// - Throws: `SQOAuthError.Code.cancelled` if standard input ended without a redirect that is
  ///   needed, or if too many lines were not the redirect.
  func finish(isNeeded: Bool) async throws(SQOAuthError) {
    guard isReading.load(ordering: .acquiring), let end = await end.value() else { return }
    switch end {
    case .over where isNeeded:
      throw SQOAuthError(.cancelled, "standard input ended before the redirect was pasted")
    case .refused:
      throw SQOAuthError(
        .cancelled, "\(Self.maximumRefusals) lines of standard input were not the redirect")
    case .over, .answered: return
    }
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

  /// Ends the reading, so that later lines stay for other parts of the program.
  func stop() { isOver.store(true, ordering: .releasing) }

  /// Reads lines until a line is the redirect, and returns why the reading ended.
  private func readLines() -> End {
    var lines = InputLines()
    var refusals = 0
    // The first line of an address that a window or a mail program may have broken into two lines.
    var part = ""
    while let line = lines.next(while: { !isOver.load(ordering: .acquiring) }) {
      let redirect = Self.redirect(in: line)
      guard !redirect.isEmpty else { continue }
      let refusal: String
      if InputLines.isCutOff(line) {
        refusal = Self.cutOff
      } else {
        if !part.isEmpty, !redirect.hasPrefix(signIn.redirectURI.prefix { $0 != "?" }),
          signIn.receiveRedirect(part + redirect) == .answered
        {
          return .answered
        }
        let outcome = signIn.receiveRedirect(redirect)
        guard outcome != .answered else { return .answered }
        part = outcome == .wrongState ? redirect : ""
        refusal = self.refusal(of: outcome)
      }
      console.progress(refusal)
      refusals += 1
      guard refusals < Self.maximumRefusals else { return .refused }
    }
    return .over
  }

  /// The message for a line whose end the terminal has dropped.
  private static let cutOff =
    "The terminal has cut that address off: it keeps \(InputLines.maximumOfTerminal) bytes of a "
    + "line. Press Ctrl-C, enter 'stty -icanon', and sign in again; 'stty icanon' undoes it."

  private func startReading() {
    isReading.store(true, ordering: .releasing)
    // The read gets its own thread, because it waits for the user.
    DispatchQueue(label: "sq-demo.redirects").async { [self] in
      end.resolve(readLines())
    }
  }
}
