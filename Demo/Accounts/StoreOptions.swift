import SequencingOAuth
import SequencingOAuthSQLite
import SequencingOAuthSecretService

extension Option {
  static let store = Option(
    "--store", value: "STORE",
    choices: ["keyring", "file:", "encrypted:", "sqlite:", "encrypted-sqlite:", "memory"],
    help: "Where accounts are kept: keyring, file:PATH, encrypted:PATH, sqlite:PATH, "
      + "encrypted-sqlite:PATH or memory; 'sq-demo help stores' tells of each, and of the default.")
  static let passphraseFile = Option(
    "--passphrase-file", value: "FILE",
    help: "A file whose first line is the passphrase of an encrypted store; the environment "
      + "variable SQ_STORE_PASSPHRASE can hold it too. Without either a key file beside the "
      + "store is used, or a terminal asks.")
}

/// Which store a command works with, and how it is opened.
struct StoreOptions: Sendable {
  static let options: [Option] = [.store, .passphraseFile]

  private let option: StoreOption?
  private let passphrase: Secret?
  /// The options as they were given, for a command that a person may type.
  private let words: [String]

  init(_ arguments: Arguments) throws(Failure) {
    option = try StoreOption(arguments[.store])
    words = [Option.store, .passphraseFile].flatMap { option in
      arguments[option].map { [option.name, $0] } ?? []
    }
    guard let file = arguments[.passphraseFile] else {
      passphrase = arguments.secrets.passphrase
      return
    }
    guard option?.isEncrypted == true else {
      throw .usage(
        "--passphrase-file is for --store encrypted:PATH and --store encrypted-sqlite:PATH")
    }
    passphrase = try Secret(.passphrase, file: file)
  }

  /// Whether a store was named.
  var areGiven: Bool { option != nil }
  /// Whether a store was named that lasts.
  var last: Bool { option != nil && option != .memory }

  /// What signs an account of the store in again, for a person to type.
  func signInCommand(_ id: String) -> String {
    (["sq-demo", "login", "--account", id] + words)
      .map { ShellWords.quote($0.printable) }.joined(separator: " ")
  }

  /// Where nothing is kept yet, in words.
  var emptyPlace: String {
    option?.path.map { "\($0.printable), which is not there" } ?? "memory, which does not last"
  }

  /// Opens the store, or returns `nil` where none was made yet; making one asks for a passphrase.
  func openIfThere(_ console: Console) async throws(Failure) -> OpenStore? {
    if let path = option?.path, !FileReading.isThere(path) { return nil }
    return try await open(console)
  }
}

// MARK: - Opening

extension StoreOptions {
  /// Opens the store; it is looked into, and made, when it is used.
  func open(_ console: Console) async throws(Failure) -> OpenStore {
    switch option {
    case .memory:
      return .memory()
    case .file(let path):
      return OpenStore(
        FileTokenStore(path: path), clients: FileTokenStore(path: Self.clients(of: path)),
        place: "the file \(path)")
    case .sqlite(let path):
      return OpenStore(
        SQLiteTokenStore(path: path), clients: FileTokenStore(path: Self.clients(of: path)),
        place: "the database \(path)")
    case .encrypted(let path):
      let key = try await KeySource(path: path, passphrase: passphrase).find(console)
      return OpenStore(
        EncryptedFileTokenStore(path: path, key: key.storeKey),
        clients: EncryptedFileTokenStore(path: Self.clients(of: path), key: key.storeKey),
        place: "the encrypted file \(path)\(key.inWords)")
    case .encryptedSQLite(let path):
      let key = try await KeySource(path: path, passphrase: passphrase).find(console)
      return OpenStore(
        SQLiteTokenStore(path: path, key: key.storeKey),
        clients: EncryptedFileTokenStore(path: Self.clients(of: path), key: key.storeKey),
        place: "the encrypted database \(path)\(key.inWords)")
    case .keyring, nil:
      return try await Failure.translating { () throws(SQOAuthError) in try openDesktop() }
    }
  }

  /// The desktop user's store; how its accounts were signed in is sealed, as the tokens are.
  private func openDesktop() throws(SQOAuthError) -> OpenStore {
    let folder = try StateFolder.path(service: Self.service)
    let clients = EncryptedFileTokenStore(
      path: folder + "/clients.sealed", key: .file(folder + "/clients.key"))
    guard option == .keyring else {
      return OpenStore(try DesktopTokenStore(service: Self.service), clients: clients)
    }
    return OpenStore(
      try SecretServiceTokenStore(service: Self.service), clients: clients,
      place: "the desktop's keyring")
  }

  /// Where it is kept how the accounts of a store's file were signed in.
  private static func clients(of path: String) -> String { path + ".clients" }

  /// The name under which the program's accounts are kept apart from those of others.
  private static let service = "sq-demo"
}
