import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService

/// An account in a store; many programs refresh its token all the time.
struct Account: Hashable, Sendable, CustomStringConvertible {
  let store: StoreUnderTest
  let id: String

  var description: String { "\(id) in \(store.name)" }
  /// The sandbox's user, one for each account.
  var user: String { "\(store.name)-\(id)" }
  /// The file whose lock is the account's lease.
  var lock: String { "\(store.locks)/\(AccountLocks.name(of: id))" }
}

/// A kind of store: in a folder of its own, or in the keyring of the torture's session.
///
/// If root runs the torture, each folder is a small file system.
struct StoreUnderTest: Hashable, Sendable {
  /// The kind's name in `--store` and in the probe's addresses.
  let name: String
  let folder: String

  static let keyring = "keyring"

  var isKeyring: Bool { name == Self.keyring }
  var isDatabase: Bool { name.contains("sqlite") }
  var path: String { folder + "/tokens" }
  /// The value for `--store`.
  var option: String { isKeyring ? name : "\(name):\(path)" }
  var locks: String { isKeyring ? "\(folder)/sq-demo/locks" : path + ".locks" }

  /// Opens the demo's store in the keyring of the session bus, with this state folder.
  func openKeyring(bus: String) -> any TokenStore {
    SecretServiceTokenStore(service: "sq-demo", folder: folder + "/sq-demo", bus: bus)
  }
}
