import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// The accounts' items: finding, reading and adding them.
extension Keyring {
  /// Finds the items with the given attributes and unlocks them; the newest item comes first.
  func items(
    _ session: KeyringSession, _ attributes: [String: String], asks: Bool = true
  ) throws(KeyringFailure) -> [KeyringItem] {
    try find(session, asks: asks) { () throws(KeyringFailure) in
      try session.openItems(attributes, asks: asks)
    }.sorted { $0.modified > $1.modified }
  }

  /// Finds items by a search that is repeated for each collection that hides its items, until it
  /// finds some.
  ///
  /// If the user does not unlock such a collection, it is not known whether it has the items.
  func find(
    _ session: KeyringSession, asks: Bool, by search: () throws(KeyringFailure) -> [KeyringItem]
  ) throws(KeyringFailure) -> [KeyringItem] {
    if try session.searchMayAsk() {
      guard asks else { throw .locked }
      if let hidden = try session.hiddenCollections().first { try session.unlock(hidden) }
    }
    let items = try search()
    if !items.isEmpty { return items }
    for hidden in try session.hiddenCollections() {
      guard asks else { throw .locked }
      try session.unlock(hidden)
      let items = try search()
      if !items.isEmpty { return items }
    }
    if try session.lacksDatabase() { throw .noDatabase }
    return []
  }

  /// Finds the newest record of each account whose items have the given attributes.
  func records(
    _ session: KeyringSession, _ attributes: [String: String]
  ) throws(KeyringFailure) -> [AccountRecord] {
    var records = TextDictionary<AccountRecord>()
    for item in try items(session, attributes) {
      let record = try decode(item, session)
      // An older item of the account may be in a collection that was the default before.
      if records[record.id] == nil { records[record.id] = record }
    }
    return Array(records.all)
  }

  /// Reads the record of an item.
  func decode(
    _ item: KeyringItem, _ session: KeyringSession
  ) throws(KeyringFailure) -> AccountRecord {
    if let format = item.attribute("oauth-format").flatMap(Int.init), format > Self.format {
      throw .tooNew(service: service, format: format)
    }
    // libsecret gives no secret if the item was erased, or if it cannot decrypt the secret. In a
    // new session, it may be able to decrypt the secret.
    guard let secret = item.secret else { throw .vanished }
    let record: AccountRecord?
    do throws(SQOAuthError) {
      record = try StoredDecoder.value(AccountRecord.self, from: secret)
    } catch {
      throw .keyUnread(error.message)
    }
    guard let record, item.attribute("oauth-account") == digest(record.id) else {
      if record == nil, names(item, secret) { throw .tooNew(service: service, format: nil) }
      throw session.mayHaveGarbled(secret) ? .garbled : .damaged(service: service)
    }
    session.hasRead = true
    return record
  }

  /// Returns whether a secret that is no record of this version names the item's account, as the
  /// record of a later version does.
  private func names(_ item: KeyringItem, _ secret: Data) -> Bool {
    let members = try? StoredDecoder.value([String: JSONValue].self, from: secret)
    guard let id = members?["id"]?.string else { return false }
    return item.attribute("oauth-account") == digest(id)
  }

  /// Adds an account's item; in a session that has not read a secret yet, also reads the new item.
  func add(
    _ secret: Data, for id: String, _ session: KeyringSession
  ) throws(KeyringFailure) {
    do throws(KeyringFailure) {
      try session.store(secret, label: label(id), attributes: newAttributes(id))
    } catch {
      // If KWallet cannot decrypt the secret, it reports an error but keeps an item without content.
      if case .other = error, !session.hasRead { try removeUnreadable(id, session) }
      throw error
    }
    guard !session.hasRead else { return }
    do throws(KeyringFailure) {
      try removeUnreadable(id, session)
    } catch {
      // After any other error, the record is saved all the same.
      if error == .garbled { throw error }
    }
  }

  /// Removes an account's item that was just added if it cannot be read, and then throws `garbled`.
  ///
  /// If the item stayed, the next attempt would find it damaged and refuse to overwrite it.
  private func removeUnreadable(
    _ id: String, _ session: KeyringSession
  ) throws(KeyringFailure) {
    for item in try session.openItems(attributes(id), asks: false) {
      do throws(KeyringFailure) {
        _ = try decode(item, session)
      } catch {
        switch error {
        case .garbled, .vanished, .damaged: try session.delete(item)
        default: throw error
        }
        throw .garbled
      }
    }
  }

  /// Returns the secret of an account's item.
  static func secret(of record: AccountRecord) throws(SQOAuthError) -> Data {
    PlainJSON.escapingBraces(try record.json())
  }

  /// Returns the attributes of an account's new item.
  func newAttributes(_ id: String) -> [String: String] {
    attributes(id).merging(["oauth-format": "\(Self.format)"]) { $1 }
  }

  /// Returns the attributes that find an account's item; without an ID, the items of all accounts.
  func attributes(_ id: String? = nil) -> [String: String] {
    var attributes = ["oauth-service": service]
    if let id { attributes["oauth-account"] = digest(id) }
    return attributes
  }

  private func digest(_ id: String) -> String {
    Hexadecimal.encode(Digest.sha256(id))
  }

  /// Returns the item's label for the desktop's keyring program.
  ///
  /// It contains no braces; see ``PlainJSON``.
  private func label(_ id: String) -> String {
    "\(service.printable): account \"\(id.printable.prefix(100))\""
      .replacing("{", with: "(").replacing("}", with: ")")
  }
}
