import Foundation
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport

extension StoreKind {
  /// The desktop's keyring, where this machine has one to start.
  static let keyring: [StoreKind] =
    if Requirement.keyring.missing.isEmpty || ProcessInfo.processInfo.environment["CI"] == "true" {
      [
        StoreKind(
          name: "keyring", open: { KeyringStore($0) },
          address: { "keyring:\($0.path)@\(SharedDesktop.address)" }, isInFolder: false)
      ]
    } else {
      []
    }
}

/// A keyring that the tests share, started by the first that needs it.
enum SharedDesktop {
  private static let folder = Result { try TemporaryFolder() }
  private static let start = Task {
    try await PrivateDesktop(in: folder.get(), keyring: true)
  }

  /// The address of its bus, which another process may have to wait for.
  static var address: String {
    _ = start
    return (try? folder.get()).map { PrivateDesktop.address(in: $0) } ?? ""
  }

  /// The address, once there is somebody who listens.
  static func ready() async throws -> String { try await start.value.address }
}

/// A store in the shared keyring; the folder's name is what keeps tests apart.
struct KeyringStore: TokenStore {
  private let store: Task<SecretServiceTokenStore, any Error>

  init(_ folder: TemporaryFolder) {
    let path = folder.path
    store = Task {
      SecretServiceTokenStore(
        service: path, folder: path, bus: try await SharedDesktop.ready())
    }
  }

  func load(_ id: String) async throws -> AccountRecord? { try await store.value.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.value.save(record) }
  func erase(_ id: String) async throws { try await store.value.erase(id) }
  func list() async throws -> [String] { try await store.value.list() }
  func all() async throws -> [AccountRecord] { try await store.value.all() }
  func lease(_ id: String) async throws -> AccountLease? { try await store.value.lease(id) }
}
