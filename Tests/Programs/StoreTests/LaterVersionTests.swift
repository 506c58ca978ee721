import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthSQLite

/// What a later version of the SDK has written into a store.
@Suite(.timeLimit(.minutes(3))) struct LaterVersionTests {
  /// Changes the JSON of a record to a form that this version cannot read.
  private static func later(_ json: String) -> String {
    json.replacing(#""token":{"#, with: #""sender_token":{"#)
  }

  @Test(arguments: StoreKind.onDisk)
  func `an undamaged record that cannot be read is reported as too new and stays as it is`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    for id in ["a", "b"] { try await kind.open(folder).save(record(id)) }
    let stored = try StoredJSON(kind, folder)
    let later = Self.later(try await stored.rewrite(Self.later))
    let store = try kind.open(folder)
    let error = await failure(.storeTooNew) { try await store.load("a") }
    #expect(error?.message.contains("the account \"a\" is newer than this program") == true)
    await failure(.storeTooNew) { try await store.reservation("a", replacing: record("a")) }
    try await store.save(record("b", token: SQToken(accessToken: "next")))
    #expect(try await store.load("b")?.token.accessToken == "next")
    #expect(try await store.list() == ["a", "b"])
    #expect(try await stored.rewrite() == later)
  }

  @Test(arguments: StoreKind.onDisk, [1, 2, 500])
  func `an undamaged record that cannot be read does not hide the other accounts`(
    kind: StoreKind, pageSize: Int
  ) async throws {
    let folder = try TemporaryFolder()
    let ids = ["0", "a", "b"]
    for id in ids { try await kind.open(folder).save(record(id)) }
    try await StoredJSON(kind, folder).rewrite(Self.later)
    let store = try kind.open(folder)
    for entries in [store.entries(pageSize: pageSize), AccountManager(store: store).entries] {
      var seen: [String] = []
      for try await entry in entries {
        seen.append(entry.id)
        switch entry.record {
        case .success(let found): #expect(found == record(entry.id))
        case .failure(let error): #expect(entry.id == "a" && error.code == .storeTooNew)
        }
      }
      #expect(seen == ids)
    }
    await failure(.storeTooNew) { try await store.all() }
    await failure(.storeTooNew) { try await store.filter { $0.id == "b" } }
    // A reader of the records that is called again goes on with the next account.
    var records = store.records(pageSize: pageSize).makeAsyncIterator()
    #expect(try await records.next()?.id == "0")
    do throws(SQOAuthError) {
      let next = try await records.next()
      Issue.record("the account \(next?.id ?? "") was read")
    } catch {
      #expect(error.code == .storeTooNew)
    }
    #expect(try await records.next()?.id == "b")
    #expect(try await records.next() == nil)
  }

  @Test(arguments: StoreKind.landing)
  func `an undamaged write-ahead copy that cannot be read is an error and is not overwritten`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let reservation = try await kind.open(folder).reservation("a", replacing: record("a"))
    await reservation.writeAhead(record("a", token: SQToken(accessToken: "next")))
    reservation.release()
    let name = try #require(try folder.contents().first { $0.contains(".landing-") })
    try await StoredJSON(kind, folder).rewriteCopy(at: folder.file(name), Self.later)
    let copy = try folder.bytes(name)
    let store = try kind.open(folder)
    let error = await failure(.storeTooNew) { try await store.load("a") }
    #expect(error?.message.contains(folder.file(name)) == true)
    await failure(.storeTooNew) { try await store.reservation("a", replacing: record("a")) }
    #expect(try folder.bytes(name) == copy)
  }

  @Test(arguments: StoreKind.onDisk)
  func `a refresh keeps what a later version has added to a record`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    try await kind.open(folder).save(record("a"))
    let stored = try StoredJSON(kind, folder)
    try await stored.rewrite { #"{"later":{"x":[1,null,"y"]},"# + $0.dropFirst() }
    let store = try kind.open(folder)
    let old = try #require(try await store.load("a"))
    let new = old.refreshed(
      SQToken(accessToken: "next", refreshToken: "next-refresh"), attributes: [:])
    // The first change comes from the write-ahead copy.
    let reservation = try await store.reservation("a", replacing: old)
    await reservation.writeAhead(new)
    reservation.release()
    try await store.reservation("a", replacing: old).release()
    let json = try await stored.rewrite()
    #expect(json.contains(#""later":{"x":[1,null,"y"]}"#) && json.contains("next-refresh"))
    try await store.save(new.with(attributes: ["name": "Bob"]))
    #expect(try await stored.rewrite().contains(#""later":{"x":[1,null,"y"]}"#))
  }

  @Test(arguments: [StoreKind.encrypted, .sqlite, .encryptedSQLite])
  func `a change of the key keeps every byte of a record's JSON`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    for id in ["a", "b"] { try await kind.open(folder).save(record(id)) }
    let stored = try StoredJSON(kind, folder)
    try await stored.rewrite { $0.replacing(#""token":{"#, with: #""token":{"later":1,"#) }
    let before = try await stored.rewrite()
    #expect(before.contains(#""later":1"#))
    let store = try kind.open(folder)
    try await StoreKind.changeKey(of: store, to: .testKey)
    #expect(try await StoredJSON(kind, folder, key: .testKey).rewrite() == before)
    #expect(try await store.all().map(\.token) == [record("a"), record("b")].map(\.token))
  }
}
