import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The guarantees of every store.
@Suite struct SharedStoreTests {
  @Test(arguments: StoreKind.all)
  func `an empty store has no records, and erasing nothing is no error`(kind: StoreKind)
    async throws
  {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    #expect(try await store.load("a") == nil)
    #expect(try await store.list() == [])
    try await store.erase("a")
  }

  @Test(arguments: StoreKind.all)
  func `a record is loaded exactly as saved`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    let records = Records.tokens.enumerated().map { record("\($0)", token: $1) }
    for record in records { try await store.save(record) }
    for record in records { #expect(try await store.load(record.id) == record) }
  }

  /// A value that is missing in the new token must not remain in the store.
  @Test(arguments: StoreKind.all)
  func `a saved record replaces the old record completely`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await store.save(record("a"))
    let bare = AccountRecord(id: "a", clientID: "c", token: SQToken(accessToken: "new"))
    try await store.save(bare)
    let loaded = try await store.load("a")
    #expect(loaded == bare)
    #expect(loaded?.token.refreshToken == nil && loaded?.token.expirationDate == nil)
    #expect(try await store.list() == ["a"])
  }

  @Test(arguments: StoreKind.all)
  func `accounts are separate, listed by id and erased one by one`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    for id in ["b", "a", "c"] {
      try await store.save(record(id, token: SQToken(accessToken: id)))
    }
    #expect(try await store.list() == ["a", "b", "c"])
    try await store.erase("b")
    #expect(try await store.load("b") == nil)
    #expect(try await store.list() == ["a", "c"])
    #expect(try await store.load("c")?.token.accessToken == "c")
  }

  @Test(arguments: StoreKind.all)
  func `any text can be an account's id`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    let ids = [
      "", " ", "..", "../../etc/passwd", "a/b", "'; drop table", "\u{1F600}", "\u{0}", "a\nb",
      "version", "accounts", "$ref", String(repeating: "x", count: 2048),
    ]
    for id in ids { try await store.save(record(id, token: SQToken(accessToken: "t" + id))) }
    for id in ids { #expect(try await store.load(id)?.token.accessToken == "t" + id) }
    #expect(try await store.list().count == ids.count)
  }

  @Test(.timeLimit(.minutes(5)), arguments: StoreKind.all)
  func `simultaneous saves from many tasks are all kept`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<40 {
        group.addTask { try await store.save(record("\(index % 20)-\(index / 20)")) }
      }
      try await group.waitForAll()
    }
    #expect(try await store.list().count == 40)
  }
}
