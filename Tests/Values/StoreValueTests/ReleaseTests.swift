import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The closures of a store that are promised to be called once.
@Suite struct ReleaseTests {
  private final class Calls: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock(\.self) }
    func add() { state.withLock { $0 += 1 } }
  }

  /// The number of a closed file may already belong to another file.
  @Test func `a second release or end does not call the store again`() async {
    let calls = Calls()
    let lease = AccountLease { calls.add() }
    let observation = AccountObservation { calls.add() }
    let reservation = AccountReservation(writeAhead: { _ in calls.add() }) { calls.add() }
    for _ in 1...2 {
      lease.release()
      observation.end()
      await reservation.writeAhead(record("a"))
      reservation.release()
    }
    #expect(calls.count == 4)
  }
}
