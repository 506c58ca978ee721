import SequencingOAuth
import TestSupport
import Testing

/// What an app asks a store besides one record.
@Suite(.timeLimit(.minutes(2))) struct QueryTests {
  @Test(arguments: StoreKind.all)
  func `all, a few, none`(kind: StoreKind) async throws {
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
    try await store.reset()
    #expect(try await store.isEmpty())
    #expect(try await store.load("a") == nil)
    try await store.reset()
  }

  /// Ids whose order in Swift differs from that of their bytes.
  private static let ids = ["", "a", "ab", "a b", "é", "e\u{301}z", "\u{FFEE}", "😀", "z"]

  private static var inOrder: [String] {
    ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  @Test(arguments: StoreKind.all)
  func `page by page`(kind: StoreKind) async throws {
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
  func `an account that comes or goes between two pages disturbs no other one`(
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
      // The end of the first page goes, as does one of the next page; others come.
      for id in ["d", "f"] { try await store.erase(id) }
      for id in ["a", "g"] { try await store.save(record(id)) }
    }
    #expect(seen == ["b", "d", "g", "h"])
  }
}
