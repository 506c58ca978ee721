import SQFoundation
import SequencingOAuth
import Synchronization

/// A browser that opens the server's page or, if that fails, lets the user open it.
///
/// The SDK's own browser would end the sign-in with an error, but a screen can show the address.
final class TourBrowser: UserAgent {
  private let browser: any UserAgent
  private let visitor: any UserAgent
  private let tell: @Sendable (Coordinator.Event) -> Void
  private let isPlayed = Atomic(false)

  init(
    _ browser: any UserAgent, visitor: any UserAgent,
    tell: @escaping @Sendable (Coordinator.Event) -> Void
  ) {
    self.browser = browser
    self.visitor = visitor
    self.tell = tell
  }

  /// Selects the browser or the simulated user for the pages of the next sign-in.
  func use(_ player: Coordinator.Player) {
    isPlayed.store(player == .visitor, ordering: .relaxed)
  }

  func open(_ url: URL) async throws {
    try Task.checkCancellation()
    tell(.pageIsReady(url.absoluteString))
    guard !isPlayed.load(ordering: .relaxed) else { return try await visitor.open(url) }
    do {
      try await browser.open(url)
    } catch let error as SQOAuthError where error.code == .browserUnavailable {
      tell(.browserIsUnavailable(error.message))
    }
  }

  func didRefuse(_ error: SQOAuthError, for signIn: PendingSignIn) {
    tell(.redirectIsRefused(error.message))
  }

  /// Makes the simulated user sign in at a page's address, instead of the user in a browser.
  func play(_ address: String) {
    guard let url = URL(string: address) else { return }
    Task {
      do {
        try await visitor.open(url)
      } catch {
        let reason = (error as? SQOAuthError)?.message
        tell(.visitorDidFail(reason ?? "the page could not be read"))
      }
    }
  }
}
