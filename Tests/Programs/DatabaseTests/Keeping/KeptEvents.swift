import SequencingOAuth
import SequencingOAuthBackend

@testable import SQBasics

/// The events of a keeper.
final class KeptEvents: Sendable {
  private let events = Locked<[String]>([])
  private let isRead = OneShot<Void>()

  init(_ keeper: AccountKeeper) {
    let stream = keeper.events()
    Task {
      for await event in stream {
        let text =
          switch event {
          case .refreshed(let id): "\(id) refreshed"
          case .takenOver(let id): "\(id) taken over"
          case .failed(let id, let error): "\(id) failed: \(error.code.rawValue)"
          case .ended(let id, let error): "\(id) ended: \(error.code.rawValue)"
          case .paused: "paused"
          case .storeFailed(let error): "store failed: \(error.code.rawValue)"
          }
        self.events.withLock { $0.append(text) }
      }
      self.isRead.resolve(())
    }
  }

  /// The events so far.
  var current: [String] { events.withLock { $0 } }

  /// Returns all events after the keeper has stopped.
  func all() async -> [String] {
    await isRead.wait()
    return current
  }
}
