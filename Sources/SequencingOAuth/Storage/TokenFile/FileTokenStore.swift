import SQFiles
public import SQFoundation

/// A store that keeps tokens in one unencrypted file, readable only by its owner.
///
/// The file has mode 0600, in a folder that is created with mode 0700. Each save replaces the whole
/// file; it is safely on disk when the call returns. Several processes may use the file at the same
/// time. The mode protects the tokens against other users of the machine, but not against programs
/// of the same user, and not against a person who has the disk.
///
/// Each load reads all accounts, and each save writes all of them again: with 1,000 accounts, a
/// load takes some 6 ms and a save 15 ms. For more than a hundred accounts use `SQLiteTokenStore`,
/// which saves an account in 0.3 ms, however many there are.
///
/// During the refresh of an account, there are two more files: `PATH.landing-…`, with space for the
/// account's next record, and the account's lock file in the folder `PATH.locks`. The store's own
/// lock file, `PATH.lock`, remains after the first save.
///
/// If another program has locked the store, a call waits at most 30 s and then throws. The limit
/// includes the wait for earlier calls to this store. If the task is cancelled during that wait, a
/// call that reads or reserves throws ``SQOAuthError/Code/cancelled`` at once; a save or an erasure
/// continues.
public final class FileTokenStore: SharedTokenStore, ReservingTokenStore, PagedTokenStore {
  /// The absolute path of the token file.
  public let path: String
  private let file: TokenFile<TokenDocument.Format>

  /// Creates a store in a file of the app's choice; the first save creates the file.
  ///
  /// A relative path begins at the process's working directory at this moment.
  public init(path: String) {
    let path = AbsolutePath.of(path)
    self.path = path
    file = TokenFile(path: path, format: TokenDocument.Format())
  }

  /// Creates a store in the user's state folder, in a subfolder named after the app's service.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.json`, or `~/.local/state/SERVICE/tokens.json`.
  public convenience init(service: String) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.json")
  }

  /// Creates a store with a limit on the wait for another program's lock on the file.
  package init(path: String, lockLimit: Duration) {
    let path = AbsolutePath.of(path)
    self.path = path
    file = TokenFile(path: path, format: TokenDocument.Format(), lockLimit: lockLimit)
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await file.load(id)
  }

  /// Saves a record in place of the account's earlier record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await file.save(record)
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) { try await file.erase(id) }

  /// Lists the ids of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] { try await file.list() }

  /// Reads at most `limit` accounts whose ids' UTF-8 bytes come after `key`, in byte order.
  public func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await file.entries(after: key, limit: limit)
  }

  /// Acquires the exclusive right to change an account, for all processes that use the file.
  ///
  /// Returns `nil` while another caller or process has that right.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await file.lease(id)
  }

  /// Describes the process that has the right to change an account; `nil` if unknown.
  public func leaseHolder(_ id: String) async -> String? { await file.leaseHolder(id) }

  /// Creates a file next to the store with space for the account's next record.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await file.reserve(id, replacing: record)
  }
}
