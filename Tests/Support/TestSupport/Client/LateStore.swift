package import Foundation
package import SequencingOAuth

/// A store that is opened later, for example when a service that several tests share has started.
///
/// Its calls wait until then.
package struct LateStore: SharedTokenStore, ReservingTokenStore, PagedTokenStore {
  package typealias Store = SharedTokenStore & ReservingTokenStore & PagedTokenStore

  private let store: Task<any Store, any Error>

  package init(_ make: @escaping @Sendable () async throws -> any Store) {
    store = Task { try await make() }
  }

  package func load(_ id: String) async throws -> AccountRecord? {
    try await store.value.load(id)
  }

  package func save(_ record: AccountRecord) async throws { try await store.value.save(record) }

  package func erase(_ id: String) async throws { try await store.value.erase(id) }

  package func list() async throws -> [String] { try await store.value.list() }

  package func entries(after key: Data?, limit: Int) async throws -> [AccountEntry] {
    try await store.value.entries(after: key, limit: limit)
  }

  package func lease(_ id: String) async throws -> AccountLease? {
    try await store.value.lease(id)
  }

  package func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    try await store.value.reserve(id, replacing: record)
  }
}
