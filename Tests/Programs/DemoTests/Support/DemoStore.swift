import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A store that the program opens by its option `--store`, and that a test can open too.
struct DemoStore: Sendable, CustomTestStringConvertible {
  let name: String
  /// The text before the path in the option.
  let kind: String
  /// The passphrase in the environment.
  ///
  /// Without a passphrase, an encrypted store has a key file.
  var passphrase: String?
  let open: @Sendable (_ path: String) -> any TokenStore

  var testDescription: String { name }

  func options(_ folder: TemporaryFolder) -> [String] { ["--store", "\(kind):\(path(folder))"] }

  func path(_ folder: TemporaryFolder) -> String { folder.file("deep/tokens") }

  var environment: [String: String] { passphrase.map { ["SQ_STORE_PASSPHRASE": $0] } ?? [:] }

  static let file = DemoStore(name: "file", kind: "file") { FileTokenStore(path: $0) }
  static let encrypted = DemoStore(name: "encrypted", kind: "encrypted") {
    EncryptedFileTokenStore(path: $0, key: .file($0 + ".key"))
  }
  static let underPassphrase = DemoStore(
    name: "encrypted, with a passphrase", kind: "encrypted", passphrase: "open sesame"
  ) { EncryptedFileTokenStore(path: $0, key: .quickPassphrase("open sesame")) }
  static let sqlite = DemoStore(name: "sqlite", kind: "sqlite") {
    SQLiteTokenStore(path: $0, key: nil)
  }
  static let encryptedSQLite = DemoStore(name: "encrypted sqlite", kind: "encrypted-sqlite") {
    SQLiteTokenStore(path: $0, key: .file($0 + ".key"))
  }
  static let sqliteUnderPassphrase = DemoStore(
    name: "encrypted sqlite, with a passphrase", kind: "encrypted-sqlite",
    passphrase: "open sesame"
  ) { SQLiteTokenStore(path: $0, key: .quickPassphrase("open sesame")) }

  static let all = [
    file, encrypted, underPassphrase, sqlite, encryptedSQLite, sqliteUnderPassphrase,
  ]
  static let sealed = all.filter { $0.kind.hasPrefix("encrypted") }
}
