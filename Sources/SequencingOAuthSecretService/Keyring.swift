import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a keyring tells without being unlocked.
struct KeyringState: Hashable {
  /// Whether it has accounts of the service.
  let holdsAccounts: Bool
  /// Whether a save would ask the user nothing.
  let isOpen: Bool
}

/// The accounts of a service in the keyring; every call blocks its thread.
///
/// An item is found by the service and a digest of the account's id, since D-Bus carries no text
/// with a NUL in it and the keyring keeps attributes in clear. Their names are not the usual ones:
/// a program that stores an item for a `service` alone replaces any that has more attributes than
/// that. The secret is the record as JSON.
struct Keyring: Sendable {
  /// The format of the items that this version writes.
  static let format = 1

  let service: String
  /// The address of the session bus, where it is not the environment's.
  var bus: String?
  /// How long one call may take, the user's answer to a prompt included.
  var limit: Duration = .seconds(120)

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
      // What cannot be understood is not overwritten.
      for item in items { _ = try decode(item) }
      guard let newest = items.first else {
        return try session.store(
          secret, label: label(record.id),
          attributes: attributes.merging(["oauth-format": "\(Self.format)"]) { $1 })
      }
      // Where it is, which need not be what is now the default collection.
      try session.replace(newest, by: secret)
      for other in items.dropFirst() { try session.delete(other) }
    }
  }

  /// Unlocks the account's item, if there is one, and the place for a new one; changes nothing.
  func unlock(_ id: String) throws(SQOAuthError) {
    guard try load(id) == nil else { return }
    try run { session throws(KeyringFailure) in try session.open() }
  }

  /// Finds out whether the account's item can be saved, by saving it as it is.
  ///
  /// Only the holder of the account's lease may do so: another process may be saving a newer record.
  func rewrite(_ id: String) throws(SQOAuthError) {
    guard let stored = try load(id) else { return try unlock(id) }
    try save(stored)
  }

  func erase(_ id: String) throws(SQOAuthError) {
    try run { session throws(KeyringFailure) in
      for item in try session.items(attributes(id)) { try session.delete(item) }
    }
  }

  /// What can be known without a question to the user, or `nil` where there is no keyring.
  func state() throws(SQOAuthError) -> KeyringState? {
    do throws(KeyringFailure) {
      return try KeyringSession.with(bus: bus, limit: limit) { session throws(KeyringFailure) in
        KeyringState(
          holdsAccounts: try !session.items(attributes()).isEmpty, isOpen: try session.isOpen())
      }
    } catch {
      switch error {
      case .noBus, .noService: return nil
      // There is one, and nobody knows what it holds.
      default: throw error.error
      }
    }
  }

  /// Whether a keyring answers, locked or not.
  func answers() -> Bool {
    (try? KeyringSession.with(bus: bus, limit: limit) { _ in true }) ?? false
  }
}

extension Keyring {
  private func run<Value>(
    _ body: (KeyringSession) throws(KeyringFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    var attempts = 3
    while true {
      do throws(KeyringFailure) {
        return try KeyringSession.with(bus: bus, limit: limit, body)
      } catch {
        attempts -= 1
        // Another process erased an item between the search and what was done with it.
        guard error == .vanished, attempts > 0 else { throw error.error }
      }
    }
  }

  /// The items that are found, unlocked, the newest first.
  private func items(
    _ session: KeyringSession, _ attributes: [String: String]
  ) throws(KeyringFailure) -> [KeyringItem] {
    try session.openItems(attributes).sorted { $0.modified > $1.modified }
  }

  /// The newest record of each account that is found.
  private func records(
    _ session: KeyringSession, _ attributes: [String: String]
  ) throws(KeyringFailure) -> [AccountRecord] {
    var records: [String: AccountRecord] = [:]
    for item in try items(session, attributes) {
      let record = try decode(item)
      // An older one is in a collection that was the default once.
      if records[record.id] == nil { records[record.id] = record }
    }
    return Array(records.values)
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

  /// What an account's item is found by, or those of all accounts.
  private func attributes(_ id: String? = nil) -> [String: String] {
    var attributes = ["oauth-service": service]
    if let id { attributes["oauth-account"] = digest(id) }
    return attributes
  }

  private func digest(_ id: String) -> String {
    Hexadecimal.encode(Digest.sha256(id))
  }

  /// What the user sees in the desktop's keyring program.
  private func label(_ id: String) -> String {
    "\(service.printable): account \"\(id.printable.prefix(100))\""
  }
}
