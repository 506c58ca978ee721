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

/// A store of one kind: in its own folder, or in the keyring on the torture test's session bus.
///
/// If root runs the torture test, each folder is a small file system, except the keyring's folder.
struct StoreUnderTest: Hashable, Sendable {
  /// The kind's name in the demo's option `--store` and in the addresses for `store-probe`.
  let name: String
  let folder: String

  static let keyring = "keyring"

  var isKeyring: Bool { name == Self.keyring }
  var isDatabase: Bool { name.contains("sqlite") }
  var path: String { folder + "/tokens" }
  /// The value of the demo's option `--store`.
  var option: String { isKeyring ? name : "\(name):\(path)" }
  var locks: String { isKeyring ? "\(folder)/sq-demo/locks" : path + ".locks" }

  /// Opens the demo's store in the keyring of the session bus, with this state folder.
  func openKeyring(bus: String) -> any TokenStore {
    SecretServiceTokenStore(service: "sq-demo", folder: folder + "/sq-demo", bus: bus)
  }
}
