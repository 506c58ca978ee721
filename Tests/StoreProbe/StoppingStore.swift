import Foundation
import SQBasics
import SequencingOAuth

/// A store that kills the process at a named step of a refresh.
///
/// For example, the step `save 1` is just before the first save, and `saved 1` is just after it.
struct StoppingStore: SharedTokenStore, ReservingTokenStore {
  let store: any TokenStore
  let steps: Steps

  /// The counts of the steps so far; the process is killed at the named step.
  final class Steps: @unchecked Sendable {
    private let last: String
    private let lock = NSLock()
    private var counts: [String: Int] = [:]

    init(until last: String) {
      self.last = last
    }

    func pass(_ name: String) {
      lock.withLock {
        counts[name, default: 0] += 1
        if "\(name) \(counts[name, default: 0])" == last { kill(getpid(), SIGKILL) }
      }
    }
  }

  func load(_ id: String) async throws -> AccountRecord? {
    steps.pass("load")
    defer { steps.pass("loaded") }
    return try await store.load(id)
  }

  func save(_ record: AccountRecord) async throws {
    steps.pass("save")
    try await store.save(record)
    steps.pass("saved")
  }

  func erase(_ id: String) async throws {
    try await store.erase(id)
  }

  func list() async throws -> [String] { try await store.list() }

  func lease(_ id: String) async throws -> AccountLease? {
    steps.pass("lease")
    guard let lease = try await store.shared.lease(id) else { return nil }
    steps.pass("leased")
    return AccountLease {
      steps.pass("release")
      lease.release()
      steps.pass("released")
    }
  }

  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    steps.pass("reserve")
    let reservation = try await store.reservation(id, replacing: record)
    steps.pass("reserved")
    return AccountReservation(
      writeAhead: { record in
        steps.pass("land")
        await reservation.writeAhead(record)
        steps.pass("landed")
      },
      release: {
        steps.pass("give back")
        reservation.release()
        steps.pass("given back")
      })
  }
}
