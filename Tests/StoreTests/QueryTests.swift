import SequencingOAuth
import TestSupport
import Testing

/// What an app asks a store besides one record.
@Suite struct QueryTests {
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
}
