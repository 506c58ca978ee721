import SQBasics

/// The requests that all servers of a ``Party`` got, in order, and the client's mistakes that the
/// servers found.
final class Journal: Sendable {
  private let state = Locked<(visits: [Visit], faults: [String])>(([], []))

  var visits: [Visit] { state.withLock(\.visits) }
  var faults: [String] { state.withLock(\.faults) }

  func add(_ visit: Visit) { state.withLock { $0.visits.append(visit) } }

  /// Notes a mistake of the client unless a rule holds.
  func expect(_ condition: Bool, _ rule: String, _ visit: Visit) {
    guard !condition else { return }
    state.withLock { $0.faults.append(visit.fault(rule)) }
  }
}
