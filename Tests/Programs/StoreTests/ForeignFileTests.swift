import Foundation
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A store whose path is, by mistake, that of another program's file.
@Suite(.timeLimit(.minutes(2))) struct ForeignFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func stores(_ path: String) throws -> [(name: String, store: any TokenStore)] {
    [
      ("file", FileTokenStore(path: path)),
      ("encrypted", EncryptedFileTokenStore(path: path, key: .file(folder.file("key")))),
      ("sqlite", SQLiteTokenStore(path: path, key: nil)),
      ("encrypted sqlite", SQLiteTokenStore(path: path, key: .file(folder.file("key")))),
    ]
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private static let record = AccountRecord(
    id: "alice", clientID: "client", token: SQToken(accessToken: "T1"))

  @Test(arguments: [
    "root:x:0:0:root:/root:/bin/bash\n", "", "{}", #"{"users":{}}"#, "SQLite format 3\u{0}\u{1}",
    "-----BEGIN CERTIFICATE-----\n",
  ])
  func `a file of another program keeps its content and its mode`(content: String) async throws {
    _ = try await KeyManager.makeKeyFile(at: folder.file("key"))
    for (name, _) in try stores("") {
      let path = folder.file(name)
      try Data(content.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      let store = try #require(try stores(path).first { $0.name == name }?.store)
      for call in [0, 1, 2] {
        await #expect(throws: SQOAuthError.self, "\(name)") {
          switch call {
          case 0: _ = try await store.load("alice")
          case 1: _ = try await store.list()
          default: try await store.save(Self.record)
          }
        }
        #expect(try mode(path) == 0o644, "\(name), call \(call)")
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(content.utf8), "\(name)")
      }
    }
  }

  @Test(arguments: [true, false])
  func `a store's own file that others can read gets mode 0600, even if it is damaged`(
    isDamaged: Bool
  ) async throws {
    _ = try await KeyManager.makeKeyFile(at: folder.file("key"))
    for (name, _) in try stores("") {
      let path = folder.file(name)
      let store = try #require(try stores(path).first { $0.name == name }?.store)
      try await store.save(Self.record)
      let other = folder.file("\(name)-copy")
      var content = try Data(contentsOf: URL(filePath: path))
      if isDamaged { content.removeLast() }
      try content.write(to: URL(filePath: other))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other)
      let copy = try #require(try stores(other).first { $0.name == name }?.store)
      _ = try? await copy.load("alice")
      #expect(try mode(other) == 0o600, "\(name)")
    }
  }
}
