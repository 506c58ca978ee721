import SequencingOAuth

/// A store in a service that several tests share.
///
/// Its calls wait until the service has started.
struct LateStore: TokenStore {
  private let store: Task<any TokenStore, any Error>

  init(_ make: @escaping @Sendable () async throws -> any TokenStore) {
    store = Task { try await make() }
  }

  func load(_ id: String) async throws -> AccountRecord? { try await store.value.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.value.save(record) }
  func erase(_ id: String) async throws { try await store.value.erase(id) }
  func list() async throws -> [String] { try await store.value.list() }
  func all() async throws -> [AccountRecord] { try await store.value.all() }
  func lease(_ id: String) async throws -> AccountLease? { try await store.value.lease(id) }
  func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws -> AccountReservation {
    try await store.value.reserve(id, replacing: record)
  }
}
