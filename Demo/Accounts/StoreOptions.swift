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

  /// Opens the store, to keep an account in it.
  ///
  /// What is wrong with it is told now, and not when somebody has signed in.
  func open(_ console: Console) async throws(Failure) -> OpenStore {
    let store = try await store(console)
    _ = try await store.attempt { try await $0.list() }
    return store
  }

  private func store(_ console: Console) async throws(Failure) -> OpenStore {
    switch option {
    case .memory:
      return .memory()
    case .file(let path):
      return OpenStore(FileTokenStore(path: path), place: "the file \(path)")
    case .sqlite(let path):
      return OpenStore(SQLiteTokenStore(path: path), place: "the database \(path)")
    case .encrypted(let path):
      let (key, where_) = try await key(of: path, console)
      return OpenStore(
        EncryptedFileTokenStore(path: path, key: key), place: "the encrypted file \(path)\(where_)")
    case .encryptedSQLite(let path):
      let (key, where_) = try await key(of: path, console)
      return OpenStore(
        SQLiteTokenStore(path: path, key: key), place: "the encrypted database \(path)\(where_)")
    case .keyring:
      let store = try await Failure.translating { () throws(SQOAuthError) in
        try SecretServiceTokenStore(service: Self.service)
      }
      return OpenStore(store, place: "the desktop's keyring")
    case nil:
      return try await Failure.translating { () throws(SQOAuthError) in
        let store = try EncryptedFileTokenStore(service: Self.service)
        return OpenStore(
          store, place: "the encrypted file \(store.path), with its key beside it")
      }
    }
  }

  /// The name under which the program's accounts are kept apart from those of others.
  private static let service = "sq-demo"

  private func key(
    of path: String, _ console: Console
  ) async throws(Failure) -> (StoreKey, inWords: String) {
    let source = KeySource(path: path, passphrase: passphrase)
    switch try await source.find(console) {
    case .passphrase(let passphrase): return (.passphrase(passphrase.value), "")
    case .file(let path): return (.file(path), ", with its key beside it")
    }
  }
}
