import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Accounts that move from one store to another.
@Suite struct MovingAccountsTests {
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
}
