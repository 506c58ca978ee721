#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The content of a token file in clear: a format version, the accounts, and a digest of the file.
struct TokenDocument: Codable, Sendable {
  static let currentVersion = 1

  private let version: Int
  private var accounts: [String: AccountRecord]
  /// The ``EmbeddedDigest``; older versions of the SDK neither read nor write it.
  private var sha256: String?

  init() {
    version = Self.currentVersion
    accounts = [:]
  }

  /// The version and the names of the members, which are checked before the accounts are read.
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
  var ids: [String] { Array(accounts.keys) }

  func record(_ id: String) -> AccountRecord? { accounts[id] }

  mutating func save(_ record: AccountRecord) { accounts[record.id] = record }

  mutating func erase(_ id: String) { accounts[id] = nil }
}

extension TokenDocument {
  /// Reads and writes the document as JSON.
  struct Format: TokenFileFormat {
    var sealer: RecordSealer? { nil }

    func checkKey() {}

    func create() -> TokenDocument { TokenDocument() }

    func decode(_ bytes: Data) throws(SQOAuthError) -> TokenDocument {
      let decoder = JSONDecoder()
      guard let outline = try? decoder.decode(Outline.self, from: bytes) else {
        throw SQOAuthError(.storeDamaged, "it is not a token file; it is left as it is")
      }
      guard outline.version <= currentVersion else {
        throw SQOAuthError(
          .storeTooNew, "version \(outline.version) of its format is newer than this program")
      }
      guard outline.version == currentVersion,
        let document = try? decoder.decode(TokenDocument.self, from: bytes),
        // A record under another id would stay, with its refresh token, when it is saved under its
        // own id.
        document.accounts.allSatisfy({ $0.key == $0.value.id }),
        // Without a digest, either an older version wrote the file or the digest's name is damaged.
        document.sha256 != nil || outline.names == ["accounts", "version"]
      else { throw SQOAuthError(.storeDamaged, "it is damaged; it is left as it is") }
      guard document.sha256.map({ EmbeddedDigest.fits($0, bytes) }) ?? true else {
        throw SQOAuthError(
          .storeDamaged,
          "its content does not fit its digest: it is damaged or was edited; it is left as it is; "
            + "if you edited it yourself, remove its member \"sha256\"")
      }
      return document
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
