import Basics
import Dispatch
public import SequencingOAuth

/// Keeps tokens in the desktop's keyring: GNOME Keyring, KWallet, KeePassXC, or whatever else
/// offers the Secret Service.
///
/// Each account is an item of the default collection, whose label names the service and the
/// account and whose secret is the record. The keyring encrypts it on disk with a key from the
/// user's password, so it protects against other users, a stolen disk and whoever reads a backup
/// (but for a keyring with an empty password, as a login without one needs it); not against a
/// program that runs as the same user while the keyring is unlocked, nor against root. The label
/// and the names of the service and the account, the latter as a digest, are kept in clear.
///
/// A locked keyring asks the user. A call that has taken two minutes, that question included, ends
/// with `SQOAuthError.Code.storeFailed`, and so does one that finds no keyring; the message says
/// what to do. Several processes may use it at once; their leases are files in the user's state
/// folder, `$XDG_STATE_HOME/SERVICE/locks` or `~/.local/state/SERVICE/locks`, so processes that
/// share a keyring must share that too.
///
/// No token is written to a file. A process that is killed after the server has answered a refresh,
/// and before the keyring has the new token, loses the sign-in.
///
/// It speaks to the Secret Service itself and not, in a sandbox, to the portal for secrets.
public final class SecretServiceTokenStore: TokenStore {
  /// The name under which an app's accounts are kept apart from those of others.
  public let service: String
  private let keyring: Keyring
  private let locks: AccountLocks
  // libsecret may even wait for the user.
  private let queue = BlockingQueue("SecretServiceTokenStore")

  /// A store of the accounts of a service; the keyring is asked when the store is used.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` for a name that is empty, starts with a
  ///   dot or has a slash, `SQOAuthError.Code.storeFailed` where there is no state folder.
  public convenience init(service: String) throws(SQOAuthError) {
    self.init(keyring: Keyring(service: service), folder: try StateFolder.path(service: service))
  }

  /// A store on a bus and with a time limit of a test's choice.
  package convenience init(
    service: String, folder: String, bus: String, limit: Duration = .seconds(120)
  ) {
    self.init(keyring: Keyring(service: service, bus: bus, limit: limit), folder: folder)
  }

  init(keyring: Keyring, folder: String) {
    service = keyring.service
    self.keyring = keyring
    locks = AccountLocks(folder: folder + "/locks")
  }

  /// Whether a keyring answers, locked or not; it asks the user nothing and takes ten seconds at
  /// most.
  public static func isAvailable() async -> Bool {
    await isAvailable(bus: nil)
  }

  /// The same on a bus of a test's choice.
  package static func isAvailable(bus: String?) async -> Bool {
    let answers = OneShot<Bool>()
    DispatchQueue.global().async {
      answers.resolve(Keyring(service: "", bus: bus, limit: .seconds(10)).answers())
    }
    return await answers.wait()
  }

  /// The record of an account.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { keyring throws(SQOAuthError) in try keyring.load(id) }
  }

  /// Adds or replaces a record; one that cannot be understood is not replaced.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await run { keyring throws(SQOAuthError) in try keyring.save(record) }
  }

  /// Removes the record of an account, also one that cannot be understood.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { keyring throws(SQOAuthError) in try keyring.erase(id) }
  }

  /// The accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { keyring throws(SQOAuthError) in try keyring.all().map(\.id) }
  }

  /// The records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { keyring throws(SQOAuthError) in try keyring.all() }
  }

  /// The right to change an account, among all processes that share the state folder.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// The process that has the right to change an account.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Unlocks the keyring and rewrites the account's item, so that the next one can be saved too.
  ///
  /// No token is written anywhere else. A process that is killed between a server's answer and the
  /// keyring's takes the new token with it.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await run { keyring throws(SQOAuthError) in
      if record == nil { try keyring.unlock(id) } else { try keyring.rewrite(id) }
    }
    return AccountReservation()
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (Keyring) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { [keyring] () throws(SQOAuthError) in try body(keyring) }
  }
}
