import Foundation
import SQBasics
import SequencingOAuth

/// A delegate that records the notifications about a session as words.
final class RefreshRecorder: TokenRefreshDelegate, Sendable {
  private let state = Locked<[SessionEvent]>([])

  var events: [SessionEvent] { state.withLock(\.self) }
  /// The events in words, for example `refreshed T2`, `taken over T2`, `ended signedOut` or
  /// `failed server_error`.
  var words: [String] { events.map(\.word) }

  /// Waits for this number of calls or the end of the test's time, and returns the words so far.
  func words(_ count: Int) async -> [String] {
    while events.count < count, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    return words
  }

  func tokenIsRefreshed(_ token: SQToken) { record(.refreshed(token)) }
  func tokenIsTakenOver(_ token: SQToken) { record(.takenOver(token)) }
  func sessionIsReplaced(_ token: SQToken) { record(.replaced(token)) }
  func tokenRefreshDidFail(_ error: SQOAuthError) { record(.refreshFailed(error)) }
  func sessionEndsSoon(_ date: Date) { record(.endsSoon(date)) }
  func sessionDidEnd(_ reason: SessionEnd) { record(.ended(reason)) }

  func record(_ event: SessionEvent) { state.withLock { $0.append(event) } }

  /// Returns a recorder that records the events of a stream until the stream ends.
  static func listening(to stream: AsyncStream<SessionEvent>) -> RefreshRecorder {
    let recorder = RefreshRecorder()
    Task { for await event in stream { recorder.record(event) } }
    return recorder
  }
}

extension SessionEvent {
  /// The event in a word or two.
  var word: String {
    switch self {
    case .refreshed(let token): "refreshed \(token.accessToken)"
    case .takenOver(let token): "taken over \(token.accessToken)"
    case .replaced(let token): "replaced \(token.accessToken)"
    case .idTokenIgnored(let error): "ignored \(error.code)"
    case .endsSoon(let date): "ends soon \(Int(date.timeIntervalSince1970))"
    case .refreshFailed(let error): "failed \(error.code)"
    case .ended(.signedOut): "ended signedOut"
    case .ended(.revoked): "ended revoked"
    case .ended(.loggedOut): "ended loggedOut"
    case .ended(.refused(let error)): "ended refused \(error.code)"
    }
  }
}
