import SequencingOAuth
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Opens the server's page, and lets the sign-in wait where that cannot be done.
///
/// The SDK's own browser ends the sign-in then; a screen that shows the address can do better.
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

  /// Chooses who goes through the pages of the next sign-in.
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

  /// Plays the user on a page that no browser has opened.
  func play(_ address: String) {
    guard let url = URL(string: address) else { return }
    Task {
      do {
        try await visitor.open(url)
      } catch {
        let reason = (error as? SQOAuthError)?.message
        tell(.browserIsUnavailable(reason ?? "the sandbox's visitor could not sign in"))
      }
    }
  }
}
