import Foundation
import SequencingOAuth
import SequencingOAuthSQLite
import SequencingOAuthSecretService

/// Stores by name: `file:PATH`, `encrypted:PATH`, `sqlite:PATH`, `encrypted-sqlite:PATH`,
/// `keyring:PATH@BUS`.
///
/// The key of an encrypted one is the passphrase in `SQ_STORE_PASSPHRASE`, or else the key file
/// `PATH.key`.
enum StoreAddress {
  static func open(_ address: String) async throws -> any TokenStore {
    let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw Misuse(message: "no store is named \(address)") }
    let place = String(parts[1])
    return switch parts[0] {
    case "file": FileTokenStore(path: place)
    case "sqlite": SQLiteTokenStore(path: place)
    case "encrypted-sqlite": SQLiteTokenStore(path: place, key: key(beside: place))
    case "keyring": try await keyring(place)
    case "encrypted": EncryptedFileTokenStore(path: place, key: key(beside: place))
    default: throw Misuse(message: "no kind of store is named \(parts[0])")
    }
  }

  /// A store whose service is named by the folder of its locks; its bus may have to start first.
  private static func keyring(_ place: String) async throws -> any TokenStore {
    let parts = place.split(separator: "@", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw Misuse(message: "no bus is named in \(place)") }
    while await !SecretServiceTokenStore.isAvailable(bus: parts[1]) {
      try await Task.sleep(for: .milliseconds(20))
    }
    return SecretServiceTokenStore(service: parts[0], folder: parts[0], bus: parts[1])
  }

  private static func key(beside path: String) -> StoreKey {
    guard let passphrase = ProcessInfo.processInfo.environment["SQ_STORE_PASSPHRASE"] else {
      return .file(path + ".key")
    }
    return .passphrase(passphrase)
  }
}
