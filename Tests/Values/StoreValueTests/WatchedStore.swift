import SQBasics
import SequencingOAuth

/// A store in front of another store, which counts the calls that take leases and erase accounts.
final class WatchedStore: SharedTokenStore {
  private let store: any SharedTokenStore
  private let counts = Locked((leases: 0, erasures: 0))

  init(_ store: any SharedTokenStore) {
    self.store = store
  }

  var leases: Int { counts.withLock(\.leases) }
  var erasures: Int { counts.withLock(\.erasures) }

  func load(_ id: String) async throws -> AccountRecord? { try await store.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.save(record) }
  func list() async throws -> [String] { try await store.list() }

  func erase(_ id: String) async throws {
    counts.withLock { $0.erasures += 1 }
    try await store.erase(id)
  }

  func lease(_ id: String) async throws -> AccountLease? {
    counts.withLock { $0.leases += 1 }
    return try await store.lease(id)
  }
}
