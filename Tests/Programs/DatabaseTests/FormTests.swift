import Foundation
import ProgramSupport
import SequencingOAuthSQLite
import TestSupport
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPostgreSQL
@testable import SequencingOAuthSQLite

/// What a program has written, every later one reads; and what a later one writes has another number.
@Suite(.timeLimit(.minutes(1))) struct FormTests {
  @Test(arguments: ["sqlite-1a", "sqlite-1b", "sqlite-1c", "sqlite-2"])
  func `an SQLite database of each form works`(form: String) async throws {
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

  @Test(arguments: ["tokens-1.json", "tokens-1-without-digest.json"])
  func `a token file of each form works`(form: String) async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy(form, to: folder.file("tokens"))
    let store = FileTokenStore(path: folder.file("tokens"))
    #expect(try await store.load("alice") == StoredForms.record)
    try await store.save(StoredForms.record)
    #expect(try await store.all() == [StoredForms.record])
  }

  @Test func `an encrypted token file of each form works`() async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy("tokens-1.sealed", to: folder.file("tokens"))
    let store = EncryptedFileTokenStore(path: folder.file("tokens"), key: .testKey)
    #expect(try await store.load("alice") == StoredForms.record)
    try await store.save(StoredForms.record)
    #expect(try await store.all() == [StoredForms.record])
  }

  @Test func `a file of registrations of each form works`() async throws {
    let folder = try TemporaryFolder()
    try StoredForms.copy("registrations.json", to: folder.file("clients"))
    let registration = try StoredForms.registration
    let store = FileRegistrationStore(path: folder.file("clients"))
    #expect(try await store.registration(at: registration.issuer) == registration)
  }

  /// What is written, as text without what is random.
  private static func forms() throws -> [String: String] {
    let record = StoredForms.record
    var document = TokenDocument()
    document.save(record)
    let header = try RecordSealer.make(.testKey).header
    var sealed = SealedFile.joined(header: Data("header".utf8), boxes: [Data("box".utf8)])
    SealedFile.append(Data("seal".utf8), to: &sealed)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return [
      "postgresql \(DatabaseSchema.version)": try DatabaseSchema("forms").tables,
      "sqlite \(DatabaseFormat.version)": DatabaseFormat.tables.joined(separator: "\n"),
      "file \(TokenDocument.currentVersion)": String(
        decoding: try TokenDocument.Format().encode(document), as: UTF8.self),
      "record 1": String(decoding: try TestSupport.record("a").json(), as: UTF8.self),
      "landing 1": String(
        decoding: LandedRecordFrame.framed(
          try encoder.encode(LandedRecord(record, after: record))), as: UTF8.self),
      "header \(SealHeader.currentVersion)": members(
        of: try JSONSerialization.jsonObject(with: header)),
      "sealed file 1": String(decoding: sealed, as: UTF8.self),
      "registration 1": String(
        decoding: try encoder.encode(try StoredForms.registration), as: UTF8.self),
    ]
  }

  /// The names of an object's members, with those of the objects in it.
  private static func members(of value: Any) -> String {
    guard let object = value as? [String: Any] else { return "" }
    return object.sorted { $0.key < $1.key }.map { "\($0.key)(\(members(of: $0.value)))" }.joined()
  }

  /// The file `digests` has a line for each form, which stays when a new one comes.
  ///
  /// If this fails, a stored form has changed: give it a new number, let the program read the form of
  /// the old number, keep a store of it in the folder of forms, and add the line.
  @Test func `a stored form that changes has another number`() throws {
    let known = Set(try StoredForms.text("digests").split(separator: "\n").map(String.init))
    for (form, text) in try Self.forms() {
      let line = "\(form) \(Hexadecimal.encode(Digest.sha256(text)))"
      #expect(known.contains(line), "missing in Tests/Forms/digests: \(line)")
    }
  }
}
