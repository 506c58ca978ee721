import Foundation
import SQBasics
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
    { SQLiteTokenStore(path: $0, key: nil) },
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

  /// A store that refuses a record of an erased sign-in while its lease lasts, as a store in a
  /// database does after a sign-out.
  private final class Database: ComparingTokenStore {
    private let memory = MemoryTokenStore()
    private let state = Locked((isLeased: false, known: [String?]()))

    func load(_ id: String) async -> AccountRecord? {
      let record = await memory.load(id)
      if let record { state.withLock { if $0.isLeased { $0.known.append(record.session) } } }
      return record
    }
    func save(_ record: AccountRecord) async throws {
      let isStored = await memory.load(record.id) != nil
      if !isStored, state.withLock({ $0.known.contains(record.session) }) {
        throw SQOAuthError(.accountChanged, "the account was erased")
      }
      await memory.save(record)
    }
    func erase(_ id: String) async { await memory.erase(id) }
    func erase(_ id: String, ifTokenIsIn tokens: [SQToken]) async { await memory.erase(id) }
    func list() async -> [String] { await memory.list() }

    func lease(_ id: String) async -> AccountLease? {
      let isFree = state.withLock { state in
        defer { state.isLeased = true }
        return !state.isLeased
      }
      return isFree ? AccountLease { self.state.withLock { $0 = (false, []) } } : nil
    }
  }

  /// A store of an app that hides the other abilities of the store in it.
  private struct Plain: TokenStore {
    let base: any TokenStore
    var failsToLoad = false

    func load(_ id: String) async throws -> AccountRecord? {
      if failsToLoad, try await base.load(id) == nil { throw Unreadable() }
      return try await base.load(id)
    }
    func save(_ record: AccountRecord) async throws { try await base.save(record) }
    func erase(_ id: String) async throws { try await base.erase(id) }
    func list() async throws -> [String] { try await base.list() }

    struct Unreadable: Error {}
  }

  @Test(arguments: [true, false])
  func `a move between a database's store and an app's own store around it keeps the account`(
    isFromDatabase: Bool
  ) async throws {
    let database = Database()
    try await database.save(record("a"))
    let plain = Plain(base: database)
    await failure(.invalidConfiguration) {
      if isFromDatabase {
        try await database.moveAccounts(to: plain)
      } else {
        try await plain.moveAccounts(to: database)
      }
    }
    #expect(await database.load("a") == record("a"))
    // The failed move holds no lease any more.
    try #require(await database.lease("a")).release()
  }

  @Test func `a move whose copy cannot be read saves the account again and gives the reason`()
    async throws
  {
    let database = Database()
    try await database.save(record("a"))
    await failure(.storeFailed) {
      try await database.moveAccounts(to: Plain(base: database, failsToLoad: true))
    }
    #expect(await database.load("a") == record("a"))
  }

  /// A store in which another process signs a user in as soon as an account is erased.
  private struct Busy: TokenStore {
    let memory: MemoryTokenStore
    let next: AccountRecord

    func load(_ id: String) async -> AccountRecord? { await memory.load(id) }
    func save(_ record: AccountRecord) async { await memory.save(record) }
    func erase(_ id: String) async { await memory.save(next) }
    func list() async -> [String] { await memory.list() }
  }

  private struct Forgetful: TokenStore {
    func load(_ id: String) -> AccountRecord? { nil }
    func save(_ record: AccountRecord) {}
    func erase(_ id: String) {}
    func list() -> [String] { [] }
  }

  @Test func `a move that fails keeps a sign-in by which another process replaced the account`()
    async throws
  {
    let memory = MemoryTokenStore()
    await memory.save(record("a"))
    let next = record("a", token: SQToken(accessToken: "next"))
    await failure(.invalidConfiguration) {
      try await Busy(memory: memory, next: next).moveAccounts(to: Forgetful())
    }
    #expect(await memory.load("a") == next)
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
