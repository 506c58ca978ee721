import SequencingOAuth
import SequencingOAuthBackend

@testable import SQBasics

/// The events of a keeper so far.
final class KeptEvents: Sendable {
  private let events = Locked<[String]>([])

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
    }
  }

  var all: [String] { events.withLock { $0 } }
}
