import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// An `AccountKeeper` finds a due account whose user the app has signed out.
@Suite("An account keeper and a sign-out", .timeLimit(.minutes(1))) struct KeeperSignOutTests {
  /// An app that keeps the account "default", whose token has expired.
  private struct App {
    let fixture: SessionFixture
    let manager: AccountManager
    let module: AuthorizationModule
    let events: RefreshRecorder

    init(inOwnName: Bool = false) async throws {
      let fixture = try SessionFixture(change: { $0.usesClientCredentials = inOwnName })
      self.fixture = fixture
      manager = AccountManager(store: fixture.store, environment: fixture.oauth.environment)
      module = try await manager.account(
        fixture.module.context.configuration.get(), id: "default")
      if inOwnName {
        _ = try await module.token()
      } else {
        await fixture.store.memory.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
        try await module.restore()
      }
      events = RefreshRecorder.listening(to: module.events())
      fixture.clock.advance(by: 3600)
    }

    /// Starts a keeper, and stops it after it has handled the account.
    func keepOnce() async throws -> AccountKeeper.Totals {
      let before = fixture.store.calls.count
      let keeper = manager.keepFresh { _ in nil }
      // The keeper reads all records, then the record of the due account, and then handles it.
      try await eventually("the keeper takes the account") {
        fixture.store.calls.dropFirst(before).count { $0 == "load" } >= 2
      }
      await keeper.stop()
      return keeper.totals
    }
  }

  @Test(arguments: [false, true])
  func `an account whose erasure failed is not signed in again, but erased`(inOwnName: Bool)
    async throws
  {
    let app = try await App(inOwnName: inOwnName)
    let store = app.fixture.store
    store.fails(toErase: true)
    await failure(.storeFailed) { try await app.module.signOut() }
    #expect(try await app.keepOnce() == AccountKeeper.Totals(failed: 1))
    #expect(app.module.currentToken == nil)
    store.fails()
    #expect(try await app.keepOnce() == AccountKeeper.Totals())
    #expect(app.module.currentToken == nil)
    #expect(await store.content() == nil)
    #expect(app.fixture.requests == (inOwnName ? ["client_credentials"] : []))
    #expect(await app.events.words(1) == ["ended signedOut"])
  }

  @Test func `an account whose erasure is under way is neither signed in again nor reported`()
    async throws
  {
    let app = try await App()
    let store = app.fixture.store
    store.erasing.close()
    let signOut = begin { try await app.module.signOut() }
    try await store.erasing.isHolding()
    #expect(try await app.keepOnce() == AccountKeeper.Totals())
    #expect(app.module.currentToken == nil)
    store.erasing.open()
    try await signOut.value
    #expect(await store.content() == nil)
    #expect(app.fixture.requests.isEmpty)
    #expect(await app.events.words(1) == ["ended signedOut"])
  }
}
