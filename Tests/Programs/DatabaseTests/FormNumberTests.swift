import Foundation
import SQBasics
import TestSupport
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import SequencingOAuthPipes
@testable import SequencingOAuthPostgreSQL
@testable import SequencingOAuthSQLite
@testable import SequencingOAuthSecretService

/// Checks that a stored format that differs from earlier ones has a new number.
@Suite struct FormNumberTests {
  /// Returns each stored format as text, by its name and number.
  ///
  /// The text has no random values, which would differ in each run.
  private static func forms() async throws -> [String: String] {
    try databases().merging(files()) { $1 }.merging(try await passing()) { $1 }
  }

  private static func databases() throws -> [String: String] {
    [
      "postgresql \(DatabaseSchema.version)": try DatabaseSchema("forms").tables,
      "sqlite \(DatabaseFormat.version)": DatabaseFormat.tables.joined(separator: "\n"),
    ]
  }

  private static func files() throws -> [String: String] {
    let record = StoredForms.record
    var document = TokenDocument()
    try document.save(record)
    let header = try RecordSealer.make(.testKey).header
    var sealed = SealedFile.joined(header: Data("header".utf8), boxes: [Data("box".utf8)])
    SealedFile.append(Data("seal".utf8), to: &sealed)
    let braced = StoredForms.bracedRecord
    return [
      "file \(TokenDocument.currentVersion)": text(TokenDocument.Format().encode(document)),
      "record 1": text(try TestSupport.record("a").json()),
      "record with every member 1": text(try StoredForms.wholeRecord.json()),
      "record of a session 1": text(try StoredForms.sessionRecord.json()),
      "bound record 1": text(try StoredForms.boundRecord.json()),
      "landing 1": text(WriteAheadFrame.framed(try WriteAheadCopy(record, after: record).json())),
      "header \(SealHeader.currentVersion)": members(
        of: try JSONSerialization.jsonObject(with: header)),
      "sealed file 1": text(sealed),
      "registration 1": text(try json(try StoredForms.registration)),
      "keyring \(Keyring.format)": text(try json(Keyring(service: "app").newAttributes(braced.id)))
        + text(try Keyring.secret(of: braced)),
    ]
  }

  /// Returns the formats of data that is stored only for minutes or days.
  private static func passing() async throws -> [String: String] {
    let signIn = try StoredForms.webSignIn("1d")
    let values = NotedValues()
    _ = try await values.use("text", as: "purpose", until: Date(), at: Date())
    return [
      "web sign-in 1": text(try json(signIn)),
      "cookie of a web sign-in 1": members(of: try opened(signIn)),
      "name of a web sign-in 1": signIn.name,
      "one-time value 1": values.noted.joined(),
      "download 1": members(
        of: try JSONSerialization.jsonObject(with: StoredForms.download("1a").json)),
      "unusable download 1": members(
        of: try JSONSerialization.jsonObject(
          with: DownloadRecord(unusableFrom: try StoredForms.url).json)),
    ]
  }

  /// Seals a sign-in, and opens it by the rules of format number 1.
  private static func opened(_ signIn: WebSignIn) throws -> Any {
    let purpose = Data("SequencingOAuth web sign-in 1\n".utf8)
    let text = try WebSignInSealer(key: .testKey).seal(signIn, session: "browser")
    let key = try KeyDerivation.hkdf(
      Data(repeating: 7, count: 32), salt: Data(), info: purpose, count: 32)
    let content = try EncryptionService(key: key).open(
      try #require(Base64URL.decode(text)), authenticating: purpose + Data("browser".utf8))
    return try JSONSerialization.jsonObject(with: content)
  }

  private static func json(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(value)
  }

  private static func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  /// Returns the names of an object's members, including those of its nested objects.
  private static func members(of value: Any) -> String {
    guard let object = value as? [String: Any] else { return "" }
    return object.sorted { $0.key < $1.key }.map { "\($0.key)(\(members(of: $0.value)))" }.joined()
  }

  /// The file `digests` has a line for each format.
  ///
  /// Old lines stay when a new format is added.
  ///
  /// If this test fails, a stored format has changed. Give it a new number, let the program read
  /// the format with the old number, add a sample of it to the folder of formats, and add the line.
  @Test func `each change of a stored format has a new version number`() async throws {
    let known = Set(try StoredForms.text("digests").split(separator: "\n").map(String.init))
    for (form, text) in try await Self.forms() {
      let line = "\(form) \(Hexadecimal.encode(Digest.sha256(text)))"
      #expect(known.contains(line), "missing in Tests/Forms/digests: \(line)")
    }
  }
}

/// A list of one-time values that reports each value as new.
private final class NotedValues: OneTimeValues {
  private let values = Locked<[String]>([])

  var noted: [String] { values.withLock(\.self) }

  func isFirstUse(of value: String, until end: Date, at now: Date) -> Bool {
    values.withLock { $0.append(value) }
    return true
  }
}
