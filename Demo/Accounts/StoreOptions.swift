import SequencingOAuth
import SequencingOAuthSQLite
import SequencingOAuthSecretService

extension Option {
  static let store = Option(
    "--store", value: "STORE",
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
  private let passphrase: Passphrase?

  init(_ arguments: Arguments) throws(Failure) {
    option = try StoreOption(arguments[.store])
    guard let file = arguments[.passphraseFile] else {
      passphrase = arguments.secrets.passphrase
      return
    }
    guard option?.isEncrypted == true else {
      throw .usage(
        "--passphrase-file is for --store encrypted:PATH and --store encrypted-sqlite:PATH")
    }
    passphrase = try Passphrase(file: file)
  }

  /// Whether a store was named.
  var areGiven: Bool { option != nil }

  /// Where nothing is kept yet, in words.
  var emptyPlace: String {
    option?.path.map { "\($0.printable), which is not there" } ?? "memory, which does not last"
  }

  /// Opens the store, or returns `nil` where none was made yet; making one asks for a passphrase.
  func openIfThere(_ console: Console) async throws(Failure) -> OpenStore? {
    if let path = option?.path, !FileReading.isThere(path) { return nil }
    return try await open(console)
  }

  /// Opens the store; it is looked into, and made, when it is used.
  func open(_ console: Console) async throws(Failure) -> OpenStore {
    switch option {
    case .memory:
      return .memory()
    case .file(let path):
      return OpenStore(FileTokenStore(path: path), place: "the file \(path)")
    case .sqlite(let path):
      return OpenStore(SQLiteTokenStore(path: path), place: "the database \(path)")
    case .encrypted(let path):
      let key = try await KeySource(path: path, passphrase: passphrase).find(console)
      return OpenStore(
        EncryptedFileTokenStore(path: path, key: key.storeKey),
        place: "the encrypted file \(path)\(key.inWords)")
    case .encryptedSQLite(let path):
      let key = try await KeySource(path: path, passphrase: passphrase).find(console)
      return OpenStore(
        SQLiteTokenStore(path: path, key: key.storeKey),
        place: "the encrypted database \(path)\(key.inWords)")
    case .keyring:
      let store = try await Failure.translating { () throws(SQOAuthError) in
        try SecretServiceTokenStore(service: Self.service)
      }
      return OpenStore(store, place: "the desktop's keyring")
    case nil:
      return try await Failure.translating { () throws(SQOAuthError) in
        OpenStore(try DesktopTokenStore(service: Self.service))
      }
    }
  }

  /// The name under which the program's accounts are kept apart from those of others.
  private static let service = "sq-demo"
}
