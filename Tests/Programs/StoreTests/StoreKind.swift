import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A kind of store, for the tests that every store has to pass.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// Opens the store in a folder.
  ///
  /// Two opened stores behave like two processes.
  let open: @Sendable (TemporaryFolder) throws -> any TokenStore
  /// Returns the address of the store in a folder for `store-probe`; `nil` if the tests do not open
  /// the store in another process.
  var address: (@Sendable (TemporaryFolder) -> String)?
  /// Whether the store keeps all its data in files of the folder that `open` gets.
  var isInFolder = true
  /// Whether reading the store creates a file that its readers share.
  var needsRoomToRead = false

  var testDescription: String { name }

  /// Returns the path of the file with the records.
  func path(_ folder: TemporaryFolder) throws -> String {
    let name = address?(folder)
    return String(try #require(name).drop { $0 != ":" }.dropFirst())
  }

  /// Changes the key of an encrypted file or database; other stores have none.
  static func changeKey(of store: any TokenStore, to key: StoreKey) async throws {
    if let store = store as? EncryptedFileTokenStore {
      try await store.changeKey(to: key)
    } else {
      try await (store as? SQLiteTokenStore)?.changeKey(to: key)
    }
  }

  static let memory = StoreKind(name: "memory", open: { _ in MemoryTokenStore() })

  static let file = StoreKind(
    name: "file", open: { FileTokenStore(path: $0.file("deep/er/tokens.json")) },
    address: { "file:\($0.file("deep/er/tokens.json"))" })

  static let encrypted = StoreKind(
    name: "encrypted",
    open: { folder in
      let path = folder.file("deep/er/tokens.sealed")
      return EncryptedFileTokenStore(path: path, key: .file(path + ".key"))
    },
    address: { "encrypted:\($0.file("deep/er/tokens.sealed"))" })

  static let sqlite = StoreKind(
    name: "SQLite", open: { SQLiteTokenStore(path: $0.file("deep/er/tokens.sqlite"), key: nil) },
    address: { "sqlite:\($0.file("deep/er/tokens.sqlite"))" }, needsRoomToRead: true)

  static let encryptedSQLite = StoreKind(
    name: "encrypted SQLite",
    open: { folder in
      let path = folder.file("deep/er/sealed.sqlite")
      return SQLiteTokenStore(path: path, key: .file(path + ".key"))
    },
    address: { "encrypted-sqlite:\($0.file("deep/er/sealed.sqlite"))" }, needsRoomToRead: true)

  static let all =
    [memory, file, encrypted, sqlite, encryptedSQLite, keyless] + keyring + kWallet + postgreSQL
  /// The kinds whose records survive a process, and that the tests open in several processes.
  static let shared = all.filter { $0.address != nil }
  /// The kinds that write an answer to a write-ahead copy first.
  static let landing = onDisk
  /// The kinds with files that a test can read, deprive of disk space or make read-only.
  static let onDisk = shared.filter(\.isInFolder)
}
