import SQBasics
import SQFiles
public import SQFoundation

/// A store that keeps tokens in one encrypted file.
///
/// Each save seals the record for its account, with AES-256-GCM and a new nonce, and then seals the
/// whole file. Without the key, not even the accounts' ids can be read.
///
/// If a part of the file was changed, removed, moved or cut off, calls throw
/// ``SQOAuthError/Code/storeDamaged``. If the key is wrong, they throw
/// ``SQOAuthError/Code/wrongPassphrase``; if the file has a newer format,
/// ``SQOAuthError/Code/storeTooNew``. In all three cases the file is not changed.
///
/// As with ``FileTokenStore``, the file has mode 0600 in a folder that is created with mode 0700.
/// Each save replaces the whole file, so for more than a hundred accounts `SQLiteTokenStore` is the
/// faster store. Several processes may use the file at the same time, and a call waits for them no
/// longer than with ``FileTokenStore``. A key from a passphrase is derived on first use and then
/// kept in memory; the derivation takes a large part of a second.
///
/// The store has two limits. It cannot recognize that the whole file was replaced by an older
/// version of it, so a program that can write the file can restore an older token. And a key file
/// next to the store protects only copies of the store without the key file, such as a backup of
/// the store alone; see ``StoreKey``.
public final class EncryptedFileTokenStore: SharedTokenStore, ReservingTokenStore, PagedTokenStore {
  /// The absolute path of the token file.
  public let path: String
  private let file: TokenFile<SealedFormat>

  /// Creates a store in a file of the app's choice; the first save creates the file.
  ///
  /// A relative path begins at the process's working directory at this moment.
  public init(path: String, key: StoreKey) {
    let path = AbsolutePath.of(path)
    self.path = path
    file = TokenFile(path: path, format: SealedFormat(key: key))
  }

  /// Creates a store in the user's state folder, in a subfolder named after the app's service.
  ///
  /// The file is `$XDG_STATE_HOME/SERVICE/tokens.sealed`, or
  /// `~/.local/state/SERVICE/tokens.sealed`. If `key` is `nil`, the key is in the file `tokens.key`
  /// in the same folder. A `DesktopTokenStore` of the service also uses these two files if there is
  /// no keyring. So if you use your own key, choose a different service for this store.
  public convenience init(service: String, key: StoreKey? = nil) throws(SQOAuthError) {
    let folder = try StateFolder.path(service: service)
    self.init(path: Self.path(in: folder), key: key ?? .file(Self.keyPath(in: folder)))
  }

  /// Returns the path of a service's store in the service's state folder.
  package static func path(in folder: String) -> String { folder + "/tokens.sealed" }

  /// Returns the path of a service's key file in the service's state folder.
  package static func keyPath(in folder: String) -> String { folder + "/tokens.key" }

  /// Creates a store with a limit on the wait for another program's lock on the file.
  package init(path: String, key: StoreKey, lockLimit: Duration) {
    let path = AbsolutePath.of(path)
    self.path = path
    file = TokenFile(path: path, format: SealedFormat(key: key), lockLimit: lockLimit)
  }

  /// Checks the key against the file; if the file is missing, creates it with this key.
  ///
  /// Call it after you ask the user for a passphrase, to know immediately whether the passphrase is
  /// correct. If you do not call it, the first other call checks the key, a missing file counts as
  /// an empty store, and the first save creates the file.
  public func prepare() async throws(SQOAuthError) {
    // Reading needs neither the lock nor the permission to write.
    if try await file.exists() { return }
    try await file.rewrite { content, format throws(SQOAuthError) in
      try format.existing(content)
    }
  }

  /// Seals all records with another key in one step; the old key no longer opens the store.
  ///
  /// The call first waits for the end of a running refresh, for at most 30 s; after that it throws
  /// ``SQOAuthError/Code/accountInUse``. If the task is cancelled during the wait, the call throws
  /// ``SQOAuthError/Code/cancelled``. Give the new key to other processes that have the store
  /// open, because they get ``SQOAuthError/Code/wrongPassphrase`` until then. The blocks of the old
  /// file stay on the disk until the system overwrites them. If the file already has the new key,
  /// because an earlier call changed it, this call only removes what that call left behind.
  public func changeKey(to key: StoreKey) async throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try await SQOAuthError.whileRefreshed { () throws(SQOAuthError) in
        try await file.rewrite(keepsContent: false) { [file] content, format throws(SQOAuthError) in
          try format.rekey(file.adopted(content), to: key)
        }
      }
    } catch {
      guard error.code == .wrongPassphrase else { throw error }
      let new = EncryptedFileTokenStore(path: path, key: key)
      let ids = try? await uncancelled { () throws(SQOAuthError) in try await new.list() }
      guard ids != nil else { throw error }
      file.format.take(key)
    }
    // If an earlier call made the change, its process may have been killed before this step.
    await file.removeOldWriteAheadCopies()
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
