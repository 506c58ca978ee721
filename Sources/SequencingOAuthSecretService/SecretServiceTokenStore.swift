import SQBasics
public import SQFoundation
public import SequencingOAuth

/// A token store in the desktop's keyring, such as GNOME Keyring, KWallet or KeePassXC.
///
/// The keyring can be any program that implements the Secret Service API. Each account is an item
/// in the default collection. The item's label names the service and the account, and its secret is
/// the record. The label, the service's name and a digest of the account's ID are not encrypted.
///
/// The keyring encrypts the secret on disk with a key from the user's password. This protects the
/// tokens against other users and against a person who has the disk or a backup. There is no such
/// protection if the keyring's password is empty, for example because the user logs in without a
/// password. Nothing protects the tokens against root, or against programs of the same user while
/// the keyring is unlocked.
///
/// A locked keyring asks the user to unlock it. If there is no keyring, or if a call takes more
/// than two minutes including the user's answer, the call throws `SQOAuthError.Code.storeFailed`
/// with a message that says what to do. The time in which the call waits for earlier calls does not
/// count. Opening a session may take ten seconds of the two minutes, and never asks the user. A
/// save gets more time if its new token cannot be requested again: if the keyring is locked, ends
/// or hangs meanwhile, the store tries again for two and a half minutes.
///
/// If the calling task is cancelled, a call that waits for the keyring throws
/// `SQOAuthError.Code.cancelled` at once. Only ``save(_:)`` continues, because its token may be the
/// only one.
///
/// The keyring's question stays on the user's screen after a call has been cancelled or has reached
/// its time limit, because GNOME Keyring would crash if the question were taken back. An answer
/// still unlocks the keyring for later calls.
///
/// KeePassXC hides the items of a locked database. If an account is in no unlocked database, for
/// example before the first sign-in, KeePassXC asks the user to unlock each locked one. If the user
/// refuses, or if no database is open, the call throws `SQOAuthError.Code.storeFailed`. So an
/// account never looks signed out because its database is locked or closed. A list of accounts
/// contains those of unlocked databases; only if there are none, the user is asked.
///
/// All stores of a process share one connection to the keyring and make their calls one after the
/// other. The connection opens again after the keyring or the bus has ended. KeePassXC asks the
/// user before a program reads an item, but only once for each account and connection.
///
/// Several processes can use the keyring at the same time. Their leases are files in the user's
/// state folder, `$XDG_STATE_HOME/SERVICE/locks` or `~/.local/state/SERVICE/locks`. Processes that
/// share a keyring must therefore also share that folder.
///
/// The store writes no token to a file. If the process is killed after the server has answered a
/// refresh and before the keyring has the new token, the user must sign in again.
///
/// The store calls the Secret Service directly. In an app sandbox such as Flatpak, it does not use
/// the secret portal.
public final class SecretServiceTokenStore: SharedTokenStore, ReservingTokenStore,
  PagedTokenStore
{
  /// The name of the service; each app needs a name of its own.
  public let service: String
  private let keyring: Keyring
  private let locks: AccountLocks
  private let owed: UnsavedRecords
  // A queue, because libsecret blocks its thread, possibly until the user answers.
  private let queue = BlockingQueue("SecretServiceTokenStore")

  /// Creates a store for the accounts of a service; its first call connects to the keyring.
  ///
  /// `whenWaiting` is called on any thread, each time a call has waited three seconds for the
  /// keyring. The keyring may then be waiting for the user's answer on another screen.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the name is empty, begins with a dot or
  ///   contains a slash; `SQOAuthError.Code.storeFailed` if there is no state folder.
  public convenience init(
    service: String, whenWaiting: (@Sendable () -> Void)? = nil
  ) throws(SQOAuthError) {
    self.init(
      keyring: Keyring(service: service, whenWaiting: whenWaiting),
      folder: try StateFolder.path(service: service))
  }

  /// Creates a store for a test, with the test's own bus, time limits and library.
  package convenience init(
    service: String, folder: String, bus: String, limit: Duration = .seconds(120),
    retryTime: Duration? = nil, library: String? = nil, whenWaiting: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      keyring: Keyring(
        service: service, address: KeyringAddress(bus: bus, library: library), limit: limit,
        whenWaiting: whenWaiting),
      folder: folder, retryTime: retryTime)
  }

  init(keyring: Keyring, folder: String, retryTime: Duration? = nil) {
    service = keyring.service
    self.keyring = keyring
    locks = AccountLocks(folder: folder + "/locks")
    owed = UnsavedRecords(retryTime: retryTime)
  }

  /// Returns whether a keyring answers, locked or unlocked.
  ///
  /// The call takes at most ten seconds, and the keyring does not ask the user. If the task is
  /// cancelled, this method returns `false` at once.
  public static func isAvailable() async -> Bool {
    await isAvailable(bus: nil)
  }

  /// Returns whether a keyring answers, on the bus and with the library of a test.
  package static func isAvailable(bus: String?, library: String? = nil) async -> Bool {
    let keyring = Keyring(service: "", address: KeyringAddress(bus: bus, library: library))
    let queue = BlockingQueue("SecretServiceTokenStore.isAvailable")
    return (try? await queue.run(keyring) { keyring in keyring.answers() }) ?? false
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { keyring throws(SQOAuthError) in try keyring.load(id) }
  }

  /// Saves a record, replacing the account's earlier record.
  ///
  /// If the earlier record cannot be read, this method throws and changes nothing.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await save(record.id) { attempt throws(SQOAuthError) in
      // A save continues if the caller is cancelled: its token may be the only one.
      try await queue.run { [keyring] () throws(SQOAuthError) in
        try keyring.making(attempt).save(record)
      }
    }
  }

  /// Saves a record with a closure; repeats a failed attempt if the record must not be lost.
  func save(
    _ id: String, by attempt: (UnsavedRecords.Attempt) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    try await owed.save(id, whenWaiting: keyring.whenWaiting, by: attempt)
  }

  /// Removes the record of an account, even if the record cannot be read.
  ///
  /// If an unlocked KeePassXC database has the account, the records in locked and closed databases
  /// stay. So if the user has used another database for a while, an older record of the account may
  /// be found when that database is unlocked; erase the account once more then.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { keyring throws(SQOAuthError) in try keyring.erase(id) }
  }

  /// Lists the IDs of all accounts that have a readable record.
  ///
  /// The ID of an unreadable item is not known, so the list does not contain it. ``load(_:)``
  /// throws an error for its account.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { keyring throws(SQOAuthError) in try keyring.list() }
  }

  /// Reads the next accounts after `key`, at most `limit`, in the order of `AccountEntry.key`.
  ///
  /// The keyring returns all records at once, so each page costs as much as all accounts. The ID of
  /// an unreadable item is not known; its key is a digest of the ID.
  public func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    let entries = try await run { keyring throws(SQOAuthError) in try keyring.entries() }
    let rest = entries.drop { entry in
      key.map { !$0.lexicographicallyPrecedes(entry.key) } ?? false
    }
    return Array(rest.prefix(max(0, limit)))
  }

  /// Takes the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// The right holds for all processes that share the state folder.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// Returns the name of the process that holds an account's lease; `nil` if it is not known.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Unlocks the keyring and saves the account's record again, to check that saving works.
  ///
  /// Before a sign-in, there is no record to save. Instead, this method creates the keyring's
  /// default collection if it is missing, and checks that the account's lease file can be used.
  ///
  /// The store writes no token to a file. If the process is killed after the server's answer and
  /// before the keyring has the new token, the token is lost.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    guard record != nil else {
      try await lease(id)?.release()
      try await run { keyring throws(SQOAuthError) in try keyring.unlock(id) }
      owed.add(id)
      return AccountReservation()
    }
    try await run { keyring throws(SQOAuthError) in try keyring.rewrite(id) }
    owed.add(id)
    return AccountReservation(release: { [owed] in owed.remove(id) })
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (Keyring) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run(keyring, body)
  }
}
