import Foundation
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport

extension StoreKind {
  /// The desktop's keyring, where this machine has one to start.
  static let keyring: [StoreKind] =
    if Requirement.keyring.missing.isEmpty || ProcessInfo.processInfo.environment["CI"] == "true" {
      [StoreKind(name: "keyring") { KeyringStore($0) }]
    } else {
      []
    }
}

/// A store in a keyring that all tests share; the folder's name is what keeps them apart.
struct KeyringStore: TokenStore {
  static let desktop = Task { try await PrivateDesktop.withKeyring() }

  private let store: Task<SecretServiceTokenStore, any Error>

  init(_ folder: TemporaryFolder) {
    let path = folder.path
    store = Task {
      SecretServiceTokenStore(
        service: path, folder: path, bus: try await Self.desktop.value.address)
    }
  }

  func load(_ id: String) async throws -> AccountRecord? { try await store.value.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.value.save(record) }
  func erase(_ id: String) async throws { try await store.value.erase(id) }
  func list() async throws -> [String] { try await store.value.list() }
  func all() async throws -> [AccountRecord] { try await store.value.all() }
  func lease(_ id: String) async throws -> AccountLease? { try await store.value.lease(id) }
}
