import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A kind of store, as the tests that every store passes make it.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// A store on what is in a folder; opened twice it is what two processes have.
  let open: @Sendable (TemporaryFolder) throws -> any TokenStore
  /// What `store-probe` calls that store, where another process can have it.
  var address: (@Sendable (TemporaryFolder) -> String)?
  /// Whether all that it keeps is files in that folder.
  var isInFolder = true
  /// Whether to read it makes a file that is shared with other readers.
  var needsRoomToRead = false

  var testDescription: String { name }

  /// The file that holds the records.
  func path(_ folder: TemporaryFolder) throws -> String {
    let name = address?(folder)
    return String(try #require(name).drop { $0 != ":" }.dropFirst())
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
    name: "SQLite", open: { SQLiteTokenStore(path: $0.file("deep/er/tokens.sqlite")) },
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
  /// Those that outlive a process, and that several may have open.
  static let shared = all.filter { $0.address != nil }
  /// Those that keep an answer beside them until they have taken it in.
  static let landing = onDisk
  /// Those whose files a test can look at, or take the space or the right to write from.
  static let onDisk = shared.filter(\.isInFolder)
}
