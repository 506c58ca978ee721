import SQBasics
import SQFoundation

/// The content of an unencrypted token file: a format version, the accounts, and a digest.
///
/// The file has a line for each account. A record is read only when it is needed, because a file
/// may have very many records.
struct TokenDocument: Sendable {
  static let currentVersion = 1

  /// The records as JSON; records that were read from a file share the file's memory.
  private var records = TextDictionary<Data>()

  /// Creates a document without accounts.
  init() {}
}

extension TokenDocument: TokenFileContent {
  var ids: [String] { records.texts }

  func record(_ id: String) throws(SQOAuthError) -> AccountRecord? {
    try records[id].map { json throws(SQOAuthError) in try Self.record(id, json) }
  }

  mutating func save(_ record: AccountRecord) throws(SQOAuthError) {
    records[record.id] = try record.json()
  }

  mutating func erase(_ id: String) { records[id] = nil }

  private static func record(_ id: String, _ json: Data) throws(SQOAuthError) -> AccountRecord {
    let record = try StoredDecoder.whole(
      AccountRecord.self, from: json, named: AccountRecord.name(of: id))
    guard record.id == id else { throw .damagedFile }
    return record
  }
}

extension TokenDocument {
  private static let accountsName = "accounts"
  private static let digestName = EmbeddedDigest.memberName
  private static let versionName = "version"

  /// Reads a file's members; the caller checks the digest.
  private init(members: [(name: String, value: Data)]) throws(SQOAuthError) {
    guard let accounts = Self.value(Self.accountsName, in: members).flatMap(JSONMembers.split)
    else { throw .damagedFile }
    for (member, json) in accounts {
      var id = member
      // If an id is a second Unicode form of another id, its member's name has a NUL and a number.
      if member.utf8.contains(0) {
        let record = try StoredDecoder.whole(
          AccountRecord.self, from: json, named: AccountRecord.name(of: member))
        guard MemberNames.is(member, of: record.id) else { throw .damagedFile }
        id = record.id
      }
      guard records[id] == nil else { throw .damagedFile }
      records[id] = json
    }
  }

  private static func value(
    _ name: String, in members: [(name: String, value: Data)]
  ) -> Data? {
    members.first { $0.name == name }?.value
  }

  /// Returns the file's text, with a placeholder for the digest.
  private var json: Data {
    var writer = JSONWriter()
    writer.write(ascii: "{\n  \"\(Self.accountsName)\" : {")
    var separator = "\n    "
    for (member, id) in MemberNames.members(of: ids) {
      guard let json = records[id] else { continue }
      writer.write(ascii: separator)
      writer.write(member)
      writer.write(ascii: " : ")
      writer.write(json: json)
      separator = ",\n    "
    }
    writer.write(
      ascii: "\n  },\n  \"\(Self.digestName)\" : \"\(EmbeddedDigest.placeholder)\""
        + ",\n  \"\(Self.versionName)\" : \(Self.currentVersion)\n")
    return writer.end()
  }

  /// The format of an unencrypted token file: JSON.
  struct Format: TokenFileFormat {
    var sealer: RecordSealer? { nil }

    func checkKey() {}

    func create() -> TokenDocument { TokenDocument() }

    func recognizes(_ bytes: Data) -> Bool {
      let start = bytes.prefix(200).filter { !" \t\r\n".utf8.contains($0) }
      return [#"{"accounts":{"#, #"{"version":"#].contains { start.starts(with: $0.utf8) }
    }

    func decode(_ bytes: Data) throws(SQOAuthError) -> TokenDocument {
      guard let members = JSONMembers.split(bytes),
        let version = try number(value(versionName, in: members))
      else {
        throw SQOAuthError(
          .storeDamaged, "it is not a token file; nothing was changed: check the path")
      }
      guard version <= currentVersion else {
        throw .tooNew("version \(version) of its format")
      }
      guard version == currentVersion else { throw .damagedFile }
      guard let digest = value(digestName, in: members) else {
        // Either an older version wrote the file, or the digest's name is damaged.
        guard Set(members.map(\.name)) == [accountsName, versionName] else { throw .damagedFile }
        return try unchecked(members)
      }
      guard let digest = try StoredDecoder.value(String.self, from: digest),
        EmbeddedDigest.fits(digest, bytes)
      else {
        throw SQOAuthError(
          .storeDamaged,
          "its content does not match its digest, so it is damaged or was edited; nothing was changed: "
            + "if you edited it yourself, remove its member \"sha256\"; otherwise restore a copy")
      }
      return try TokenDocument(members: members)
    }

    private func number(_ json: Data?) throws(SQOAuthError) -> Int? {
      guard let json else { return nil }
      return try StoredDecoder.value(Int.self, from: json)
    }

    /// Reads a file without a digest, and all its records, since any of them may be damaged.
    private func unchecked(
      _ members: [(name: String, value: Data)]
    ) throws(SQOAuthError) -> TokenDocument {
      do throws(SQOAuthError) {
        let document = try TokenDocument(members: members)
        for id in document.ids { _ = try document.record(id) }
        return document
      } catch {
        // Without a digest, damage cannot be told from the form of a later version.
        throw error.code == .storeTooNew ? .damagedFile : error
      }
    }

    func encode(_ document: TokenDocument) -> Data { EmbeddedDigest.filled(document.json) }
  }
}
