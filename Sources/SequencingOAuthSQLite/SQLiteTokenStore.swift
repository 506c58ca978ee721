import SQBasics
public import SequencingOAuth

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Keeps tokens in an SQLite database that only its owner can read.
///
/// Use it for many accounts: the time to load or save one account hardly grows with their number.
/// Only the first call takes longer, since it checks the whole database for damage: a quarter of a
/// second for 100,000 accounts.
///
/// The database and its log have mode 0600, in a folder that is created with mode 0700. A saved
/// record is safe on disk when the call returns, and an erased one is overwritten. Several
/// processes may use the database at once. It must be on a local disk, not on a network file
/// system.
///
/// Without a key the records are in clear. The mode protects them against other users of the
/// machine, but not against programs that run as the same user, nor against a person who has the
/// disk. With a `StoreKey` each record is sealed under that key and bound to its account. A person
/// who has the files without the key can see the ids of the accounts, their number, which of them
/// belong to one user, and the lengths of the records, and can remove accounts or put back older
/// files unnoticed, but can neither read nor change a record.
///
/// A replaced record may stay in the log until the database is closed. An erased record does not;
/// but if another process reads at that moment, it stays until this process next saves or erases.
///
/// The store is a `RegistrationStore` too: the registration of a client that registered itself lies
/// beside the tokens, under the same key.
///
/// The store refuses a database of another program, a symbolic link, a newer format and a damaged
/// database, and changes none of them.
public final class SQLiteTokenStore: TokenStore {
  /// The path of the database file.
  public let path: String
  private let database: AccountDatabase
  private let locks: AccountLocks
  private let landedRecords: LandedRecords
  private let queue = BlockingQueue("SQLiteTokenStore")

  /// Makes a store in a file of the app's choice; the first call opens the file or creates it.
  ///
  /// Without a key the records are in clear.
  public convenience init(path: String, key: StoreKey? = nil) {
    self.init(path: path, key: key, busyTimeout: .seconds(30))
  }

  /// Makes a store in the user's state folder, in a subfolder named after the app's service.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sqlite`, or
  /// `~/.local/state/SERVICE/tokens.sqlite`.
  public convenience init(service: String, key: StoreKey? = nil) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.sqlite", key: key)
  }

  /// Makes a store with a limit on how long it waits while another process writes.
  package init(path: String, key: StoreKey?, busyTimeout: Duration) {
    self.path = path
    database = AccountDatabase(path: path, key: key, busyTimeout: busyTimeout)
    locks = AccountLocks(folder: path + ".locks")
    landedRecords = LandedRecords(store: path)
  }

  deinit {
    // Closing may write to the disk, which would block a thread of the cooperative pool.
    queue.start { [database] in database.close() }
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { table throws(SQOAuthError) in try table.load(id) }
  }

  /// Saves a record; it replaces the account's earlier record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try await run { table throws(SQOAuthError) in try table.save(record) }
    } catch {
      // The record is safe in its landing file, and the account's next change moves it to the
      // database.
      guard error.code == .storeFailed, await hasLanded(record) else { throw error }
    }
  }

  private func hasLanded(_ record: AccountRecord) async -> Bool {
    let hasLanded = try? await run { table throws(SQOAuthError) in table.hasLanded(record) }
    return hasLanded ?? false
  }

  /// Removes the record of an account, and every trace of it in the store's files.
  ///
  /// If another process reads the database at that moment, a copy stays in the database's log until
  /// this process next saves or erases.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.erase(id) }
  }

  /// Lists the ids of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { table throws(SQOAuthError) in try table.list() }
  }

  /// Loads the records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { table throws(SQOAuthError) in try table.all() }
  }

  /// Loads the records of the accounts that follow an id, at most `limit` of them.
  public func page(
    after id: String?, limit: Int
  ) async throws(SQOAuthError) -> [AccountRecord] {
    try await run { table throws(SQOAuthError) in try table.page(after: id, limit: limit) }
  }

  /// Takes the exclusive right to change an account; it holds for all processes that use the
  /// database.
  ///
  /// Returns `nil` while another caller or process has that right.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// Names the process that has the right to change an account, if it is known.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Creates a file beside the database with space for the account's next record.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await queue.run { [queue, locks, database, landedRecords] () throws(SQOAuthError) in
      try landedRecords.checkPath()
      guard record != nil || landedRecords.hasStore else {
        try landedRecords.check()
        try database.checkMaking()
        return AccountReservation()
      }
      // A new sign-in may have no lease here; this checks that its refreshes can get one.
      if record == nil { try locks.lease(id)?.release() }
      return try database.use { table throws(SQOAuthError) in
        try table.reserve(id, replacing: record, syncingOn: queue)
      }
    }
  }

  /// Seals all records and registrations under another key, or writes all of them in clear if `key`
  /// is `nil`.
  ///
  /// Either all records change or none. The call first waits until a refresh under way has ended,
  /// for at most 30 s. Other processes that have the store open get
  /// `SQOAuthError.Code.wrongPassphrase` from then on; they cannot damage the store. If the database
  /// has the new key already, because an earlier call changed it, nothing is changed.
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
}

extension SQLiteTokenStore: SessionIndex {
  package func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry] {
    try await run { table throws(SQOAuthError) in try table.entries(of: session) }
  }
}

extension SQLiteTokenStore: AccountEntryPages {
  package func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await run { table throws(SQOAuthError) in try table.entries(after: key, limit: limit) }
  }
}
