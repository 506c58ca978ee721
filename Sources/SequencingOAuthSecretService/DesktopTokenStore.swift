import SQBasics
public import SQFoundation
public import SequencingOAuth

/// A token store for desktop users: the keyring if there is one, otherwise an encrypted file.
///
/// The store chooses a place when it saves the first account. It uses the keyring, through a
/// ``SecretServiceTokenStore``, if there is a keyring and at least one of these is true: there is a
/// display, where the keyring can ask the user; or the keyring answers within ten seconds, and is
/// unlocked or has accounts of this service. Otherwise the store uses an
/// `EncryptedFileTokenStore`: the file `tokens.sealed` with its key in `tokens.key`. Both are in
/// the state folder, `$XDG_STATE_HOME/SERVICE` or `~/.local/state/SERVICE`.
///
/// If the calling task is cancelled, a call that waits for the keyring throws
/// `SQOAuthError.Code.cancelled` at once, except a save.
///
/// The file `tokens.place` in the state folder contains the choice. If the store has chosen the
/// encrypted file, accounts stay there even if a keyring appears later. If it has chosen the
/// keyring and the keyring does not answer, calls throw `SQOAuthError.Code.storeFailed` instead of
/// behaving as if there were no accounts. If the keyring rejects the first save, the next save
/// chooses again. To make the store choose again later, sign out of all accounts and remove
/// `tokens.place` and `tokens.sealed`.
///
/// | can read the tokens | keyring | encrypted file |
/// |---|---|---|
/// | other users of the machine | no | no |
/// | a person with the disk, or with a backup of the whole folder | no, if the keyring's password is not empty | yes: the key is there too |
/// | a person with a copy of `tokens.sealed` alone | – | no |
/// | a program of the same user | yes, while the keyring is unlocked | yes |
/// | root | yes, while the keyring is unlocked | yes |
///
/// If an app needs more protection than the file gives, it can ask the user for a passphrase and
/// use an `EncryptedFileTokenStore` with that passphrase.
public final class DesktopTokenStore: SharedTokenStore, ReservingTokenStore, PagedTokenStore {
  /// The place where the store keeps the accounts.
  public enum Place: Sendable, Hashable, CustomStringConvertible {
    /// The desktop's keyring.
    case keyring
    /// An encrypted file, with a key file in the same folder.
    case encryptedFile(path: String)

    /// A description of the place, for an app to show to the user.
    public var description: String {
      switch self {
      case .keyring: "the desktop's keyring"
      case .encryptedFile(let path):
        "the encrypted file \(path.printable), with its key beside it"
      }
    }
  }

  private let places: DesktopPlaces
  private let keyring: SecretServiceTokenStore
  private let file: EncryptedFileTokenStore
  private let queue = BlockingQueue("DesktopTokenStore")

  /// Creates a store for a service; each app needs a service name of its own.
  ///
  /// `whenWaiting` is called on any thread, each time a call has waited three seconds for the
  /// keyring. The keyring may then be waiting for the user's answer on another screen.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the name is empty, begins with a dot or
  ///   contains a slash; `SQOAuthError.Code.storeFailed` if there is no state folder.
  public convenience init(
    service: String, whenWaiting: (@Sendable () -> Void)? = nil
  ) throws(SQOAuthError) {
    let environment = ProcessInfo.processInfo.environment
    self.init(
      keyring: Keyring(service: service, whenWaiting: whenWaiting),
      folder: try StateFolder.path(service: service),
      hasDisplay: ["WAYLAND_DISPLAY", "DISPLAY"].contains { environment[$0]?.isEmpty == false })
  }

  /// Creates a store for a test, with the test's own bus, folder and library.
  package convenience init(
    service: String, folder: String, bus: String, hasDisplay: Bool,
    limit: Duration = .seconds(120), library: String? = nil,
    whenWaiting: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      keyring: Keyring(
        service: service, address: KeyringAddress(bus: bus, library: library), limit: limit,
        whenWaiting: whenWaiting),
      folder: folder, hasDisplay: hasDisplay)
  }

  private init(keyring: Keyring, folder: String, hasDisplay: Bool) {
    places = DesktopPlaces(folder: folder, keyring: keyring, hasDisplay: hasDisplay)
    self.keyring = SecretServiceTokenStore(keyring: keyring, folder: folder)
    file = EncryptedFileTokenStore(path: places.sealedPath, key: .file(places.keyPath))
  }

  /// Where the store keeps the accounts; before the first save, where it would keep them now.
  ///
  /// Its `description` is a text that an app can show to the user.
  public var place: Place {
    get async throws(SQOAuthError) {
      try await run { places throws(SQOAuthError) in try places.next() }
    }
  }

  /// Loads the record of an account, or `nil` if the store has none.
  public func load(_ id: String) async throws(SQOAuthError) -> AccountRecord? {
    try await store()?.attempt("be read") { try await $0.load(id) }
  }

  /// Saves a record, replacing the account's earlier record.
  ///
  /// The first save chooses the place.
  public func save(_ record: AccountRecord) async throws(SQOAuthError) {
    let place = Locked<Place?>(nil)
    try await keyring.save(record.id) { attempt throws(SQOAuthError) in
      let saved = try await queue.run { [places] () throws(SQOAuthError) in
        var places = places
        places.keyring = places.keyring.making(attempt)
        return try places.save(record)
      }
      place.withLock { $0 = saved }
    }
    if place.withLock(\.self) != .keyring { try await file.save(record) }
  }

  /// Removes the record of an account.
  public func erase(_ id: String) async throws(SQOAuthError) {
    try await store()?.attempt("erase the account") { try await $0.erase(id) }
  }

  /// Lists the IDs of all accounts that have a record.
  public func list() async throws(SQOAuthError) -> [String] {
    try await store()?.attempt("be listed") { try await $0.list() } ?? []
  }

  /// Reads the next accounts after `key`, at most `limit`, in the order of `AccountEntry.key`.
  public func entries(
    after key: Data?, limit: Int
  ) async throws(SQOAuthError) -> [AccountEntry] {
    try await store()?.attempt("be read") { try await $0.entries(after: key, limit: limit) } ?? []
  }

  /// Takes the exclusive right to change an account; returns `nil` while another caller has it.
  ///
  /// It excludes the other callers in all processes that share the state folder.
  public func lease(_ id: String) async throws(SQOAuthError) -> AccountLease? {
    switch try await run({ places throws(SQOAuthError) in try places.remembered() }) {
    case .keyring: return try await keyring.lease(id)
    case .encryptedFile: return try await file.lease(id)
    case nil:
      // Take the lease for the keyring and for the file, because another process may choose one of
      // them meanwhile.
      guard let first = try await keyring.lease(id) else { return nil }
      do throws(SQOAuthError) {
        if let second = try await file.lease(id) {
          return AccountLease {
            second.release()
            first.release()
          }
        }
      } catch {
        first.release()
        throw error
      }
      first.release()
      return nil
    }
  }

  /// Returns the name of the process that holds an account's lease; `nil` if it is not known.
  public func leaseHolder(_ id: String) async -> String? {
    if let holder = await keyring.leaseHolder(id) { return holder }
    return await file.leaseHolder(id)
  }

  /// Makes sure that the account's next record can be saved where the account is stored.
  public func reserve(
    _ id: String, replacing record: AccountRecord?
  ) async throws(SQOAuthError) -> AccountReservation {
    switch try await run({ places throws(SQOAuthError) in try places.next() }) {
    case .keyring:
      if record == nil {
        try await run { places throws(SQOAuthError) in try places.checkRemembering() }
      }
      return try await keyring.reserve(id, replacing: record)
    case .encryptedFile:
      if record == nil {
        try await run { places throws(SQOAuthError) in try places.checkRemembering() }
      }
      return try await file.reserve(id, replacing: record)
    }
  }

  private func store() async throws(SQOAuthError) -> (any PagedTokenStore)? {
    switch try await run({ places throws(SQOAuthError) in try places.current() }) {
    case .keyring: keyring
    case .encryptedFile: file
    case nil: nil
    }
  }

  private func run<Value: Sendable>(
    _ body: @escaping @Sendable (DesktopPlaces) throws(SQOAuthError) -> Value
  ) async throws(SQOAuthError) -> Value {
    try await queue.run(places.keyring) { [places] keyring throws(SQOAuthError) in
      var places = places
      places.keyring = keyring
      return try body(places)
    }
  }
}
