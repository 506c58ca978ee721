import Basics

/// Keeps tokens in one encrypted file.
///
/// Each record is sealed for its account with AES-256-GCM under a new nonce at each write, and the
/// file as a whole is sealed too: a part that was changed, removed, moved or cut off is
/// ``SQOAuthError/Code/storeDamaged``, a key that is not the file's is
/// ``SQOAuthError/Code/wrongPassphrase``, a newer format is ``SQOAuthError/Code/storeTooNew``, and
/// the file stays as it is. Not even the accounts' names can be read without the key.
///
/// Like ``FileTokenStore`` it has mode 0600 in a folder of mode 0700, is replaced whole, and serves
/// several processes at once. A key from a passphrase is derived at the first use, which takes a
/// good part of a second, and then kept in memory.
///
/// What it does not do: nobody can tell a whole older file that was put back from a newer one, so
/// whoever can write the file can bring an older token back. And a key beside the file protects
/// only where the two come apart, as in a backup of the one; see ``StoreKey``.
public final class EncryptedFileTokenStore: TokenStore {
  /// Where the file is.
  public let path: String
  private let file: TokenFile<SealedFormat>

  /// A store in a file of the app's choice, which need not exist yet.
  public init(path: String, key: StoreKey) {
    self.path = path
    file = TokenFile(path: path, format: SealedFormat(key: key))
  }

  /// A store in the user's state folder, under a name that keeps apps apart.
  ///
  /// That is `$XDG_STATE_HOME/SERVICE/tokens.sealed`, or `~/.local/state/SERVICE/tokens.sealed`.
  /// Without a key it is a key file beside it, `tokens.key`.
  public convenience init(service: String, key: StoreKey? = nil) throws(SQOAuthError) {
    let folder = try StateFolder.path(service: service)
    self.init(path: "\(folder)/tokens.sealed", key: key ?? .file("\(folder)/tokens.key"))
  }

  /// Checks the key, and makes the file where there is none, so that it has this key from now on.
  ///
  /// An app that asks for a passphrase calls it to know at once whether it is the right one.
  /// Without it the first other call finds out; a file that is not there is an empty store, which
  /// the first save makes.
  public func prepare() async throws(SQOAuthError) {
    // Only to look needs no lock, and no right to write.
    if try await file.exists() { return }
    try await file.rewrite { content, format throws(SQOAuthError) in
      try format.existing(content)
    }
  }

  /// Puts the store under another key, in one step: the old one does not open it any more.
  ///
  /// A refresh that is under way is waited for, 30 s at most. Other processes that have the store open must be given the new key: until then they get
  /// ``SQOAuthError/Code/wrongPassphrase``. The old file's blocks stay on the disk until the
  /// system writes over them.
  public func changeKey(to key: StoreKey) async throws(SQOAuthError) {
    let old = Locked<RecordSealer?>(nil)
    try await SQOAuthError.whileRefreshed { () throws(SQOAuthError) in
      try await file.rewrite(keepsContent: false) { [file] content, format throws(SQOAuthError) in
        old.withLock { $0 = format.sealer }
        return try format.rekey(file.adopted(content), to: key)
      }
    }
    await file.removeLandings(sealedBy: old.withLock(\.self))
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
