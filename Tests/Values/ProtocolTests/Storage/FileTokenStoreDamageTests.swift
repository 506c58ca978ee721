import Foundation
import SequencingOAuth
import Testing

@testable import TestSupport

/// A damaged file may contain a user's session.
///
/// The file is reported as damaged, and never overwritten.
@Suite struct FileTokenStoreDamageTests {
  static let damaged = [
    "", " ", "{", "null", "[]", "\"C4N4RY\"", "{}", "C4N4RY", "{\"accounts\":{}}",
    "{\"version\":\"1\",\"accounts\":{}}", "{\"version\":1}", "{\"version\":1,\"accounts\":[]}",
    "{\"version\":1,\"accounts\":{\"a\":{}}}", "{\"version\":0,\"accounts\":{}}",
    "{\"version\":-1,\"accounts\":{}}", "{\"version\":2,\"accounts\":{}}",
    "{\"version\":99,\"vaults\":\"C4N4RY\"}",
    "{\"version\":1,\"accounts\":{\"a\":{\"id\":\"a\",\"client_id\":\"c\",\"token\":\"C4N4RY\"}}}",
    "{\"version\":1,\"accounts\":{}}C4N4RY",
  ]

  @Test(arguments: damaged)
  func `a damaged or newer file is an error and stays as it is`(
    content: String
  ) async throws {
    let folder = try TemporaryFolder()
    let file = URL(fileURLWithPath: folder.file("tokens.json"))
    try Data(content.utf8).write(to: file)
    let store = FileTokenStore(path: file.path)
    let errors = [
      await failure { try await store.load("a") },
      await failure { try await store.save(record("a")) },
      await failure { try await store.erase("a") },
      await failure { try await store.list() },
    ]
    let isNewer = content.contains("\"version\":2") || content.contains("\"version\":99")
    for error in errors { #expect(error?.code == (isNewer ? .storeTooNew : .storeDamaged)) }
    #expect(try Data(contentsOf: file) == Data(content.utf8))
    for error in errors {
      let text = error.map { everyText(of: $0) } ?? ""
      #expect(!text.contains("C4N4RY"))
      #expect(text.contains(file.path), "the error says which file")
    }
  }

  @Test func `a file of a newer version is reported as too new`() async throws {
    let folder = try TemporaryFolder()
    try Data(#"{"version":2,"accounts":{}}"#.utf8)
      .write(to: URL(fileURLWithPath: folder.file("tokens.json")))
    let error = await failure(.storeTooNew) {
      try await FileTokenStore(path: folder.file("tokens.json")).load("a")
    }
    #expect(error?.message.contains("newer") == true || error?.message.contains("version") == true)
  }

  /// Cuts a real file at many lengths, as a power loss without an atomic replacement could do.
  @Test func `a truncated file is reported as damaged`() async throws {
    let folder = try TemporaryFolder()
    let store = FileTokenStore(path: folder.file("tokens.json"))
    try await store.save(record("a"))
    let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("tokens.json")))
    // White space at the end may be lost without harm.
    let end = whole.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") } ?? 0
    for length in stride(from: 0, through: end, by: 7) {
      try whole.prefix(length).write(to: URL(fileURLWithPath: folder.file("tokens.json")))
      await failure(.storeDamaged) { try await store.load("a") }
    }
  }
}
