public import SequencingOAuth

/// Keeps tokens in an SQLite database that only its owner can read.
///
/// It is for many accounts: the time to load or save one does not grow with their number. Only the
/// first call does more, since it looks through the whole database for damage: a quarter of a
/// second for 100,000 accounts.
///
/// The database and its log have mode 0600, in a folder that is made with mode 0700; what was saved
/// is safe on disk when the call returns, and what was erased is overwritten. Several processes may
/// use it at once. It must be on a disk of the machine, not of the network.
///
/// In clear it protects against other users of the machine, not against a program that runs as the
/// same user, nor against whoever has the disk. With a `StoreKey` each record is sealed under that
/// key and to its account: whoever has the files without the key sees the ids of the accounts, how
/// many they are and how long their records, and can remove accounts or put back older files
/// unnoticed, but neither read nor change a record.
///
/// What was replaced may stay in the log until the database is closed; what was erased does not.
///
/// A database of another program is refused, as are a symbolic link and a newer format; none of
/// them is touched, and neither is a damaged database.
public final class SQLiteTokenStore: TokenStore {
  /// Where the database is.
  public let path: String
  private let database: AccountDatabase
  private let locks: AccountLocks
  private let landings: Landings
  private let queue = BlockingQueue("SQLiteTokenStore")

  /// A store in a file of the app's choice, which the first call opens, and makes if need be.
  ///
  /// Without a key its records are in clear.
  public convenience init(path: String, key: StoreKey? = nil) {
    self.init(path: path, key: key, busyTimeout: .seconds(30))
  }

  /// A store in the user's state folder, under a name that keeps apps apart.
  ///
  /// That is `$XDG_STATE_HOME/SERVICE/tokens.sqlite`, or
  /// `~/.local/state/SERVICE/tokens.sqlite`.
  public convenience init(service: String, key: StoreKey? = nil) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.sqlite", key: key)
  }

  /// A store that waits so long for another process that writes.
  package init(path: String, key: StoreKey?, busyTimeout: Duration) {
    self.path = path
    database = AccountDatabase(path: path, key: key, busyTimeout: busyTimeout)
    locks = AccountLocks(folder: path + ".locks")
    landings = Landings(store: path)
  }

  deinit {
    // It may write, and this may be a thread of the cooperative pool.
    queue.start { [database] in database.close() }
  }

  /// The record of an account.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { table throws(SQOAuthError) in try table.load(id) }
  }

  /// Adds or replaces a record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try await run { table throws(SQOAuthError) in try table.save(record) }
    } catch {
      // It is safe where it landed, and the next change of the account puts it into the database.
      guard error.code == .storeFailed, await hasLanded(record) else { throw error }
    }
  }

  private func hasLanded(_ record: AccountRecord) async -> Bool {
    let hasLanded = try? await run { table throws(SQOAuthError) in table.hasLanded(record) }
    return hasLanded ?? false
  }

  /// Removes the record of an account, and what the files still hold of it.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.erase(id) }
  }

  /// The accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { table throws(SQOAuthError) in try table.list() }
  }

  /// The records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { table throws(SQOAuthError) in try table.all() }
  }

  /// The right to change an account, among all processes that use the database.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// The process that has the right to change an account.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Makes a file beside the database with room for the account's next record.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await queue.run { [queue, locks, database, landings] () throws(SQOAuthError) in
      guard record != nil || landings.hasStore else {
        try landings.check()
        return AccountReservation()
      }
      // A new sign-in may not have the lease; its refreshes will need it.
      if record == nil { try locks.lease(id)?.release() }
      return try database.use { table throws(SQOAuthError) in
        try table.reserve(id, replacing: record, syncingOn: queue)
      }
    }
  }

  /// Seals all records under another key, or writes them in clear, in one step that happens whole or
  /// not at all.
  ///
  /// A refresh that is under way is waited for, 30 s at most. Other processes that have the store
  /// open get `SQOAuthError.Code.wrongPassphrase` from then
  /// on; they cannot spoil it.
  public func changeKey(to key: StoreKey?) async throws(SQOAuthError) {
    try await SQOAuthError.whileRefreshed { () throws(SQOAuthError) in
      try await queue.run { [database, locks] () throws(SQOAuthError) in
        try database.changeKey(to: key) { id throws(SQOAuthError) in try locks.lease(id) }
      }
    }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run { [database] () throws(SQOAuthError) in try database.use(body) }
  }
}
