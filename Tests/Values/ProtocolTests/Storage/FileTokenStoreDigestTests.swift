import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Damage that leaves the file readable.
///
/// If a changed letter in a refresh token went unnoticed, the server would reject the token, and
/// the sign-in would be erased.
@Suite(.timeLimit(.minutes(2))) struct FileTokenStoreDigestTests {
  let folder: TemporaryFolder
  var path: String { folder.file("tokens.json") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The file format of SDK versions that stored no digest.
  struct OldFile: Codable {
    let version: Int
    var accounts: [String: AccountRecord]
  }

  @Test func `a flipped bit in any byte of the file is an error`() async throws {
    let whole = try await saved()
    let store = FileTokenStore(path: path)
    for index in whole.indices {
      var broken = whole
      broken[index] ^= 1 << UInt8(index % 8)
      try write(broken)
      let error = await failure { try await store.load("a") }
      // The changed bit may be in the file's version, which is then a greater number.
      #expect([.storeDamaged, .storeTooNew].contains(error?.code), "byte \(index)")
    }
    try write(whole)
    #expect(try await store.load("a") == record("a"))
  }

  @Test func `a changed letter of a token is damage, and the error says what to do`()
    async throws
  {
    let text = String(decoding: try await saved(), as: UTF8.self)
    try write(text.replacing("a.b~c", with: "a.b~d"))
    let store = FileTokenStore(path: path)
    let error = await failure(.storeDamaged) { try await store.load("a") }
    #expect(error?.message.contains("digest") == true)
    #expect(error?.message.contains("\"sha256\"") == true && error?.message.contains(path) == true)
    await failure(.storeDamaged) { try await store.save(record("b")) }
    // The user edits the file as the message says.
    let edited = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .filter { !$0.contains("\"sha256\" :") }.joined(separator: "\n")
    try write(edited)
    #expect(try await store.load("a")?.token.accessToken == "a.b~d/+==")
  }

  @Test func `a file of an older version is read and gets its digest at the next save`()
    async throws
  {
    try write(JSONEncoder().encode(OldFile(version: 1, accounts: ["a": record("a")])))
    let store = FileTokenStore(path: path)
    #expect(try await store.load("a") == record("a"))
    try await store.save(record("b"))
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\"sha256\" : \""))
    #expect(try await FileTokenStore(path: path).list() == ["a", "b"])
  }

  @Test func `an older version can read the file, and files of an older version can be read`()
    async throws
  {
    var file = try JSONDecoder().decode(OldFile.self, from: await saved())
    #expect(file.accounts == ["a": record("a")])
    file.accounts["b"] = record("b")
    try write(JSONEncoder().encode(file))
    let store = FileTokenStore(path: path)
    #expect(try await store.list() == ["a", "b"])
    try await store.erase("a")
    #expect(try await FileTokenStore(path: path).list() == ["b"])
  }

  @Test(arguments: [
    #""sha256":null"#, #""sha256":7"#, #""sha256":"""#, #""sha257":"0""#, #""more":1"#,
    "\"sha256\":\"\(String(repeating: "0", count: 64))\"",
  ])
  func `an invalid digest or an unknown member is reported as damage`(member: String)
    async throws
  {
    try write(#"{"accounts":{},"version":1,\#(member)}"#)
    await failure(.storeDamaged) { try await FileTokenStore(path: path).list() }
  }

  /// Only the top-level member `sha256` is the file's digest.
  @Test func `an app's own values may look like a digest`() async throws {
    let zeros = String(repeating: "0", count: 64)
    let saved = AccountRecord(
      id: zeros, clientID: "\n  \"sha256\" : \"\(zeros)\"", token: SQToken(accessToken: zeros),
      attributes: ["sha256": zeros, "version": zeros])
    let store = FileTokenStore(path: path)
    try await store.save(saved)
    try await store.save(record("a"))
    #expect(try await FileTokenStore(path: path).load(zeros) == saved)
  }

  private func saved() async throws -> Data {
    try await FileTokenStore(path: path).save(record("a"))
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private func write(_ text: String) throws { try write(Data(text.utf8)) }

  private func write(_ content: Data) throws {
    try content.write(to: URL(fileURLWithPath: path))
  }
}
