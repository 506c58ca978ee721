import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Damage that leaves a file readable: a refresh token with another letter in it would come back
/// from the server as refused, and the sign-in would be erased.
@Suite(.timeLimit(.minutes(2))) struct FileTokenStoreDigestTests {
  let folder: TemporaryFolder
  var path: String { folder.file("tokens.json") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The form of the file that versions before the digest read and write.
  struct OldFile: Codable {
    let version: Int
    var accounts: [String: AccountRecord]
  }

  @Test func `a flipped bit anywhere in the file is damage`() async throws {
    let whole = try await saved()
    let store = FileTokenStore(path: path)
    for index in whole.indices {
      var broken = whole
      broken[index] ^= 1 << UInt8(index % 8)
      try write(broken)
      let error = await failure { try await store.load("a") }
      // The version may have become a greater number.
      #expect([.storeDamaged, .storeTooNew].contains(error?.code), "byte \(index)")
    }
    try write(whole)
    #expect(try await store.load("a") == record("a"))
  }

  @Test func `a letter that changes in a token is damage, and the message says what to do`()
    async throws
  {
    let text = String(decoding: try await saved(), as: UTF8.self)
    try write(text.replacing("a.b~c", with: "a.b~d"))
    let store = FileTokenStore(path: path)
    let error = await failure(.storeDamaged) { try await store.load("a") }
    #expect(error?.message.contains("digest") == true)
    #expect(error?.message.contains("\"sha256\"") == true && error?.message.contains(path) == true)
    await failure(.storeDamaged) { try await store.save(record("b")) }
    // After an edit of the user's own, as the message says.
    let edited = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .filter { !$0.contains("\"sha256\" :") }.joined(separator: "\n")
    try write(edited)
    #expect(try await store.load("a")?.token.accessToken == "a.b~d/+==")
  }

  @Test func `a file of an older version is read, and gets its digest with the next save`()
    async throws
  {
    try write(JSONEncoder().encode(OldFile(version: 1, accounts: ["a": record("a")])))
    let store = FileTokenStore(path: path)
    #expect(try await store.load("a") == record("a"))
    try await store.save(record("b"))
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\"sha256\" : \""))
    #expect(try await FileTokenStore(path: path).list() == ["a", "b"])
  }

  @Test func `an older version reads the file, and what it writes is read here`() async throws {
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
  func `a digest that is none, and a member that nobody knows, are damage`(member: String)
    async throws
  {
    try write(#"{"accounts":{},"version":1,\#(member)}"#)
    await failure(.storeDamaged) { try await FileTokenStore(path: path).list() }
  }

  /// Only the file's own member is the digest.
  @Test func `what an app keeps may look like a digest`() async throws {
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
