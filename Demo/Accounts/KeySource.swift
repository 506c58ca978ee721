import SequencingOAuth

/// The source of an encrypted store's key: a passphrase or a key file.
struct KeySource: Sendable {
  enum Key: Sendable, Equatable {
    case passphrase(Secret)
    case file(String)

    var storeKey: StoreKey {
      switch self {
      case .passphrase(let passphrase): .passphrase(passphrase.value)
      case .file(let path): .file(path)
      }
    }

    /// The phrase about the key in a message, after the location of the store.
    var inWords: String {
      switch self {
      case .passphrase: ""
      case .file: ", with its key beside it"
      }
    }
  }

  /// The path of the store; the store need not exist yet.
  let path: String
  /// The paths of the files beside the store that have the store's key.
  ///
  /// They may exist before the store: a first sign-in registers the program before it saves an
  /// account.
  var companions: [String] = []
  /// The name of the store in questions to the user; `nil` to show the path instead.
  var name: String?
  /// The passphrase from the options or the environment; if there is one, it is the key.
  let passphrase: Secret?
  /// Returns whether the store is a database without a key; `nil` if the store is a file.
  var isNewDatabase: (@Sendable () async throws(Failure) -> Bool)?
  var prompt: PassphrasePrompt? = .atTerminal

  /// The key file that belongs to the store.
  private var keyPath: String { path + ".key" }

  /// Finds the key.
  ///
  /// Asks the user for a passphrase only if there is neither a passphrase nor a key file.
  func find(_ console: Console) async throws(Failure) -> Key {
    if let passphrase { return .passphrase(passphrase) }
    if FileReading.isThere(keyPath) { return .file(keyPath) }
    let isNew =
      if let isNewDatabase {
        try await isNewDatabase()
      } else {
        !([path] + companions).contains(where: FileReading.isThere)
      }
    guard let prompt else {
      guard isNew else { throw needsPassphrase }
      return .file(keyPath)
    }
    guard isNew else {
      return .passphrase(
        try await prompt.ask("Passphrase of \((name ?? path).onScreen): ", console))
    }
    let reason = name.map { "There are no accounts in \($0) yet" } ?? "\(path) is new"
    return try await prompt.askForNew(because: reason, keyPath: keyPath, console)
      .map(Key.passphrase) ?? .file(keyPath)
  }

  private var needsPassphrase: Failure {
    Failure(
      "passphrase_needed",
      "\((name ?? path).onScreen) has no key file \(keyPath.onScreen), so its passphrase is needed, "
        + "and there is no terminal to ask for it",
      status: .notAuthorized
    ).withHint("Put it into SQ_STORE_PASSPHRASE, or into a file that --passphrase-file names.")
  }
}
