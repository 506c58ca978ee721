import SQBasics
import SequencingOAuth
import TestSupport

/// An app's login screen that records the calls of its delegate methods.
final class Screen: AuthorizationDelegate {
  enum Event: Sendable {
    case authorized(SQToken)
    case notAuthorized(SQOAuthError)
    case cancelled
  }

  private let heard = Locked<[Event]>([])

  var events: [Event] { heard.withLock { $0 } }

  /// Returns the first event, after waiting for it.
  func event() async throws -> Event {
    try await eventually("the delegate is called") { events.first }
  }

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    heard.withLock { $0.append(.authorized(token)) }
  }

  func userIsNotAuthorized() {}

  func userIsNotAuthorized(because error: SQOAuthError) {
    heard.withLock { $0.append(.notAuthorized(error)) }
  }

  func userDidCancelAuthorization() {
    heard.withLock { $0.append(.cancelled) }
  }
}
