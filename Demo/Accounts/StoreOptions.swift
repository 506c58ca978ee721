import SQBasics
import SQCrypto
import SequencingOAuth
import SequencingOAuthPostgreSQL
import SequencingOAuthSQLite
import SequencingOAuthSecretService

extension Option {
  static let store = Option(
    "--store", value: "STORE",
    choices: [
      "keyring", "file:", "encrypted:", "sqlite:", "encrypted-sqlite:", "postgresql://", "memory",
    ],
    help: "Where accounts are kept: keyring, file:PATH, encrypted:PATH, sqlite:PATH, "
      + "encrypted-sqlite:PATH, postgresql://USER@HOST/DATABASE or memory; 'sq-demo help stores' "
      + "explains each, and the default.")
  static let passphraseFile = Option(
    "--passphrase-file", value: "FILE",
    help: "A file whose first line is the passphrase of an encrypted store; the environment "
      + "variable SQ_STORE_PASSPHRASE can hold it too. Without either, the key is in a file beside "
      + "the store, or the program asks for the passphrase.")
}

/// The options that select a command's store.
struct StoreOptions: Sendable {
  static let options: [Option] = [.store, .passphraseFile, .verbose]

  private let option: StoreOption?
  private let passphrase: Secret?
  private let databasePassword: Secret?
  /// The options as the user typed them, for the command that signs in again.
  private let words: [String]

  init(_ arguments: Arguments) throws(Failure) {
    option = try StoreOption(arguments[.store])
    databasePassword = arguments.secrets.databasePassword
    let given = [Option.store, .passphraseFile].flatMap { option in
      arguments[option].map { [option.name, $0] } ?? []
    }
    words = given + arguments.network.words
    guard let file = arguments[.passphraseFile] else {
      passphrase = arguments.secrets.passphrase
      return
    }
    guard option?.isEncrypted == true else {
      throw .usage(
        "--passphrase-file is for --store encrypted:PATH, --store encrypted-sqlite:PATH and "
          + "--store postgresql://USER@HOST/DATABASE")
    }
    passphrase = try Secret(.passphrase, file: file)
  }

  /// Whether the user named a store.
  var areGiven: Bool { option != nil }
  /// Whether the user named a store that outlives the program: any store but memory.
  var last: Bool { option != nil && option != .memory }

  /// Returns the command that signs an account of the store in again, to show to the user.
  func signInCommand(_ id: String) -> String {
    (["sq-demo", "login", "--account", id] + words)
      .map { ShellWords.quote($0.onScreen) }.joined(separator: " ")
  }

  /// The location, in words, of a file that does not exist yet or of a store in memory.
  var emptyPlace: String {
    option?.path.map { "\($0.onScreen), which does not exist" } ?? "memory, for this run only"
  }

  /// Opens the store, or returns `nil` if its file does not exist yet.
  ///
  /// The user is asked for the passphrase of a new database, but never for that of a new file.
  func openIfThere(_ console: Console) async throws(Failure) -> OpenStore? {
    if let path = option?.path, !FileReading.isThere(path) { return nil }
    return try await open(console)
  }
}

// MARK: - Opening

extension StoreOptions {
  /// Opens the store; its file is read or created on first use.
  func open(_ console: Console) async throws(Failure) -> OpenStore {
    switch option {
    case .memory:
      return .memory()
    case .file(let path):
      return OpenStore(
        FileTokenStore(path: path), clients: FileTokenStore(path: Self.clients(of: path)),
        registrations: Self.registrations(of: path), place: "the file \(path)")
    case .sqlite(let path):
      let store = SQLiteTokenStore(path: path, key: nil)
      return OpenStore(
        store, clients: FileTokenStore(path: Self.clients(of: path)), registrations: store,
        place: "the database \(path)")
    case .encrypted(let path):
      let key = try await KeySource(
        path: path, companions: [Self.clients(of: path), Self.registrations(of: path).path],
        passphrase: passphrase
      ).find(console)
      let opened = OpenStore(
        EncryptedFileTokenStore(path: path, key: key.storeKey),
        clients: EncryptedFileTokenStore(path: Self.clients(of: path), key: key.storeKey),
        registrations: Self.registrations(of: path, key.storeKey),
        place: "the encrypted file \(path)\(key.inWords)")
      try await Self.checkKey(of: opened, at: path)
      return opened
    case .encryptedSQLite(let path):
      let key = try await KeySource(
        path: path, companions: [Self.clients(of: path)], passphrase: passphrase
      ).find(console)
      let store = SQLiteTokenStore(path: path, key: key.storeKey)
      let opened = OpenStore(
        store, clients: EncryptedFileTokenStore(path: Self.clients(of: path), key: key.storeKey),
        registrations: store,
        place: "the encrypted database \(path)\(key.inWords)")
      try await Self.checkKey(of: opened, at: path)
      return opened
    case .postgreSQL(let address):
      return try await open(address, console)
    case .keyring, nil:
      return try await Failure.translating { () throws(SQOAuthError) in
        try openDesktop(console)
      }
    }
  }

  /// Fails if a store that does not exist yet would get another key than the files beside it.
  private static func checkKey(of opened: OpenStore, at path: String) async throws(Failure) {
    guard !FileReading.isThere(path) else { return }
    _ = try await opened.clients?.record(AccountChoice.defaultID)
    // A database keeps the registrations itself.
    guard let registrations = opened.registrations as? FileRegistrationStore else { return }
    try await Failure.translating { () throws(SQOAuthError) in
      _ = try await registrations.registration(at: "")
    }
  }

  /// Opens a database; its key file and the store of its accounts' clients are in the state folder.
  private func open(
    _ address: DatabaseAddress, _ console: Console
  ) async throws(Failure) -> OpenStore {
    let folder = try await Failure.translating { () throws(SQOAuthError) in
      try StateFolder.path(service: Self.service)
    }
    let connection = address.connection(databasePassword)
    let key = try await KeySource(
      path: folder + "/database", name: "the database", passphrase: passphrase,
      isNewDatabase: { () async throws(Failure) -> Bool in
        try await Failure.translating { () throws(SQOAuthError) in
          try await !PostgreSQLTokenStore.hasKey(connection: connection)
        }
      }
    ).find(console)
    // The name of the clients' file contains a hash of the database's address, because accounts of
    // another database may have the same names.
    let name = Hexadecimal.encode(Digest.sha256(address.text).prefix(8))
    let store = PostgreSQLTokenStore(connection: connection, key: key.storeKey)
    return OpenStore(
      store,
      clients: EncryptedFileTokenStore(
        path: "\(folder)/database-\(name).clients", key: key.storeKey),
      registrations: store,
      place: "the database \(address.text)")
  }

  /// Opens the default store or the keyring, with a second, encrypted store of the accounts'
  /// clients.
  private func openDesktop(_ console: Console) throws(SQOAuthError) -> OpenStore {
    let folder = try StateFolder.path(service: Self.service)
    let key = StoreKey.file(folder + "/clients.key")
    let clients = EncryptedFileTokenStore(path: folder + "/clients.sealed", key: key)
    let registrations = Self.registrations(of: folder + "/clients", key)
    guard option == .keyring else {
      return OpenStore(
        try DesktopTokenStore(service: Self.service, whenWaiting: notice(console)),
        clients: clients,
        registrations: registrations)
    }
    return OpenStore(
      try SecretServiceTokenStore(service: Self.service, whenWaiting: notice(console)),
      clients: clients, registrations: registrations,
      place: "the desktop's keyring")
  }

  /// Returns the closure that a store calls when it waits for the keyring.
  ///
  /// The closure tells the user at most once in two minutes.
  private func notice(_ console: Console) -> @Sendable () -> Void {
    let last = Locked<ContinuousClock.Instant?>(nil)
    return {
      let isNew = last.withLock { last in
        let now = ContinuousClock.now
        guard last.map({ now - $0 > .seconds(120) }) ?? true else { return false }
        last = now
        return true
      }
      guard isNew else { return }
      try? console.errors.write(
        "Waiting for the desktop's keyring, which may ask in a window on the desktop's screen.\n")
    }
  }

  /// Returns the path of the file that keeps the clients and servers of a store's accounts.
  private static func clients(of path: String) -> String { path + ".clients" }

  /// Returns the store of the program's own registrations at servers.
  private static func registrations(
    of path: String, _ key: StoreKey? = nil
  ) -> FileRegistrationStore {
    FileRegistrationStore(path: path + ".registrations", key: key)
  }

  /// The program's service name in stores that several programs share.
  private static let service = "sq-demo"
}
