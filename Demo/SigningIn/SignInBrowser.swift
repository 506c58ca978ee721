import SQFoundation
import SequencingOAuth

/// The browser of a command's sign-in, with immediate warnings about rejected redirects.
struct SignInBrowser: UserAgent {
  private let console: Console
  private let opener: @Sendable (URL) async throws -> Void

  init(_ console: Console, opener: @escaping @Sendable (URL) async throws -> Void) {
    self.console = console
    self.opener = opener
  }

  func open(_ url: URL) async throws {
    try await opener(url)
  }

  func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {
    console.warn("\(error.message); the sign-in still waits, and Ctrl-C cancels it")
  }
}
