import Dispatch
public import SequencingOAuth

/// Keeps tokens in an SQLite database that only its owner can read.
///
/// It is for many accounts: the time of a call does not grow with their number. The database and
/// its log have mode 0600, in a folder that is made with mode 0700; what was saved is safe on disk
/// when the call returns, and what was erased is overwritten. Several processes may use it at once.
/// It must be on a disk of the machine, not of the network.
///
/// It protects against other users of the machine, not against a program that runs as the same
/// user, nor against whoever has the disk.
///
/// A database of another program is refused, as is a symbolic link, and neither is touched.
public final class SQLiteTokenStore: TokenStore {
  /// Where the database is.
  public let path: String
  private let database: AccountDatabase
  private let locks: AccountLocks
  // Its calls block, so they run on a thread of their own and not in the cooperative pool.
  private let queue = DispatchQueue(label: "SequencingOAuth.SQLiteTokenStore")

  /// A store in a file of the app's choice, which the first call opens, and makes if need be.
  public convenience init(path: String) {
    self.init(path: path, busyTimeout: .seconds(5))
  }

  /// A store in the user's state folder, under a name that keeps apps apart.
  ///
  /// That is `$XDG_STATE_HOME/SERVICE/tokens.sqlite`, or
  /// `~/.local/state/SERVICE/tokens.sqlite`.
  public convenience init(service: String) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.sqlite")
  }

  package init(path: String, busyTimeout: Duration) {
    self.path = path
    database = AccountDatabase(path: path, busyTimeout: busyTimeout)
    locks = AccountLocks(folder: path + ".locks")
  }

  deinit {
    // It may write, and this may be a thread of the cooperative pool.
    queue.async { [database] in database.close() }
  }

  /// The record of an account.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { table throws(SQOAuthError) in try table.load(id) }
  }

  /// Adds or replaces a record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await run { table throws(SQOAuthError) in try table.save(record) }
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
    try await onQueue { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (AccountTable) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await onQueue { [database] () throws(SQOAuthError) in try database.use(body) }
  }

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable () throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    let result = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result(catching: body)) }
    }
    return try result.get()
  }
}
