import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A browser that shows the address when it does not open, and lets the sign-in wait for the redirect.
struct HelpfulBrowser: UserAgent {
  /// How long a signal may take that ended the browser's command, and ends the sign-in too.
  private static let grace: Duration = .milliseconds(300)

  let browser: any UserAgent
  /// Shows the address, and why the person has to open it.
  let show: @Sendable (_ address: String, _ reason: String) throws -> Void

  func open(_ url: URL) async throws {
    do {
      try await browser.open(url)
    } catch let error as SQOAuthError {
      switch error.code {
      case .browserUnavailable:
        try await Task.sleep(for: Self.grace)
        // What follows a semicolon is advice for the developer of an app.
        try show(url.absoluteString, String(error.message.prefix { $0 != ";" }))
      default:
        throw error
      }
    }
  }
}
