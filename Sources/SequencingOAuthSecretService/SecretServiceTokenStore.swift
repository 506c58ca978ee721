import SQBasics
public import SequencingOAuth

/// Keeps tokens in the desktop's keyring: GNOME Keyring, KWallet, KeePassXC or another program that
/// offers the Secret Service.
///
/// Each account is an item of the default collection. The item's label names the service and the
/// account, and its secret is the record. The keyring keeps the label, the name of the service and
/// a digest of the account's id in clear.
///
/// The keyring encrypts the secret on disk with a key from the user's password. That protects the
/// tokens against other users and against a person who has the disk or a backup, unless the
/// keyring's password is empty, as for a login without a password. It does not protect them against
/// programs that run as the same user while the keyring is unlocked, nor against root.
///
/// A locked keyring asks the user. If a call takes two minutes, including that question, or finds
/// no keyring, it throws `SQOAuthError.Code.storeFailed`, and the message says what to do. The bus
/// and the keyring have ten of these seconds to open a session, because no user answers then. A new
/// token that the server gives only once gets more time: if the keyring is locked, ends or hangs
/// while the server answers, the save is repeated for two and a half minutes.
///
/// If the calling task is cancelled, a call other than ``save(_:)`` throws
/// `SQOAuthError.Code.cancelled` at once, and a question to the user disappears. A save goes on,
/// because its token may be the only one.
///
/// All stores of a process share one connection to the keyring, which opens again when the keyring
/// or the bus has ended. So KeePassXC, which asks the user before a program reads an item, asks once
/// for each account and process. Calls are made one after the other.
///
/// Several processes may use the keyring at once. Their leases are files in the user's state
/// folder, `$XDG_STATE_HOME/SERVICE/locks` or `~/.local/state/SERVICE/locks`, so processes that
/// share a keyring must share that folder too.
///
/// The store writes no token to a file. So if a process is killed after the server has answered a
/// refresh, and before the keyring has the new token, the sign-in is lost.
///
/// The store calls the Secret Service directly. In an app container such as Flatpak it does not use
/// the portal for secrets.
public final class SecretServiceTokenStore: TokenStore {
  /// The name that separates an app's accounts from those of other apps.
  public let service: String
  private let keyring: Keyring
  private let locks: AccountLocks
  private let owed: OwedRecords
  // A queue, since libsecret blocks its thread, perhaps until the user answers.
  private let queue = BlockingQueue("SecretServiceTokenStore")

  /// Makes a store for the accounts of a service; the store's first call connects to the keyring.
  ///
  /// `whenWaiting` is called, on some thread, each time that a call has waited three seconds for the
  /// keyring, which may be asking the user on another screen.
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

  /// Makes a store with a bus, time limits and a library of a test's choice.
  package convenience init(
    service: String, folder: String, bus: String, limit: Duration = .seconds(120),
    patience: Duration? = nil, library: String? = nil, whenWaiting: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      keyring: Keyring(
        service: service, address: KeyringAddress(bus: bus, library: library), limit: limit,
        whenWaiting: whenWaiting),
      folder: folder, patience: patience)
  }

  init(keyring: Keyring, folder: String, patience: Duration? = nil) {
    service = keyring.service
    self.keyring = keyring
    locks = AccountLocks(folder: folder + "/locks")
    owed = OwedRecords(patience: patience)
  }

  /// Whether a keyring answers, locked or not.
  ///
  /// This takes at most ten seconds, and the keyring does not ask the user. In a cancelled task it
  /// returns `false` at once.
  public static func isAvailable() async -> Bool {
    await isAvailable(bus: nil)
  }

  /// Whether a keyring answers, with a bus and a library of a test's choice.
  package static func isAvailable(bus: String?, library: String? = nil) async -> Bool {
    let keyring = Keyring(service: "", address: KeyringAddress(bus: bus, library: library))
    let queue = BlockingQueue("SecretServiceTokenStore.isAvailable")
    let answers = try? await queue.run(
      ifCancelled: KeyringFailure.cancelled.error
    ) { interruption throws(SQOAuthError) in keyring.ended(by: interruption).answers() }
    return answers ?? false
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await run { keyring throws(SQOAuthError) in try keyring.load(id) }
  }

  /// Saves a record; it replaces the account's earlier record.
  ///
  /// If the earlier record cannot be understood, this throws and changes nothing.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    try await save(record.id) { attempt throws(SQOAuthError) in
      // A save goes on if the caller is cancelled: its token may be the only one.
      try await queue.run { [keyring] () throws(SQOAuthError) in
        try keyring.making(attempt).save(record)
      }
    }
  }

  /// Saves a record by an attempt, which is repeated if the record must not be lost.
  func save(
    _ id: String, by attempt: (OwedRecords.Attempt) async throws(SQOAuthError) -> Void
  ) async throws(SQOAuthError) {
    try await owed.save(id, whenWaiting: keyring.whenWaiting, by: attempt)
  }

  /// Removes the record of an account, even if the record cannot be understood.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await run { keyring throws(SQOAuthError) in try keyring.erase(id) }
  }

  /// Lists the ids of all accounts that have a record.
  ///
  /// An item that cannot be understood has no id, so it is passed over; ``load(_:)`` of its account
  /// reports it.
  public func list() async throws(SQOAuthError) -> [String] {
    try await run { keyring throws(SQOAuthError) in try keyring.list() }
  }

  /// Loads the records of all accounts.
  public func all() async throws(SQOAuthError) -> [AccountRecord] {
    try await run { keyring throws(SQOAuthError) in try keyring.all() }
  }

  /// Loads the records of the accounts that follow an id, at most `limit` of them.
  ///
  /// The keyring gives out all records at once, so each page costs as much as ``all()``.
  public func page(
    after id: String?, limit: Int
  ) async throws(SQOAuthError) -> [AccountRecord] {
    try await all().page(after: id, limit: limit)
  }

  /// Takes the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// The right holds for all processes that share the state folder.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    try await queue.run { [locks] () throws(SQOAuthError) in try locks.lease(id) }
  }

  /// Names the process that has the right to change an account, if it is known.
  public func leaseHolder(_ id: String) async -> String? {
    try? await queue.run { [locks] () throws(SQOAuthError) in locks.holder(id) }
  }

  /// Unlocks the keyring and saves the account's record again, which shows that saving works.
  ///
  /// Before a sign-in, it also creates the keyring's default collection if that is missing, and
  /// checks that refreshes will get the account's lease.
  ///
  /// The store writes no token to another place. So if the process is killed after the server's
  /// answer and before the keyring has the new token, that token is lost.
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
    try await queue.run(
      ifCancelled: KeyringFailure.cancelled.error
    ) { [keyring] interruption throws(SQOAuthError) in
      try body(keyring.ended(by: interruption))
    }
  }
}
