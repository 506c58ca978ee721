import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// Accounts that move from one store to another.
@Suite(.timeLimit(.minutes(1))) struct MovingAccountsTests {
  private let folder: TemporaryFolder
  private let old: FileTokenStore
  private let new: EncryptedFileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    old = FileTokenStore(path: folder.file("old"))
    new = EncryptedFileTokenStore(path: folder.file("new"), key: .testKey)
  }

  private func record(_ id: String, _ token: String = "t") -> AccountRecord {
    AccountRecord(
      id: id, clientID: "c", session: "s", token: SQToken(accessToken: token, refreshToken: "r"),
      attributes: ["name": id])
  }

  @Test func `a move transfers all accounts and empties the old store`() async throws {
    for id in ["a", "b"] { try await old.save(record(id)) }
    #expect(try await old.moveAccounts(to: new) == ["a", "b"])
    #expect(try await old.list().isEmpty)
    #expect(try await new.load("a") == record("a"))
    #expect(try await new.load("b") == record("b"))
    #expect(try await old.moveAccounts(to: new).isEmpty)
  }

  @Test func `an interrupted move is completed`() async throws {
    try await old.save(record("a"))
    try await new.save(record("a"))
    #expect(try await old.moveAccounts(to: new) == ["a"])
    #expect(try await old.list().isEmpty)
  }

  @Test func `a move fails if the new store has a different token for the account`() async throws {
    try await old.save(record("a"))
    try await new.save(record("a", "other"))
    await failure(.accountChanged) { try await old.moveAccounts(to: new) }
    #expect(try await old.load("a") == record("a"))
    #expect(try await new.load("a") == record("a", "other"))
  }

  @Test func `a move fails while the account is in use, and succeeds afterwards`() async throws {
    try await old.save(record("a"))
    let lease = try #require(try await old.lease("a"))
    await failure(.accountInUse) { try await old.moveAccounts(to: new) }
    #expect(try await new.load("a") == nil)
    lease.release()
    #expect(try await old.moveAccounts(to: new) == ["a"])
  }

  /// A record of a new sign-in, and the record after its first refresh.
  private let refreshed: (before: AccountRecord, after: AccountRecord) = {
    let before = AccountRecord(
      signedIn: "a", clientID: "c", issuer: nil, tokenEndpoint: nil,
      token: SQToken(accessToken: "1", refreshToken: "1"), attributes: [:])
    let after = before.refreshed(SQToken(accessToken: "2", refreshToken: "2"), attributes: [:])
    return (before, after)
  }()

  @Test func `an interrupted move is completed after the moved account was refreshed`()
    async throws
  {
    try await old.save([refreshed.before, record("b")])
    try await new.save(refreshed.after)
    #expect(try await old.moveAccounts(to: new) == ["a", "b"])
    #expect(try await new.load("a") == refreshed.after)
    #expect(try await old.list().isEmpty)
  }

  @Test func `an interrupted move is completed after a refresh in the old store`() async throws {
    try await old.save(refreshed.after)
    try await new.save(refreshed.before)
    #expect(try await old.moveAccounts(to: new) == ["a"])
    #expect(try await new.load("a") == refreshed.after)
    #expect(try await old.list().isEmpty)
  }

  @Test func `a move waits while another process uses the account in the new store`()
    async throws
  {
    try await old.save(record("a"))
    let watched = WatchedStore(new)
    let lease = try #require(try await new.lease("a"))
    async let moved = old.moveAccounts(to: watched)
    try await eventually("the move waits") { watched.leases >= 2 }
    #expect(try await new.load("a") == nil)
    lease.release()
    #expect(try await moved == ["a"])
    #expect(try await new.load("a") == record("a"))
  }

  @Test func `a move fails if the new store's account stays in use, and succeeds afterwards`()
    async throws
  {
    try await old.save(record("a"))
    let lease = try #require(try await new.lease("a"))
    let error = await failure(.accountInUse) {
      try await old.moveAccounts(to: new, leaseLimit: .zero)
    }
    #expect(error?.message.contains("in the other store") == true)
    #expect(try await old.load("a") == record("a"))
    lease.release()
    #expect(try await old.moveAccounts(to: new) == ["a"])
  }

  @Test func `a cancelled move stops waiting for another process`() async throws {
    try await old.save(record("a"))
    let watched = WatchedStore(new)
    let lease = try #require(try await new.lease("a"))
    let moving = Task {
      await failure(.cancelled) { try await old.moveAccounts(to: watched) }
    }
    try await eventually("the move waits") { watched.leases >= 2 }
    moving.cancel()
    _ = await moving.value
    #expect(try await old.load("a") == record("a"))
    lease.release()
  }
}
