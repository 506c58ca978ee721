import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Queries of a store for more than one record.
@Suite(.timeLimit(.minutes(2))) struct QueryTests {
  @Test(arguments: StoreKind.all)
  func `all, filter and isEmpty return the matching records`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    #expect(try await store.isEmpty())
    #expect(try await store.all().isEmpty)
    try await store.save(["b", "c", "a"].map { record($0) })
    #expect(try await store.all() == ["a", "b", "c"].map { record($0) })
    #expect(try await store.filter { $0.id > "a" } == [record("b"), record("c")])
    #expect(try await store.filter { $0.clientID == "nobody" }.isEmpty)
    #expect(try await !store.isEmpty())
    try await store.erase("unknown")
    #expect(try await store.list() == ["a", "b", "c"])
    try await store.eraseAll()
    #expect(try await store.isEmpty())
    #expect(try await store.load("a") == nil)
    try await store.eraseAll()
  }

  @Test(arguments: StoreKind.all)
  func `ids that differ only in their Unicode form are two accounts`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    let ids = ["caf\u{E9}", "cafe\u{301}", "Key", "\u{212A}ey"]
    for id in ids { try await store.save(record(id, token: SQToken(accessToken: "of \(id)"))) }
    let stores = kind.address == nil ? [store] : [store, try kind.open(folder)]
    for store in stores {
      for id in ids {
        #expect(try await store.load(id)?.token.accessToken == "of \(id)")
      }
      #expect(try await store.list().count == 4)
      #expect(Set(try await store.all().map { Array($0.id.utf8) }).count == 4)
      #expect(try await store.page(after: nil, limit: 10).count == 4)
    }
    try await store.save(record(ids[0], token: SQToken(accessToken: "new")))
    try await store.erase(ids[1])
    #expect(try await store.load(ids[0])?.token.accessToken == "new")
    #expect(try await store.load(ids[1]) == nil)
    // A lease of one account does not prevent a lease of another account.
    let lease = try #require(try await store.shared.lease(ids[2]))
    let other = try await store.shared.lease(ids[3])
    #expect(other != nil)
    other?.release()
    lease.release()
  }

  /// Ids whose order in Swift differs from that of their bytes.
  private static let ids = ["", "a", "ab", "a b", "é", "e\u{301}z", "\u{FFEE}", "😀", "z"]

  private static var inOrder: [String] {
    ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  @Test(arguments: StoreKind.all)
  func `pages return every record once in order`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    #expect(try await store.page(after: nil, limit: 10).isEmpty)
    let ids = Self.inOrder
    try await store.save(ids.shuffled().map { record($0) })
    for size in 1...(ids.count + 1) {
      var seen: [String] = []
      for try await found in store.records(pageSize: size) { seen.append(found.id) }
      #expect(seen == ids, "in pages of \(size)")
    }
    #expect(try await store.page(after: "ab", limit: 2).map(\.id) == Array(ids[4..<6]))
    #expect(try await store.page(after: "aa", limit: 1).map(\.id) == ["ab"])
    #expect(try await store.page(after: ids.last, limit: 1).isEmpty)
    for limit in [0, -1] {
      #expect(try await store.page(after: nil, limit: limit).isEmpty)
    }
  }

  @Test(arguments: StoreKind.all)
  func `an account added or erased between two pages does not affect the other accounts`(
    kind: StoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try kind.open(folder)
    try await store.save(["b", "d", "f", "h"].map { record($0) })
    var iterator = store.records(pageSize: 2).makeAsyncIterator()
    var seen: [String] = []
    while let found = try await iterator.next() {
      seen.append(found.id)
      guard found.id == "d" else { continue }
      // Erases the last account of the first page and one account of the next page, and adds two
      // others.
      for id in ["d", "f"] { try await store.erase(id) }
      for id in ["a", "g"] { try await store.save(record(id)) }
    }
    #expect(seen == ["b", "d", "g", "h"])
  }
}
