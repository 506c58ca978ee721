import Foundation
import ProgramSupport
import SequencingOAuthSQLite
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// Checks that the stored formats of earlier programs can still be read.
@Suite(.timeLimit(.minutes(1))) struct FormTests {
  @Test(arguments: ["sqlite-1a", "sqlite-1b", "sqlite-1c", "sqlite-2"])
  func `an SQLite database of each format version can be read and written`(form: String)
    async throws
  {
    let files = try SQLiteFolder()
    try await files.sql(StoredForms.text("\(form).sql"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: files.path)
    try await {
      let store = files.store()
      #expect(try await store.load("alice") == StoredForms.record)
      let registration = try StoredForms.registration
      try await store.save(registration)
      #expect(try await store.registration(at: registration.issuer) == registration)
      #expect(try await store.isFirstUse(of: "value", until: Date() + 60, at: Date()))
      try await store.save(StoredForms.record)
    }()
    #expect(try await files.sql("PRAGMA user_version") == "2\n")
    #expect(try await files.store().all() == [StoredForms.record])
  }

  @Test(arguments: ["tokens-1a.json", "tokens-1b.json", "tokens-1-without-digest.json"])
  func `a token file of each format version can be read and written`(form: String) async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy(form, to: folder.file("tokens"))
    let store = FileTokenStore(path: folder.file("tokens"))
    #expect(try await store.load("alice") == StoredForms.record)
    try await store.save(StoredForms.record)
    #expect(try await store.all() == [StoredForms.record])
  }

  @Test func `an encrypted token file of the first format can be read and written`() async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy("tokens-1.sealed", to: folder.file("tokens"))
    let store = EncryptedFileTokenStore(path: folder.file("tokens"), key: .testKey)
    #expect(try await store.load("alice") == StoredForms.record)
    try await store.save(StoredForms.record)
    #expect(try await store.all() == [StoredForms.record])
  }

  /// A killed process left a file with the token that it had received.
  @Test func `a write-ahead copy next to a token file is read`() async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy("tokens-1a.json", to: folder.file("tokens"))
    try StoredForms.copy(
      "landing-1", to: folder.file("tokens.landing-2bd806c97f0e00af1a1fc3328fa763a9"))
    let store = FileTokenStore(path: folder.file("tokens"))
    let record = try #require(try await store.load("alice"))
    #expect(record.token.refreshToken == "next-refresh")
    try await store.save(record)
    #expect(try await store.all() == [record])
  }

  @Test func `a registration file of the first format can be read`() async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy("registrations.json", to: folder.file("clients"))
    let registration = try StoredForms.registration
    let store = FileRegistrationStore(path: folder.file("clients"), key: nil)
    #expect(try await store.registration(at: registration.issuer) == registration)
  }

  /// A store writes a record to disk in the JSON form of the sample `record-1.json`.
  @Test func `a record with every member is read and written unchanged`() throws {
    let text = try StoredForms.text("record-1.json").trimmingCharacters(in: .newlines)
    let record = try StoredForms.wholeRecord
    #expect(String(decoding: try record.json(), as: UTF8.self) == text)
    #expect(record.attributes == ["name": "Alice"] && record.tokenEndpoint != nil)
    #expect(record.grant?.assertion?.subject == "alice" && record.reusesRefreshToken)
    #expect(record.generation == 3 && record.usedAt != nil)
    #expect(record.unverifiedToken?.accessToken == "next")
  }

  @Test func `a record with the session of an earlier ID token is read and written unchanged`()
    throws
  {
    let text = try StoredForms.text("record-session-1.json").trimmingCharacters(in: .newlines)
    let record = try StoredForms.sessionRecord
    #expect(String(decoding: try record.json(), as: UTF8.self) == text)
    #expect(record.providerSessionID == "provider-session")
  }

  /// An older program must not find the token, because it would save the account without its key.
  @Test
  func `a record with a proof key is read and written unchanged and has no member named token`()
    throws
  {
    let text = try StoredForms.text("record-bound-1.json").trimmingCharacters(in: .newlines)
    let record = try StoredForms.boundRecord
    #expect(String(decoding: try record.json(), as: UTF8.self) == text)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    #expect(String(decoding: try encoder.encode(record), as: UTF8.self) == text)
    #expect(record.proofKey?.algorithm == "ES256" && record.serverNonce == "nonce")
    #expect(record.token.isBound && !text.contains("\"token\":"))
  }

  @Test func `the file, SQLite and memory stores save and load the proof key of an account`()
    async throws
  {
    let folder = try TemporaryFolder()
    let record = try StoredForms.boundRecord
    let stores: [any TokenStore] = [
      FileTokenStore(path: folder.file("plain")),
      EncryptedFileTokenStore(path: folder.file("sealed"), key: .testKey),
      SQLiteTokenStore(path: folder.file("database"), key: .testKey), MemoryTokenStore(),
    ]
    for store in stores {
      try await store.save(record)
      let loaded = try #require(try await store.load(record.id))
      #expect(
        try loaded == record && loaded.proofKey?.storedKey == record.proofKey?.storedKey)
    }
  }
}
