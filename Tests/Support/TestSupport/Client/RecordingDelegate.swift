import SQBasics
import SequencingOAuth

/// A delegate that records its calls and lets a test wait for them.
final class RecordingDelegate: AuthorizationDelegate, Sendable {
  enum Event: Sendable, Equatable {
    case authorized(String)
    case failed(SQOAuthError.Code)
    case cancelled
    /// A call of `userIsNotAuthorized()`, which the SDK must not make: this delegate has the
    /// methods for failed and cancelled sign-ins.
    case notAuthorized
  }

  private struct State {
    var events: [Event] = []
    var errors: [SQOAuthError] = []
    var tokens: [SQToken] = []
  }

  private let state = Locked(State())

  var events: [Event] { state.withLock(\.events) }
  var errors: [SQOAuthError] { state.withLock(\.errors) }
  var tokens: [SQToken] { state.withLock(\.tokens) }

  /// Waits for this number of calls or the end of the test's time, and returns the events so far.
  func events(_ count: Int) async -> [Event] {
    while events.count < count, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    return events
  }

  private func record(_ event: Event, error: SQOAuthError? = nil, token: SQToken? = nil) {
    state.withLock { state in
      state.events.append(event)
      if let error { state.errors.append(error) }
      if let token { state.tokens.append(token) }
    }
  }

  func userIsSuccessfullyAuthorized(_ token: SQToken) {
    record(.authorized(token.accessToken), token: token)
  }

  func userIsNotAuthorized() { record(.notAuthorized) }

  func userIsNotAuthorized(because error: SQOAuthError) {
    record(.failed(error.code), error: error)
  }

  func userDidCancelAuthorization() { record(.cancelled) }
}
