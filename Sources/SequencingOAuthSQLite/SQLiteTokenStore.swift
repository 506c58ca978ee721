import SQBasics
import SQFiles
public import SQFoundation
public import SequencingOAuth

/// A token store in an SQLite database that only its owner can read.
///
/// Use it for many accounts: the time to load or save one account hardly grows with their number.
/// Only a call that opens the database takes longer: the first call, and the next call after an
/// error. It checks the whole database for damage: a quarter of a second for 100,000 accounts.
///
/// The database and its log have mode 0600. If the folder is missing, the store creates it with
/// mode 0700. A saved record is safe on disk when the call returns, and an erased record is
/// overwritten. Several processes can use the database at the same time. It must be on a local
/// disk, not on a network file system.
///
/// Without a key, the records are not encrypted. The mode protects them against other users of the
/// machine, but not against programs of the same user or against a person who has the disk. With a
/// `StoreKey`, each record is encrypted and bound to its account. A person who has the files
/// without the key can neither read nor change a record. That person can see the number of
/// accounts, their IDs, which accounts belong to one user, and the lengths of the records. That
/// person can also remove accounts or restore older files without being noticed.
///
/// While another process writes, a call waits at most 30 s and then throws. The limit includes the
/// wait for earlier calls to this store. If the task is cancelled during that wait, a call that
/// loads, lists or reserves throws `SQOAuthError.Code.cancelled` at once; all others continue.
///
/// A replaced record may stay in the log until the database is closed. An erased record stays in
/// the log only if another process uses the database for longer than a tenth of a second during
/// the erasure, and only until this process next saves or erases.
///
/// The store is also a `RegistrationStore`: it can keep the registration of a client that
/// registered itself, encrypted with the same key.
///
/// The store rejects a symbolic link, a database of another program, a database of a newer format
/// and a damaged database. It does not change them.
public final class SQLiteTokenStore: SharedTokenStore, ReservingTokenStore {
  /// The absolute path of the database file.
  public let path: String
  private let database: AccountDatabase
  private let locks: AccountLocks
  private let writeAheadCopies: WriteAheadCopies
  private let queue = BlockingQueue("SQLiteTokenStore")

  /// Creates a store at a path; the first call opens the database or creates it.
  ///
  /// If `key` is `nil`, the records are not encrypted. With a key, a database that was created
  /// without one is rejected with `SQOAuthError.Code.wrongPassphrase`, and the reverse; a store that
  /// still has the earlier key changes it by ``changeKey(to:)``. A relative path begins at the
  /// process's working directory at this moment.
  public convenience init(path: String, key: StoreKey?) {
    self.init(path: path, key: key, busyTimeout: .seconds(30))
  }

  /// Creates a store in the user's state folder, in a subfolder named after the app's service.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sqlite`, or
  /// `~/.local/state/SERVICE/tokens.sqlite`. If `key` is `nil`, the records are not encrypted;
  /// `StoreKey.file(service:)` is a key file in the same folder.
  public convenience init(service: String, key: StoreKey?) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.sqlite", key: key)
  }

  /// Creates a store; `busyTimeout` is the longest time to wait while another process writes,
  /// counted from each call.
  package init(path: String, key: StoreKey?, busyTimeout: Duration) {
    let path = AbsolutePath.of(path)
    self.path = path
    database = AccountDatabase(path: path, key: key, busyTimeout: busyTimeout)
    locks = AccountLocks(folder: path + ".locks")
    writeAheadCopies = WriteAheadCopies(store: path)
  }

  deinit {
    // Closing may write to the disk and would block a thread of the cooperative pool.
    queue.start { [database] in database.close() }
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await runIfWanted { table throws(SQOAuthError) in try table.load(id) }
  }

  /// Saves a record, replacing the account's earlier record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await queue.run { [database] () throws(SQOAuthError) in
      do throws(SQOAuthError) {
        try database.use { table throws(SQOAuthError) in try table.save(record) }
      } catch {
        guard error.code == .storeFailed else { throw error }
        // A record in its write-ahead copy counts as saved: the account's next change moves it to
        // the database.
        let hasCopy = try? database.use { table throws(SQOAuthError) in
          table.hasWriteAheadCopy(record)
        }
        guard hasCopy == true else { throw error }
      }
    }
  }

  /// Erases the record of an account from all of the store's files.
  ///
  /// If another process uses the database for longer than a tenth of a second during the erasure,
  /// a copy stays in the database's log until this process next saves or erases.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.erase(id) }
  }

  /// Lists the IDs of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await runIfWanted { table throws(SQOAuthError) in try table.list() }
  }

  /// Takes the exclusive right, among all processes that use the database, to change an account.
  ///
  /// Returns `nil` while another caller or process has that right.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// Returns the name of the process that holds an account's lease; `nil` if it is not known.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Creates a file next to the database with space for the account's next record.
  ///
  /// If `record` is `nil`, the call only checks that a record can be saved.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await queue.run(unlessCancelled: .waitCancelled) {
      [queue, locks, database, writeAheadCopies] () throws(SQOAuthError) in
      try writeAheadCopies.checkPath()
      let hasStore = try writeAheadCopies.hasStore()
      guard record != nil || hasStore else {
        try writeAheadCopies.check(replacingStore: false)
        try database.checkMaking()
        return AccountReservation()
      }
      // Before a sign-in, the caller holds no lease. Check that its later refreshes can take one.
      if record == nil { try locks.lease(id)?.release() }
      return try database.use { table throws(SQOAuthError) in
        try table.reserve(id, replacing: record, syncingOn: queue)
      }
    }
  }

  /// Encrypts all records and registrations with another key, or decrypts them if `key` is `nil`.
  ///
  /// Either all records change or none. The call first waits at most 30 s for running refreshes; if
  /// the task is cancelled during the wait, it throws `SQOAuthError.Code.cancelled`.
  /// Afterwards, other processes that have the store open get `SQOAuthError.Code.wrongPassphrase`;
  /// they cannot damage the store. If the database already has this key and no longer opens with
  /// the store's own key, an earlier call has made the change, and this call only removes what that
  /// call left behind. If the disk is full, or if the process is killed during the call, the log may
  /// contain records of the old key until a process next saves or erases.
  public func changeKey(to key: StoreKey?) async throws(SQOAuthError) {
    try await SQOAuthError.whileRefreshed { () throws(SQOAuthError) in
      try await queue.run { [database, locks] () throws(SQOAuthError) in
        try database.changeKey(to: key) { id throws(SQOAuthError) in try locks.lease(id) }
      }
    }
  }

  func run<Value: Sendable>(
    _ body: @escaping @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { [database] () throws(SQOAuthError) in try database.use(body) }
  }

  /// Runs work unless the caller is cancelled while it waits for earlier calls.
  private func runIfWanted<Value: Sendable>(
    _ body: @escaping @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run(unlessCancelled: .waitCancelled) { [database] () throws(SQOAuthError) in
      try database.use(body)
    }
  }
}

extension SQLiteTokenStore: SessionIndex {
  /// Returns the accounts of a user or a session, found by an index on digests of their names.
  public func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry] {
    try await runIfWanted { table throws(SQOAuthError) in try table.entries(of: session) }
  }
}

extension SQLiteTokenStore: PagedTokenStore {
  /// Reads the next accounts after `key`, at most `limit`, in the order of `AccountEntry.key`.
  public func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await runIfWanted { table throws(SQOAuthError) in
      try table.entries(after: key, limit: limit)
    }
  }
}
