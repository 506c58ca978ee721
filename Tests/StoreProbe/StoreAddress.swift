import Foundation
import SequencingOAuth
import SequencingOAuthPostgreSQL
import SequencingOAuthSQLite
import SequencingOAuthSecretService

/// Opens stores by address.
///
/// The addresses are `file:PATH`, `encrypted:PATH`, `sqlite:PATH`, `encrypted-sqlite:PATH`,
/// `keyring:FOLDER@BUS`, `desktop:FOLDER@BUS`, `keyless-desktop:FOLDER/tokens.sealed`,
/// `keyring-of:SERVICE`, `desktop-of:SERVICE` and `postgresql://…`. The two addresses that end with
/// `-of` use the bus and the folders of the environment. A PostgreSQL store has the key that all
/// tests use.
///
/// The key of an encrypted store is the passphrase in `SQ_STORE_PASSPHRASE`, or else the key file
/// `PATH.key`.
enum StoreAddress {
  static func open(_ address: String) async throws -> any TokenStore {
    let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw Misuse(message: "no store is named \(address)") }
    let place = String(parts[1])
    return switch parts[0] {
    case "file": FileTokenStore(path: place)
    case "sqlite": SQLiteTokenStore(path: place, key: nil)
    case "encrypted-sqlite": SQLiteTokenStore(path: place, key: key(beside: place))
    case "keyring": try await keyring(place)
    case "keyring-of": try SecretServiceTokenStore(service: place)
    case "desktop": try await desktop(place)
    case "keyless-desktop": keyless(place)
    case "desktop-of": try DesktopTokenStore(service: place)
    case "postgresql":
      // All tests encrypt the tokens in their PostgreSQL databases with this key.
      PostgreSQLTokenStore(connection: address, key: .raw(Data(repeating: 7, count: 32)))
    case "encrypted": EncryptedFileTokenStore(path: place, key: key(beside: place))
    default: throw Misuse(message: "no kind of store is named \(parts[0])")
    }
  }

  /// Splits `FOLDER@BUS`, waits for the keyring on the bus, and returns the two parts.
  ///
  /// The folder's path is also the `service` of the store.
  private static func session(_ place: String) async throws -> (folder: String, bus: String) {
    let parts = place.split(separator: "@", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw Misuse(message: "no bus is named in \(place)") }
    while await !SecretServiceTokenStore.isAvailable(bus: parts[1]) {
      try await Task.sleep(for: .milliseconds(20))
    }
    return (parts[0], parts[1])
  }

  private static func keyring(_ place: String) async throws -> any TokenStore {
    let (folder, bus) = try await session(place)
    return SecretServiceTokenStore(service: folder, folder: folder, bus: bus)
  }

  private static func desktop(_ place: String) async throws -> any TokenStore {
    let (folder, bus) = try await session(place)
    return DesktopTokenStore(service: folder, folder: folder, bus: bus, hasDisplay: false)
  }

  private static func keyless(_ path: String) -> any TokenStore {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    return DesktopTokenStore(
      service: folder, folder: folder, bus: "unix:path=/nowhere", hasDisplay: false)
  }

  private static func key(beside path: String) -> StoreKey {
    guard let passphrase = ProcessInfo.processInfo.environment["SQ_STORE_PASSPHRASE"] else {
      return .file(path + ".key")
    }
    return .passphrase(passphrase)
  }
}
