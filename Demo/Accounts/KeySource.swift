import SequencingOAuth

/// Where the key of an encrypted store comes from.
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

    /// What there is to say of it behind the store's place.
    var inWords: String {
      switch self {
      case .passphrase: ""
      case .file: ", with its key beside it"
      }
    }
  }

  /// The store's own file, which need not be there yet.
  let path: String
  /// A passphrase that was given, which settles it.
  let passphrase: Secret?
  var prompt: PassphrasePrompt? = .atTerminal

  /// The key file that belongs to the store.
  private var keyPath: String { path + ".key" }

  /// Finds it, and asks a person only where nothing else tells.
  func find(_ console: Console) async throws(Failure) -> Key {
    if let passphrase { return .passphrase(passphrase) }
    if FileReading.isThere(keyPath) { return .file(keyPath) }
    let isNew = !FileReading.isThere(path)
    guard let prompt else {
      guard isNew else { throw needsPassphrase }
      return .file(keyPath)
    }
    guard isNew else {
      return .passphrase(try await prompt.ask("Passphrase of \(path.printable): ", console))
    }
    return try await prompt.askForNew(for: path, console).map(Key.passphrase) ?? .file(keyPath)
  }

  private var needsPassphrase: Failure {
    Failure(
      "passphrase_needed",
      "\(path.printable) has no key file \(keyPath.printable), so it needs its passphrase, and "
        + "there is no terminal to ask at",
      status: .notAuthorized
    ).withHint("Put it into SQ_STORE_PASSPHRASE, or into a file that --passphrase-file names.")
  }
}
