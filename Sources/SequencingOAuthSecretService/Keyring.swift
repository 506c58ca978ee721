import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// The state of a keyring, or the reason why it is not known.
enum KeyringAnswer: Sendable, Hashable {
  /// There is no usable keyring.
  case none
  /// There is a keyring, but it does not answer, perhaps because it waits for the user's answer.
  case silence
  case state(KeyringState)
}

/// The part of a keyring's state that can be read without unlocking the keyring.
struct KeyringState: Sendable, Hashable {
  /// Whether the keyring has accounts of the service.
  let holdsAccounts: Bool
  /// Whether a save would succeed without asking the user to unlock the keyring.
  let isOpen: Bool
}

/// The accounts of a service in the keyring; every call blocks its thread.
///
/// Each account is an item. Its secret is the record as ``PlainJSON``, and its attributes are the
/// service and a digest of the account's ID. The ID itself is not an attribute, because the keyring
/// does not encrypt attributes and D-Bus cannot carry a text with a NUL. The attributes do not have
/// the usual names: if a program stores an item whose only attribute is a `service`, the keyring
/// replaces any item with that `service`, even if that item has more attributes.
struct Keyring: Sendable {
  /// The format of the items that this version writes.
  static let format = 1

  /// The time limit for finding out whether there is a keyring and what its state is.
  private static let shortLimit = Duration.seconds(10)

  let service: String
  private let address: KeyringAddress
  /// The time limit of one call, including the user's answer to a prompt.
  private(set) var limit: Duration
  /// A closure that is called on any thread when a call has waited for 3 s.
  let whenWaiting: (@Sendable () -> Void)?
  /// Whether a save may ask the user; if `false`, a save fails while the keyring is locked.
  private(set) var asks = true
  /// The interruption that ends calls before their time limit; `nil` for none.
  private var interruption: Interruption?

  init(
    service: String, address: KeyringAddress = KeyringAddress(), limit: Duration = .seconds(120),
    whenWaiting: (@Sendable () -> Void)? = nil
  ) {
    self.service = service
    self.address = address
    self.limit = limit
    self.whenWaiting = whenWaiting
  }

  /// Returns a copy with the settings of one attempt to save a record.
  func making(_ attempt: UnsavedRecords.Attempt) -> Keyring {
    var keyring = self
    keyring.asks = attempt.asks
    if let limit = attempt.limit { keyring.limit = min(keyring.limit, limit) }
    return keyring
  }

  /// Returns a copy whose calls end when an interruption is raised.
  func ended(by interruption: Interruption) -> Keyring {
    var keyring = self
    keyring.interruption = interruption
    return keyring
  }

  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try run { session throws(KeyringFailure) in try records(session, attributes(id)).first }
  }

  /// Lists the IDs of all accounts with readable items; ``load(_:)`` throws for unreadable ones.
  ///
  /// Only an item's secret contains the ID, so the ID of an unreadable item is not known.
  func list() throws(SQOAuthError) -> [String] {
    try entries().compactMap { try? $0.record.get().id }
  }

  /// Reads all accounts, sorted by their keys.
  ///
  /// The ID of an unreadable item is not known; its key is the digest in its attributes.
  func entries() throws(SQOAuthError) -> [AccountEntry] {
    try run { session throws(KeyringFailure) in
      var entries = TextDictionary<AccountEntry>()
      for item in try items(session, attributes()) {
        let entry = try entry(item, session)
        // An older item of the account may be in a collection that was the default before.
        if entries[entry.id] == nil { entries[entry.id] = entry }
      }
      return entries.all.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
  }

  private func entry(
    _ item: KeyringItem, _ session: KeyringSession
  ) throws(KeyringFailure) -> AccountEntry {
    do throws(KeyringFailure) {
      let record = try decode(item, session)
      return AccountEntry(record.id, .success(record))
    } catch {
      guard error.concernsOneItem else { throw error }
      return AccountEntry(item.attribute("oauth-account") ?? "", .failure(error.error))
    }
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    let secret = try Self.secret(of: record)
    try run { session throws(KeyringFailure) in
      let items = try items(session, attributes(record.id), asks: asks)
      // An unreadable item must not be overwritten.
      for item in items { _ = try decode(item, session) }
      guard let newest = items.first else {
        if !asks, try !session.isOpen() { throw .locked }
        return try add(secret, for: record.id, session)
      }
      // The item stays in its collection, even if that is not the current default collection.
      try session.replace(newest, by: secret)
      for other in items.dropFirst() { try session.delete(other) }
    }
  }

  /// Unlocks the account's item, or the default collection if there is no item.
  ///
  /// If the default collection is missing, it is created, as a save would do.
  func unlock(_ id: String) throws(SQOAuthError) {
    guard try load(id) == nil else { return }
    try run { session throws(KeyringFailure) in try session.open() }
  }

  /// Checks that the account's item can be saved, by saving the record that it has.
  ///
  /// Only the holder of the account's lease may call this method; otherwise it could overwrite the
  /// newer record of another process.
  func rewrite(_ id: String) throws(SQOAuthError) {
    guard let stored = try load(id) else { return try unlock(id) }
    try save(stored)
  }

  func erase(_ id: String) throws(SQOAuthError) {
    try run { session throws(KeyringFailure) in
      let items = try find(session, asks: true) { () throws(KeyringFailure) in
        try session.items(attributes(id))
      }
      for item in items { try session.delete(item) }
    }
  }

  /// Returns the keyring's state within ten seconds, without asking the user.
  func state() throws(SQOAuthError) -> KeyringAnswer {
    do throws(KeyringFailure) {
      return .state(try beside { session throws(KeyringFailure) in try state(session) })
    } catch {
      switch error {
      case .noLibrary, .noFunction, .noBus, .noService, .noSession: return .none
      case .tooLong, .silentBus, .noAnswer: return .silence
      // There is a keyring, but its content is not known.
      default: throw error.error
      }
    }
  }

  private func state(_ session: KeyringSession) throws(KeyringFailure) -> KeyringState {
    if try session.searchMayAsk() { return KeyringState(holdsAccounts: false, isOpen: false) }
    return KeyringState(
      holdsAccounts: try !session.items(attributes()).isEmpty, isOpen: try session.isOpen())
  }

  /// Returns whether a keyring answers within ten seconds, locked or unlocked.
  func answers() -> Bool {
    (try? beside { _ in true }) ?? false
  }

  private func beside<Value>(
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(KeyringFailure) -> Value {
    try SharedKeyring.beside(
      address, limit: min(limit, Self.shortLimit), interruption: interruption, body)
  }
}

extension Keyring {
  private func run<Value: Sendable>(
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    var attempts = 3
    while true {
      do throws(KeyringFailure) {
        return try SharedKeyring.at(address).use(
          limit: limit, whenWaiting: whenWaiting, interruption: interruption, body)
      } catch {
        attempts -= 1
        // Try again if another process erased an item after the search had found it, or if the
        // session's two sides had different keys.
        guard error == .vanished || error == .garbled, attempts > 0 else { throw error.error }
      }
    }
  }
}
