#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The content of a token file in clear: a format version and the accounts.
struct TokenDocument: Codable, Sendable {
  static let currentVersion = 1

  private let version: Int
  private var accounts: [String: AccountRecord]

  init() {
    version = Self.currentVersion
    accounts = [:]
  }

  private struct Version: Decodable {
    let version: Int
  }
}

extension TokenDocument: TokenFileContent {
  var ids: [String] { Array(accounts.keys) }

  func record(_ id: String) -> AccountRecord? { accounts[id] }

  mutating func save(_ record: AccountRecord) { accounts[record.id] = record }

  mutating func erase(_ id: String) { accounts[id] = nil }
}

extension TokenDocument {
  /// The document as JSON.
  struct Format: TokenFileFormat {
    var sealer: RecordSealer? { nil }

    func checkKey() {}

    func create() -> TokenDocument { TokenDocument() }

    func decode(_ bytes: Data) throws(SQOAuthError) -> TokenDocument {
      let decoder = JSONDecoder()
      guard let version = try? decoder.decode(Version.self, from: bytes).version else {
        throw SQOAuthError(.storeDamaged, "it is not a token file, and is left as it is")
      }
      guard version <= currentVersion else {
        throw SQOAuthError(
          .storeTooNew, "version \(version) of its format is newer than this program")
      }
      guard version == currentVersion,
        let document = try? decoder.decode(TokenDocument.self, from: bytes),
        // A record that is saved under its own name would leave this one's refresh token behind.
        document.accounts.allSatisfy({ $0.key == $0.value.id })
      else { throw SQOAuthError(.storeDamaged, "it is damaged, and is left as it is") }
      return document
    }

    func encode(_ document: TokenDocument) throws(SQOAuthError) -> Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      do {
        return try encoder.encode(document)
      } catch {
        throw SQOAuthError(.storeFailed, "the tokens cannot be encoded", cause: error)
      }
    }
  }
}
