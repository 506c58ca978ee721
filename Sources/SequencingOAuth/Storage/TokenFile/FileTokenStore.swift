/// Keeps tokens in one file, in clear, that only its owner can read.
///
/// The file has mode 0600, in a folder that is made with mode 0700; it is replaced whole and is
/// safe on disk when a call returns. Several processes may use it at once. It protects against other
/// users of the machine, not against a program that runs as the same user, nor against whoever has
/// the disk.
///
/// While an account is refreshed, two files stand beside the store: `PATH.landing-…`, with room for
/// the account's next record, and the account's lock in the folder `PATH.locks`. A call that meets
/// another program's lock on the store waits for 30 s at most.
public final class FileTokenStore: TokenStore {
  /// Where the file is.
  public let path: String
  private let file: TokenFile<TokenDocument.Format>

  /// A store in a file of the app's choice, which need not exist yet.
  public init(path: String) {
    self.path = path
    file = TokenFile(path: path, format: TokenDocument.Format())
  }

  /// A store in the user's state folder, under a name that keeps apps apart.
  ///
  /// That is `$XDG_STATE_HOME/SERVICE/tokens.json`, or `~/.local/state/SERVICE/tokens.json`.
  public convenience init(service: String) throws(SQOAuthError) {
    self.init(path: try StateFolder.path(service: service) + "/tokens.json")
  }

  /// The record of an account.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await file.load(id)
  }

  /// Adds or replaces a record.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await file.save(record)
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) { try await file.erase(id) }

  /// The accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] { try await file.list() }

  /// The records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] { try await file.all() }

  /// The right to change an account, among all processes that use the file.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await file.lease(id)
  }

  /// The process that has the right to change an account.
  public func leaseHolder(_ id: String) async -> String? { await file.leaseHolder(id) }

  /// Makes a file beside the store with room for the account's next record.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    try await file.reserve(id, replacing: record)
  }
}
