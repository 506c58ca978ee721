import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// A store that counts how often a caller found an account's lease taken.
private final class WaitedStore: SharedTokenStore {
  private let store: any TokenStore
  private let count = Locked(0)

  init(store: any TokenStore) {
    self.store = store
  }

  var waits: Int { count.withLock(\.self) }

  func load(_ id: String) async throws -> AccountRecord? { try await store.load(id) }
  func save(_ record: AccountRecord) async throws { try await store.save(record) }
  func erase(_ id: String) async throws { try await store.erase(id) }
  func list() async throws -> [String] { try await store.list() }

  func lease(_ id: String) async throws -> AccountLease? {
    let lease = try await store.shared.lease(id)
    if lease == nil { count.withLock { $0 += 1 } }
    return lease
  }
}

/// Account keepers, alone and with a store that they share.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct KeepingTests {
  private static let ids = (1...20).map { "account \($0)" }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `several account keepers with one store renew each due account once`(
    store: KeptAccounts.Store
  ) async throws {
    try await KeptAccounts.running(store) { accounts in
      try await accounts.add(Self.ids, expiringAfter: 1)
      try await accounts.add(["fresh"], expiringAfter: 3600)
      let keepers = [accounts.keeper(), accounts.keeper(), accounts.keeper(atOnce: 1)]
      try await eventually("all accounts are renewed") { accounts.refreshes >= Self.ids.count }
      for keeper in keepers { await keeper.stop() }
      #expect(accounts.refreshes == Self.ids.count)
      #expect(accounts.sandbox.refreshTokenReuses == 0)
      let records = try await accounts.open().all()
      #expect(records.count == Self.ids.count + 1)
      for record in records {
        #expect((record.token.expirationDate ?? .distantPast) > Date() + 1000)
        #expect(record.id == "fresh" || record.usedAt != nil)
      }
      #expect(keepers.map(\.totals.failed) == [0, 0, 0])
    }
  }

  @Test func `cancelling an account keeper's task stops it after the renewals in progress`()
    async throws
  {
    try await KeptAccounts.running(.sqlite) { accounts in
      try await accounts.add(["a"], expiringAfter: 1)
      let gate = Gate(isOpen: false)
      accounts.sandbox.misbehave(at: .token, .hold(until: { await gate.pass() }))
      let keeper = accounts.keeper()
      let running = Task { await keeper.run() }
      try await eventually { gate.waiting == 1 }
      running.cancel()
      gate.open()
      await running.value
      #expect(keeper.totals.refreshed == 1 && !keeper.isRenewing)
      for await event in keeper.events() { Issue.record("unexpected event: \(event)") }
      #expect(
        try await accounts.open().load("a")?.token.expirationDate ?? .distantPast > Date() + 1000)
      // A second call returns at once.
      await keeper.run()
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `an account keeper refreshes an account's token repeatedly`(store: KeptAccounts.Store)
    async throws
  {
    try await KeptAccounts.running(store, lifetime: .seconds(2)) { accounts in
      try await accounts.add(["a", "b"], expiringAfter: 1)
      let keeper = accounts.keeper()
      try await eventually("six renewals") { keeper.totals.refreshed >= 6 }
      await keeper.stop()
      #expect(accounts.refreshes == keeper.totals.refreshed)
      #expect(accounts.sandbox.refreshTokenReuses == 0)
    }
  }

  /// Returns how often an account can be renewed from `start` to now, if the store waits 10 s after
  /// each renewal that leaves no valid token.
  private static func mostRenewals(since start: ContinuousClock.Instant) -> Int {
    1 + Int((ContinuousClock.now - start) / .seconds(10))
  }

  @Test func `an account whose new tokens expire at once is not renewed without a pause`()
    async throws
  {
    try await KeptAccounts.running(.postgreSQL, lifetime: .zero) { accounts in
      try await accounts.add(["a"], expiringAfter: 1)
      let start = ContinuousClock.now
      let keeper = accounts.keeper()
      try await eventually("the account is renewed") { keeper.totals.refreshed > 0 }
      // The keeper gets this account together with every other account that is due.
      try await accounts.add(["b"], expiringAfter: -1)
      try await eventually("the other account is renewed") { keeper.totals.refreshed > 1 }
      await keeper.stop()
      #expect(accounts.refreshes <= 2 * Self.mostRenewals(since: start))
    }
  }

  /// The failed renewal saves its refresh token, and its access token for the next attempt.
  @Test func `an account whose new ID token is rejected is not renewed again without a pause`()
    async throws
  {
    try await KeptAccounts.running(.postgreSQL) { accounts in
      let store = accounts.open()
      try await accounts.signIn("a")
      try await store.expire("a")
      accounts.sandbox.misbehave(at: .token, .idToken(.audienceWrong))
      let start = ContinuousClock.now
      let keeper = accounts.keeper()
      try await eventually("the renewal fails") { keeper.totals.failed > 0 }
      // The keeper gets this account together with every other account that is due.
      try await accounts.add(["b"], expiringAfter: -1)
      try await eventually("the other account is renewed") {
        let date = try await store.load("b")?.token.expirationDate
        return (date ?? .distantPast) > Date()
      }
      await keeper.stop()
      // Besides the renewals of the account there are its sign-in and one renewal of the other.
      #expect(accounts.refreshes <= 2 + Self.mostRenewals(since: start))
      #expect(accounts.sandbox.refreshTokenReuses == 0)
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `an account with a rejected refresh token is reported and erased`(
    store: KeptAccounts.Store
  ) async throws {
    try await KeptAccounts.running(store) { accounts in
      try await accounts.add(["a"], expiringAfter: 1)
      accounts.sandbox.revokeEverything()
      try await accounts.add(["b"], expiringAfter: 1)
      // Without the gate, the keeper could have an event before its stream exists.
      let isWatched = Gate(isOpen: false)
      accounts.sandbox.misbehave(at: .token, .hold(until: { await isWatched.opened() }), times: 2)
      let keeper = accounts.keeper()
      let events = KeptEvents(keeper)
      isWatched.open()
      try await eventually("both accounts have an event") { events.current.count >= 2 }
      await keeper.stop()
      let all = await events.all()
      #expect(Set(all) == ["a ended: invalid_grant", "b refreshed"])
      #expect(try await accounts.open().list() == ["b"])
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `a service's account with a rejected refresh token is renewed by its own grant`(
    store: KeptAccounts.Store
  ) async throws {
    try await KeptAccounts.running(store) { accounts in
      let service = try ClientConfiguration(
        clientID: SandboxClient.service.id, clientSecret: SandboxClient.service.secret,
        provider: accounts.configuration.provider)
      try await accounts.open().save(
        AccountRecord(
          id: "service", clientID: service.clientID, issuer: service.provider.issuer,
          grant: .clientCredentials(scope: "demo"), session: "service",
          token: SQToken(
            accessToken: "old", expirationDate: Date() + 1, refreshToken: "ended",
            issueDate: Date())))
      let keeper = AccountManager(store: accounts.open()).keepFresh { _ in service }
      try await eventually("the account is renewed") { keeper.totals.refreshed == 1 }
      await keeper.stop()
      #expect(keeper.totals.ended == 0 && keeper.totals.failed == 0)
      let grants = accounts.sandbox.requests(to: .token).map { $0.form("grant_type") }
      #expect(grants == ["refresh_token", "client_credentials"])
      let token = try #require(try await accounts.open().load("service")?.token)
      #expect(token.accessToken != "old" && token.refreshToken == nil)
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `after answers with Retry-After, the keeper pauses and then renews all accounts`(
    store: KeptAccounts.Store
  )
    async throws
  {
    try await KeptAccounts.running(store) { accounts in
      try await accounts.add(Self.ids, expiringAfter: 1)
      // Without the gate, the keeper could have an event before its stream exists.
      let isWatched = Gate(isOpen: false)
      accounts.sandbox.misbehave(
        at: .token, .hold(until: { await isWatched.opened() }, then: .unavailable(retryAfter: 1)),
        times: 3)
      let keeper = accounts.keeper(atOnce: 2)
      let events = KeptEvents(keeper)
      isWatched.open()
      try await eventually("all accounts are renewed") { keeper.totals.refreshed >= Self.ids.count }
      await keeper.stop()
      let first = await events.all().first
      #expect(first?.hasSuffix("failed: temporarily_unavailable") == true)
      #expect(keeper.totals.paused >= 2)
      // Each of the three failures is one more request.
      #expect(accounts.refreshes == Self.ids.count + 3)
      #expect(accounts.sandbox.refreshTokenReuses == 0)
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `accounts of another client are skipped`(store: KeptAccounts.Store) async throws {
    try await KeptAccounts.running(store) { accounts in
      try await accounts.add(["other"], expiringAfter: 1, client: "another program")
      try await accounts.add(["own"], expiringAfter: 2)
      let keeper = accounts.keeper()
      try await eventually("the own account is renewed") { keeper.totals.refreshed > 0 }
      await keeper.stop()
      #expect(keeper.totals == AccountKeeper.Totals(refreshed: 1))
      #expect(accounts.refreshes == 1)
    }
  }

  @Test(arguments: KeptAccounts.Store.allCases)
  func `an account that the app no longer uses is not renewed`(
    store: KeptAccounts.Store
  ) async throws {
    try await KeptAccounts.running(store) { accounts in
      try await accounts.add(["old"], expiringAfter: 1, issued: Date() - 100)
      try await accounts.add(["used"], expiringAfter: 1, issued: Date() - 5)
      let keeper = accounts.keeper(.used(within: .seconds(50)))
      try await eventually("the used account is renewed") { keeper.totals.refreshed > 0 }
      await keeper.stop()
      #expect(accounts.refreshes == 1)
      let used = try #require(try await accounts.open().load("used"))
      // A renewal by a keeper does not count as a use.
      #expect((used.lastUse ?? .distantFuture) < Date() - 4)
      #expect(keeper.totals == AccountKeeper.Totals(refreshed: 1))
    }
  }

  @Test func `an account keeper refreshes through the app's module, which sends an event`()
    async throws
  {
    try await KeptAccounts.running(.postgreSQL) { accounts in
      try await accounts.add(["a"], expiringAfter: 2)
      let manager = AccountManager(store: accounts.open())
      let module = try await manager.account(accounts.configuration, id: "a")
      var events = module.events().makeAsyncIterator()
      let keeper = manager.keepFresh { _ in nil }
      guard case .refreshed(let token) = await events.next() else {
        Issue.record("the first event is not a refresh")
        return
      }
      #expect(module.currentToken == token)
      await keeper.stop()
    }
  }

  @Test func `an account keeper reports a token that another keeper refreshed as taken over`()
    async throws
  {
    // In SQLite, each process looks for due accounts itself, so two keepers can find the same
    // account.
    try await KeptAccounts.running(.sqlite) { accounts in
      try await accounts.add(["a"], expiringAfter: 1)
      let answer = Gate(isOpen: false)
      accounts.sandbox.misbehave(at: .token, .hold(until: { await answer.opened() }))
      let first = accounts.keeper()
      try await answer.isHolding()
      let store = WaitedStore(store: accounts.open())
      let keepers = [first, accounts.keeper(of: store)]
      try await eventually("the second keeper waits for the first") { store.waits > 0 }
      answer.open()
      try await eventually("both keepers have handled the account") {
        keepers.map { $0.totals.refreshed + $0.totals.takenOver } == [1, 1]
      }
      for keeper in keepers { await keeper.stop() }
      #expect(accounts.refreshes == 1)
      #expect(keepers.map(\.totals.refreshed).sorted() == [0, 1])
    }
  }

  @Test func `a damaged record does not prevent the renewal of other accounts`() async throws {
    let files = try SQLiteFolder()
    try await KeptAccounts.with(.seconds(3600), { files.store() }) { accounts in
      try await accounts.add(["a", "b", "c"], expiringAfter: 1)
      try await files.sql("UPDATE accounts SET value=x'00' WHERE id='b'")
      // Without the gate, the keeper could have an event before its stream exists.
      let isWatched = Gate(isOpen: false)
      let store = LateStore {
        await isWatched.opened()
        return files.store()
      }
      let keeper = accounts.keeper(of: store)
      let events = KeptEvents(keeper)
      isWatched.open()
      try await eventually("each account has an event") { events.current.count >= 3 }
      await keeper.stop()
      let all = await events.all()
      #expect(Set(all) == ["a refreshed", "b failed: store_damaged", "c refreshed"])
      #expect(try await accounts.open().list() == ["a", "b", "c"])
    }
  }

  @Test func `an account keeper that is deallocated stops, and its event stream ends`() async throws
  {
    try await KeptAccounts.running(.sqlite) { accounts in
      var keeper: AccountKeeper? = accounts.keeper()
      let events = try #require(keeper?.events())
      keeper = nil
      for await event in events { Issue.record("unexpected event: \(event)") }
    }
  }
}
