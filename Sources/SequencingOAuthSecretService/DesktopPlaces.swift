import SQBasics
import SQFiles
import SQFoundation
import SequencingOAuth

/// The choice of where to keep a desktop user's accounts: in the keyring or in an encrypted file.
///
/// The choice is written to a file before the first account is saved. So if the keyring does not
/// answer later, calls fail instead of finding no accounts. Every call blocks its thread.
struct DesktopPlaces: Sendable {
  let folder: String
  var keyring: Keyring
  private let silence = KeyringSilence()
  /// Whether there is a display; the keyring needs it to ask the user for a password.
  let hasDisplay: Bool

  var sealedPath: String { EncryptedFileTokenStore.path(in: folder) }
  var keyPath: String { EncryptedFileTokenStore.keyPath(in: folder) }
  private var marker: PrivateFile { PrivateFile(path: folder + "/tokens.place") }

  init(folder: String, keyring: Keyring, hasDisplay: Bool) {
    self.folder = folder
    self.keyring = keyring
    self.hasDisplay = hasDisplay
  }

  /// Returns where the accounts are kept; `nil` if nothing was chosen and no keyring can be used.
  func current() throws(SQOAuthError) -> DesktopTokenStore.Place? {
    if let place = try remembered() { return place }
    switch try answer() {
    case .none: return nil
    // The keyring may be asking for a password, which the user can enter only on a display.
    case .silence: return hasDisplay ? .keyring : nil
    case .state(let state):
      return state.holdsAccounts || state.isOpen || hasDisplay ? .keyring : nil
    }
  }

  /// Returns where the accounts are kept; before the first save, where a save would put them now.
  func next() throws(SQOAuthError) -> DesktopTokenStore.Place {
    if let place = try remembered() { return place }
    switch try answer() {
    case .none: return file
    case .silence: return hasDisplay ? .keyring : file
    // Without a display, a locked keyring would reject every save.
    case .state(let state):
      return state.holdsAccounts || state.isOpen || hasDisplay ? .keyring : file
    }
  }

  /// Asks the keyring for its state; if it does not answer, asks it again only after a minute.
  private func answer() throws(SQOAuthError) -> KeyringAnswer {
    if silence.isRecent { return .silence }
    let answer = try keyring.state()
    if answer == .silence { silence.begin() }
    return answer
  }

  /// Checks that the choice between the keyring and the file can be stored.
  func checkRemembering() throws(SQOAuthError) {
    guard try reported("read", { () throws(FileFailure) in try marker.read() }) == nil else {
      return
    }
    let lock = try reported("locked") { () throws(FileFailure) in try marker.lock() }
    defer { lock.remove() }
    try reported("written") { () throws(FileFailure) in try marker.checkReplacing() }
  }

  /// Returns where the accounts are kept; if that is the keyring, first saves the record there.
  ///
  /// If nothing was chosen before, this method chooses between the keyring and the file.
  func save(_ record: AccountRecord) throws(SQOAuthError) -> DesktopTokenStore.Place {
    if let place = try saveWhereRemembered(record) { return place }
    return try locked { () throws(SQOAuthError) in
      // Another process may have chosen the keyring or the file in the meantime.
      if let place = try saveWhereRemembered(record) { return place }
      let place = try next()
      try remember(place)
      if place == .keyring { try saveFirst(record) }
      return place
    }
  }

  private func saveWhereRemembered(
    _ record: AccountRecord
  ) throws(SQOAuthError) -> DesktopTokenStore.Place? {
    let place = try remembered()
    if place == .keyring { try keyring.save(record) }
    return place
  }

  /// Saves the first record in the keyring; after a failure, removes the choice of the keyring.
  ///
  /// The choice stays if the keyring has accounts, or if its state is not known.
  private func saveFirst(_ record: AccountRecord) throws(SQOAuthError) {
    do throws(SQOAuthError) {
      try keyring.save(record)
    } catch {
      if case .state(let state) = try? keyring.state(), !state.holdsAccounts {
        try? marker.remove()
      }
      throw error
    }
  }

  private var file: DesktopTokenStore.Place { .encryptedFile(path: sealedPath) }

  /// Returns the chosen place, the keyring or the file; `nil` if nothing was chosen yet.
  func remembered() throws(SQOAuthError) -> DesktopTokenStore.Place? {
    let content = try reported("read") { () throws(FileFailure) in try marker.read() }
    switch content.map({ String(decoding: $0, as: UTF8.self) }) {
    case "keyring\n": return .keyring
    case "encrypted-file\n": return file
    case .some:
      throw SQOAuthError(
        .storeTooNew,
        "\(marker.path.printable) names no kind of store that this version of the SDK knows; use a newer "
          + "version of the program, or restore the file")
    // Without a stored choice, an existing encrypted file counts as the choice.
    case nil:
      let hasFile = try FileFailure.reported("\(sealedPath.printable) cannot be looked for") {
        () throws(FileFailure) in try PrivateFile(path: sealedPath).exists()
      }
      return hasFile ? file : nil
    }
  }

  private func remember(_ place: DesktopTokenStore.Place) throws(SQOAuthError) {
    let content = Data((place == .keyring ? "keyring\n" : "encrypted-file\n").utf8)
    try reported("written") { () throws(FileFailure) in try marker.replace(with: content) }
  }

  private func locked<Value>(
    _ body: () throws(SQOAuthError) -> Value
  ) throws(SQOAuthError) -> Value {
    let lock = try reported("locked") { () throws(FileFailure) in try marker.lock() }
    defer { lock.release() }
    return try body()
  }

  private func reported<Value>(
    _ what: String, _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("\(marker.path.printable) cannot be \(what)", calls)
  }
}

/// A note, kept for a minute, that a keyring did not answer.
private final class KeyringSilence: Sendable {
  private static let duration = Duration.seconds(60)
  private let start = Locked<ContinuousClock.Instant?>(nil)

  var isRecent: Bool { start.withLock { $0.map { .now - $0 < Self.duration } ?? false } }

  func begin() { start.withLock { $0 = .now } }
}
