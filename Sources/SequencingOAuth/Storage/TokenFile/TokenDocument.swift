import SQFoundation

/// The content of an unencrypted token file: a format version, the accounts, and a digest.
struct TokenDocument: Codable, Sendable {
  static let currentVersion = 1

  private let version: Int
  private var accounts: NamedValues<AccountRecord>
  /// The ``EmbeddedDigest``; older versions of the SDK neither read nor write it.
  private var sha256: String?

  init() {
    version = Self.currentVersion
    accounts = NamedValues()
  }

  /// The version and the member names; they can be read even if the accounts cannot.
  private struct Outline: Decodable {
    let version: Int
    let names: Set<String>

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Member.self)
      version = try members.decode(Int.self, forKey: Member("version"))
      names = Set(members.allKeys.map(\.stringValue))
    }
  }

  private struct Member: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }
}

extension TokenDocument: TokenFileContent {
  var ids: [String] { accounts.names }

  func record(_ id: String) -> AccountRecord? { accounts[id] }

  mutating func save(_ record: AccountRecord) { accounts[record.id] = record }

  mutating func erase(_ id: String) { accounts[id] = nil }
}

extension TokenDocument {
  /// The format of an unencrypted token file: JSON.
  struct Format: TokenFileFormat {
    private static let damaged = SQOAuthError(
      .storeDamaged, "it is damaged; it is left as it is")

    var sealer: RecordSealer? { nil }

    func checkKey() {}

    func create() -> TokenDocument { TokenDocument() }

    func recognizes(_ bytes: Data) -> Bool {
      let start = bytes.prefix(200).filter { !" \t\r\n".utf8.contains($0) }
      return [#"{"accounts":{"#, #"{"version":"#].contains { start.starts(with: $0.utf8) }
    }

    func decode(_ bytes: Data) throws(SQOAuthError) -> TokenDocument {
      guard let document = try JSONDecoder.stored(TokenDocument.self, from: bytes),
        document.version == currentVersion
      else {
        _ = try outline(of: bytes)
        throw Self.damaged
      }
      guard let digest = document.sha256 else {
        // Either an older version wrote the file, or the digest's name is damaged.
        guard try outline(of: bytes).names == ["accounts", "version"] else { throw Self.damaged }
        return document
      }
      guard EmbeddedDigest.fits(digest, bytes) else {
        throw SQOAuthError(
          .storeDamaged,
          "its content does not fit its digest: it is damaged or was edited; it is left as it is; "
            + "if you edited it yourself, remove its member \"sha256\"")
      }
      return document
    }

    /// Finds out why the whole file cannot be used, in a second pass.
    private func outline(of bytes: Data) throws(SQOAuthError) -> Outline {
      guard let outline = try? JSONDecoder().decode(Outline.self, from: bytes) else {
        throw SQOAuthError(.storeDamaged, "it is not a token file; it is left as it is")
      }
      guard outline.version <= currentVersion else {
        throw SQOAuthError(
          .storeTooNew, "version \(outline.version) of its format is newer than this program")
      }
      return outline
    }

    func encode(_ document: TokenDocument) throws(SQOAuthError) -> Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      var document = document
      document.sha256 = EmbeddedDigest.placeholder
      do {
        return EmbeddedDigest.filled(try encoder.encode(document))
      } catch {
        throw SQOAuthError(.storeFailed, "the tokens cannot be encoded", cause: error)
      }
    }
  }
}
