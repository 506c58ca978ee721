import Foundation
import SequencingOAuth

/// A store in a service that several tests share.
///
/// Its calls wait until the service has started.
struct LateStore: SharedTokenStore, ReservingTokenStore, PagedTokenStore {
  typealias Store = SharedTokenStore & ReservingTokenStore & PagedTokenStore

  private let store: Task<any Store, any Error>

  init(_ make: @escaping @Sendable () async throws -> any Store) {
    store = Task { try await make() }
  }

  func load(_ id: String) async throws -> AccountRecord? { try await store.value.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.value.save(record) }
  func erase(_ id: String) async throws { try await store.value.erase(id) }
  func list() async throws -> [String] { try await store.value.list() }
  func entries(after key: Data?, limit: Int) async throws -> [AccountEntry] {
    try await store.value.entries(after: key, limit: limit)
  }
  func lease(_ id: String) async throws -> AccountLease? { try await store.value.lease(id) }
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    try await store.value.reserve(id, replacing: record)
  }
}
