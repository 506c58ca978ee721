import SQBasics
import SQFiles
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Chooses the store of a desktop user's accounts, and remembers the choice in a file.
///
/// The choice is written before the first account is saved. So when the keyring does not answer
/// later, the accounts do not seem to have disappeared. Every call blocks its thread.
struct DesktopPlaces: Sendable {
  let folder: String
  var keyring: Keyring
  private let silence = KeyringSilence()
  /// Whether there is a screen on which the keyring can ask the user to unlock it.
  let hasDisplay: Bool

  var sealedPath: String { folder + "/tokens.sealed" }
  var keyPath: String { folder + "/tokens.key" }
  private var marker: PrivateFile { PrivateFile(path: folder + "/tokens.place") }

  init(folder: String, keyring: Keyring, hasDisplay: Bool) {
    self.folder = folder
    self.keyring = keyring
    self.hasDisplay = hasDisplay
  }

  /// The place of the accounts; `nil` while no place was chosen and no keyring answers.
  func current() throws(SQOAuthError) -> DesktopTokenStore.Place? {
    if let place = try remembered() { return place }
    switch try answer() {
    case .none: return nil
    // Perhaps it asks for a password, which the user can give on a display only.
    case .silence: return hasDisplay ? .keyring : nil
    case .state(let state):
      return state.holdsAccounts || state.isOpen || hasDisplay ? .keyring : nil
    }
  }

  /// The place of the accounts, or the place that a first save would choose now.
  func next() throws(SQOAuthError) -> DesktopTokenStore.Place {
    if let place = try remembered() { return place }
    switch try answer() {
    case .none: return file
    case .silence: return hasDisplay ? .keyring : file
    // A locked keyring without a screen would refuse every save.
    case .state(let state):
      return state.holdsAccounts || state.isOpen || hasDisplay ? .keyring : file
    }
  }

  /// What the keyring answers; one that was silent is left alone for a minute.
  private func answer() throws(SQOAuthError) -> KeyringAnswer {
    if silence.isRecent { return .silence }
    let answer = try keyring.state()
    if answer == .silence { silence.begin() }
    return answer
  }

  /// Makes sure that the keyring will be remembered as the place of the accounts.
  func checkRemembering() throws(SQOAuthError) {
    guard try reported("read", { () throws(FileFailure) in try marker.read() }) == nil else {
      return
    }
    let lock = try reported("locked") { () throws(FileFailure) in try marker.lock() }
    defer { lock.remove() }
    try reported("written") { () throws(FileFailure) in try marker.checkReplacing() }
  }

  /// Saves a record if its place is the keyring, and returns its place; chooses it if needed.
  func save(_ record: AccountRecord) throws(SQOAuthError) -> DesktopTokenStore.Place {
    if let place = try saveWhereRemembered(record) { return place }
    return try locked { () throws(SQOAuthError) in
      // Another process may have chosen a place since the first look.
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

  /// Saves the first record into the keyring; if that fails, forgets the choice of the place.
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

  /// The place that was chosen; `nil` if no place was chosen yet.
  func remembered() throws(SQOAuthError) -> DesktopTokenStore.Place? {
    let content = try reported("read") { () throws(FileFailure) in try marker.read() }
    switch content.map({ String(decoding: $0, as: UTF8.self) }) {
    case "keyring\n": return .keyring
    case "encrypted-file\n": return file
    case .some:
      throw SQOAuthError(
        .storeTooNew,
        "\(marker.path.printable) names a store that this program does not know")
    // An encrypted file may be older than the choice.
    case nil: return PrivateFile(path: sealedPath).isThere ? file : nil
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

/// The time since when a keyring has been silent.
private final class KeyringSilence: Sendable {
  private static let duration = Duration.seconds(60)
  private let start = Locked<ContinuousClock.Instant?>(nil)

  var isRecent: Bool { start.withLock { $0.map { .now - $0 < Self.duration } ?? false } }

  func begin() { start.withLock { $0 = .now } }
}
