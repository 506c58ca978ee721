import Foundation
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// Moves between two stores that are the same place, in which no account must be lost.
@Suite(.timeLimit(.minutes(1))) struct MovingToOnePlaceTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let kinds: [@Sendable (String) -> any SharedTokenStore] = [
    { FileTokenStore(path: $0) }, { EncryptedFileTokenStore(path: $0, key: .testKey) },
    { SQLiteTokenStore(path: $0) },
  ]

  @Test(arguments: kinds.indices, ["place/tokens", "link/tokens"])
  func `a move to another store object of the same file fails and erases nothing`(
    kind: Int, path: String
  ) async throws {
    try FileManager.default.createDirectory(
      atPath: folder.file("place"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("place"))
    let old = WatchedStore(Self.kinds[kind](folder.file("place/tokens")))
    let new = Self.kinds[kind](folder.file(path))
    for id in ["a", "b"] { try await old.save(record(id)) }
    let error = await failure(.invalidConfiguration) { try await old.moveAccounts(to: new) }
    #expect(error?.message.contains("the same place") == true)
    #expect(old.erasures == 0)
    #expect(try await new.all() == [record("a"), record("b")])
    // The failed move holds no lease any more.
    try #require(try await new.lease("a")).release()
  }

  @Test func `a move from a store to itself fails and erases nothing`() async throws {
    let store = MemoryTokenStore()
    await store.save(record("a"))
    await failure(.invalidConfiguration) { try await store.moveAccounts(to: store) }
    #expect(await store.load("a") == record("a"))
  }

  /// A store of an app around something that another store value also uses.
  private struct View: TokenStore {
    let memory: MemoryTokenStore
    let afterErasure = Gate()

    func load(_ id: String) async throws -> AccountRecord? {
      try Task.checkCancellation()
      return await memory.load(id)
    }
    func save(_ record: AccountRecord) async throws {
      try Task.checkCancellation()
      await memory.save(record)
    }
    func erase(_ id: String) async throws {
      await memory.erase(id)
      await afterErasure.pass()
    }
    func list() async -> [String] { await memory.list() }
  }

  @Test func `stores that are one place without showing it keep the account`() async throws {
    let memory = MemoryTokenStore()
    await memory.save(record("a"))
    await failure(.invalidConfiguration) {
      try await View(memory: memory).moveAccounts(to: View(memory: memory))
    }
    #expect(await memory.load("a") == record("a"))
  }

  @Test func `a cancelled move saves an account again that it should not have erased`()
    async throws
  {
    let memory = MemoryTokenStore()
    await memory.save(record("a"))
    let old = View(memory: memory)
    old.afterErasure.close()
    let moving = Task { () -> SQOAuthError? in
      await failure(.invalidConfiguration) {
        try await old.moveAccounts(to: View(memory: memory))
      }
    }
    try await old.afterErasure.isHolding()
    moving.cancel()
    old.afterErasure.open()
    _ = await moving.value
    #expect(await memory.load("a") == record("a"))
  }
}
