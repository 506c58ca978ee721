import Foundation
import SequencingOAuth
import SequencingOAuthSQLite

/// Stores by name: `file:PATH`, `encrypted:PATH`, `sqlite:PATH`, `encrypted-sqlite:PATH`.
///
/// The key of an encrypted one is the passphrase in `SQ_STORE_PASSPHRASE`, or else the key file
/// `PATH.key`.
enum StoreAddress {
  static func open(_ address: String) throws -> any TokenStore {
    let parts = address.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw Misuse(message: "no store is named \(address)") }
    let place = String(parts[1])
    return switch parts[0] {
    case "file": FileTokenStore(path: place)
    case "sqlite": SQLiteTokenStore(path: place)
    case "encrypted-sqlite": SQLiteTokenStore(path: place, key: key(beside: place))
    case "encrypted": EncryptedFileTokenStore(path: place, key: key(beside: place))
    default: throw Misuse(message: "no kind of store is named \(parts[0])")
    }
  }

  private static func key(beside path: String) -> StoreKey {
    guard let passphrase = ProcessInfo.processInfo.environment["SQ_STORE_PASSPHRASE"] else {
      return .file(path + ".key")
    }
    return .passphrase(passphrase)
  }
}
