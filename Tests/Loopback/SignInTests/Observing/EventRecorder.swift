import SQBasics
import SequencingOAuth

/// The events that an observer has got.
final class EventRecorder: Sendable {
  private let recorded = Locked<[ClientEvent]>([])

  var events: [ClientEvent] { recorded.withLock(\.self) }

  /// Creates an observer that records its events in this recorder.
  func observer(
    namesAccounts: Bool = false, requestFields: ClientObserver.RequestFields? = nil
  ) -> ClientObserver {
    ClientObserver(namesAccounts: namesAccounts, requestFields: requestFields) { [self] event in
      recorded.withLock { $0.append(event) }
    }
  }

  /// The requests that have ended, as `PURPOSE STATUS` or, if repeated, `PURPOSE STATUS attempt N`.
  ///
  /// The status is 0 if no response came.
  var requests: [String] {
    events.compactMap { event in
      guard case .request(let request) = event.subject, case .end = event.phase else { return nil }
      let attempt = request.attempt > 1 ? " attempt \(request.attempt)" : ""
      return "\(request.purpose) \(request.status ?? 0)\(attempt)"
    }
  }

  /// The refreshes that have ended.
  var refreshes: [ClientEvent.Refresh] {
    events.compactMap { event in
      guard case .refresh(let refresh) = event.subject, case .end = event.phase else { return nil }
      return refresh
    }
  }

  func moments(_ isWanted: (ClientEvent.Subject) -> Bool) -> [ClientEvent] {
    events.filter { $0.phase == .moment && isWanted($0.subject) }
  }

  func forget() { recorded.withLock { $0 = [] } }
}
