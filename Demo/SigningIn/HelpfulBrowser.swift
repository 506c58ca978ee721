import SQFoundation
import SequencingOAuth

/// A browser that shows the address if no window opens, while the sign-in waits for the redirect.
struct HelpfulBrowser: UserAgent {
  /// The wait after a browser command has failed.
  ///
  /// If a signal ended the command, the same signal can end the sign-in during this wait.
  private static let grace: Duration = .milliseconds(300)

  let browser: any UserAgent
  /// A closure that shows the address, and the reason why the user must open it.
  let show: @Sendable (_ address: String, _ reason: String) throws -> Void

  func open(_ url: URL) async throws {
    do {
      try await browser.open(url)
    } catch let error as SQOAuthError {
      switch error.code {
      case .browserUnavailable:
        try await Task.sleep(for: Self.grace)
        // After the semicolon, the message contains advice for an app's developer.
        try show(url.absoluteString, error.message.firstClause)
      default:
        throw error
      }
    }
  }
}
