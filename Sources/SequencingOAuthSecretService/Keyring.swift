import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The facts about a keyring that can be read without unlocking it.
struct KeyringState: Hashable {
  /// Whether the keyring has accounts of the service.
  let holdsAccounts: Bool
  /// Whether a save would succeed without a question to the user.
  let isOpen: Bool
}

/// The accounts of a service in the keyring; every call blocks its thread.
///
/// Each account is an item, whose secret is the record as JSON, and whose attributes are the
/// service and a digest of the account's id. The id itself is no attribute, because the keyring
/// keeps attributes in clear and D-Bus cannot carry a text with a NUL. The attributes do not have
/// the usual names: when a program stores an item whose only attribute is a `service`, the keyring
/// replaces any item with that `service`, even if that item has more attributes.
struct Keyring: Sendable {
  /// The format of the items that this version writes.
  static let format = 1

  let service: String
  /// The address of the session bus; `nil` takes it from the environment.
  var bus: String?
  /// How long one call may take, including the user's answer to a prompt.
  var limit: Duration = .seconds(120)
  /// The file of the library that asks the keyring; `nil` for the system's.
  var library: String?

  func load(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try run { session throws(KeyringFailure) in try records(session, attributes(id)).first }
  }

  func all() throws(SQOAuthError) -> [AccountRecord] {
    try run { session throws(KeyringFailure) in
      try records(session, attributes()).sorted { $0.id < $1.id }
    }
  }

  func save(_ record: AccountRecord) throws(SQOAuthError) {
    let secret = try record.json()
    let attributes = attributes(record.id)
    try run { session throws(KeyringFailure) in
      let items = try items(session, attributes)
      // An item that cannot be understood must not be overwritten.
      for item in items { _ = try decode(item) }
      guard let newest = items.first else {
        return try session.store(
          secret, label: label(record.id),
          attributes: attributes.merging(["oauth-format": "\(Self.format)"]) { $1 })
      }
      // The item stays in its collection, which need not be the present default collection.
      try session.replace(newest, by: secret)
      for other in items.dropFirst() { try session.delete(other) }
    }
  }

  /// Unlocks the account's item, or the default collection if there is no item; changes nothing.
  func unlock(_ id: String) throws(SQOAuthError) {
    guard try load(id) == nil else { return }
    try run { session throws(KeyringFailure) in try session.open() }
  }

  /// Checks that the account's item can be saved, by saving the record that it has.
  ///
  /// Only the holder of the account's lease may call this; otherwise it could overwrite the newer
  /// record of another process.
  func rewrite(_ id: String) throws(SQOAuthError) {
    guard let stored = try load(id) else { return try unlock(id) }
    try save(stored)
  }

  func erase(_ id: String) throws(SQOAuthError) {
    try run { session throws(KeyringFailure) in
      for item in try session.items(attributes(id)) { try session.delete(item) }
    }
  }

  /// Reads the keyring's state without a question to the user; `nil` if there is no keyring.
  func state() throws(SQOAuthError) -> KeyringState? {
    do throws(KeyringFailure) {
      return try KeyringSession.with(
        bus: bus, library: library, limit: limit
      ) { session throws(KeyringFailure) in
        KeyringState(
          holdsAccounts: try !session.items(attributes()).isEmpty, isOpen: try session.isOpen())
      }
    } catch {
      switch error {
      case .noLibrary, .noFunction, .noBus, .noService: return nil
      // There is a keyring, but what it contains is not known.
      default: throw error.error
      }
    }
  }

  /// Whether a keyring answers, locked or not.
  func answers() -> Bool {
    (try? KeyringSession.with(bus: bus, library: library, limit: limit) { _ in true }) ?? false
  }
}

extension Keyring {
  private func run<Value>(
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    var attempts = 3
    while true {
      do throws(KeyringFailure) {
        return try KeyringSession.with(bus: bus, library: library, limit: limit, body)
      } catch {
        attempts -= 1
        // Another process erased an item after the search had found it.
        guard error == .vanished, attempts > 0 else { throw error.error }
      }
    }
  }

  /// Finds the items with these attributes and unlocks them; the newest comes first.
  private func items(
    _ session: KeyringSession, _ attributes: [String: String]
  ) throws(KeyringFailure) -> [KeyringItem] {
    try session.openItems(attributes).sorted { $0.modified > $1.modified }
  }

  /// Finds the newest record of each account with these attributes.
  private func records(
    _ session: KeyringSession, _ attributes: [String: String]
  ) throws(KeyringFailure) -> [AccountRecord] {
    var records = TextDictionary<AccountRecord>()
    for item in try items(session, attributes) {
      let record = try decode(item)
      // An older item of the account is in a collection that was the default before.
      if records[record.id] == nil { records[record.id] = record }
    }
    return Array(records.all)
  }

  private func decode(_ item: KeyringItem) throws(KeyringFailure) -> AccountRecord {
    if let format = item.attribute("oauth-format").flatMap(Int.init), format > Self.format {
      throw .tooNew(service: service, format: format)
    }
    guard let secret = item.secret else { throw .vanished }
    guard let record = try? JSONDecoder().decode(AccountRecord.self, from: secret),
      item.attribute("oauth-account") == digest(record.id)
    else { throw .damaged(service: service) }
    return record
  }

  /// The attributes by which to find an account's item; without an id, the items of all accounts.
  private func attributes(_ id: String? = nil) -> [String: String] {
    var attributes = ["oauth-service": service]
    if let id { attributes["oauth-account"] = digest(id) }
    return attributes
  }

  private func digest(_ id: String) -> String {
    Hexadecimal.encode(Digest.sha256(id))
  }

  /// The item's label, which the user sees in the desktop's keyring program.
  private func label(_ id: String) -> String {
    "\(service.printable): account \"\(id.printable.prefix(100))\""
  }
}
