import Foundation
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthBackend
import TestSupport
import Testing

/// Account keepers at a server that refuses one account's refresh token.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct KeepingRefusalTests {
  @Test(arguments: KeptAccounts.Store.allCases)
  func `a refused account does not hold up the others of its server`(store: KeptAccounts.Store)
    async throws
  {
    try await KeptAccounts.running(store) { accounts in
      let ids = (1...10).map { "account \($0)" }
      try await accounts.add(ids, expiringAfter: 1)
      accounts.sandbox.misbehave(at: .token, .error("unauthorized_client", status: 403))
      let keeper = accounts.keeper(atOnce: 1)
      try await eventually("the others are renewed") {
        keeper.totals.refreshed >= ids.count - 1 && keeper.totals.failed == 1
      }
      await keeper.stop()
      #expect(keeper.totals.paused == 0 && keeper.totals.ended == 0)
      #expect(try await accounts.open().list().count == ids.count)
    }
  }

  @Test func `no host takes a refused account again before it has waited`() async throws {
    try await KeptAccounts.running(.postgreSQL) { accounts in
      try await accounts.add(["a"], expiringAfter: 1)
      accounts.sandbox.misbehave(at: .token, .error("invalid_request"), times: nil)
      let start = ContinuousClock.now
      let keeper = accounts.keeper()
      try await eventually("the renewal fails") { keeper.totals.failed > 0 }
      await keeper.stop()
      let queue = try #require(accounts.open() as? any AccountQueue)
      let due = try await queue.take(atMost: 1, for: .seconds(60))
      #expect(due.accounts.isEmpty || .now - start > .seconds(10))
    }
  }
}
