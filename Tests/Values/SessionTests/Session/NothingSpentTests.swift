import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A refresh token that works only once is sent only when the store has reserved space for its
/// successor.
@Suite("No refresh token is wasted", .timeLimit(.minutes(1))) struct NothingSpentTests {
  /// A problem of a store.
  enum Trouble: CaseIterable {
    case cannotRead, cannotLock, hasNoRoom

    func begin(in store: ScriptedStore) {
      switch self {
      case .cannotRead: store.fails(toLoad: true)
      case .cannotLock: store.fails(toLease: true)
      case .hasNoRoom: store.fails(toReserve: true)
      }
    }
  }

  @Test(arguments: Trouble.allCases)
  func `if the store has a problem, no refresh is sent and the old token stays in use`(
    trouble: Trouble
  ) async throws {
    let fixture = try await SessionFixture().restored()
    trouble.begin(in: fixture.store)
    let error = await failure(.storeFailed) { try await fixture.module.refresh() }
    #expect(error?.cause is ScriptedStore.Full && error?.requiresSignIn == false)
    #expect(error?.message.contains("no refresh was sent") == true)
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    #expect(await fixture.observer.words(1) == ["failed store_failed"])
    #expect(try await fixture.module.token().accessToken == "T1")
    fixture.clock.advance(by: 3600)
    await failure(.storeFailed) { try await fixture.module.token() }
    #expect(fixture.requests.isEmpty && fixture.module.hasAccessToken, "nobody is signed out")
    fixture.store.fails()
    fixture.clock.advance(by: 10)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(await fixture.store.content() == "T2 R2")
  }

  /// Starts a refresh, and lets time pass while the store reserves space, as if the machine slept.
  private func refresh(
    _ fixture: SessionFixture, sleepingFor seconds: Double
  ) async throws -> Task<SQToken, any Error> {
    fixture.store.reserving.close()
    let module = fixture.module
    let refresh = begin { try await module.refresh() }
    try await fixture.store.reserving.isHolding()
    fixture.clock.advance(by: seconds)
    fixture.store.reserving.open()
    return refresh
  }

  /// Another host may take over the account 160 s after the reservation.
  @Test(arguments: [(0.0, 100), (50, 100), (51, 99), (149, 1)])
  func `a refresh request ends at most 150 s after the reservation began`(
    seconds: Double, limit: Int
  ) async throws {
    let fixture = try await SessionFixture().restored()
    let refresh = try await refresh(fixture, sleepingFor: seconds)
    #expect(try await refresh.value.accessToken == "T2")
    #expect(fixture.fixture.http.requests.map(\.timeout) == [.seconds(limit)])
  }

  @Test(arguments: [150.0, 171, 86_400])
  func `if the machine sleeps too long after the reservation, no refresh is sent`(seconds: Double)
    async throws
  {
    let fixture = try await SessionFixture(lifetime: 1_000_000).restored()
    let refresh = try await refresh(fixture, sleepingFor: seconds)
    let error = await failure(.requestTimedOut) { try await refresh.value }
    #expect(error?.message.contains("nothing was sent") == true)
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.refresh().accessToken == "T2")
  }

  @Test(arguments: Trouble.allCases)
  func `with refreshesWithoutStore, a refresh is sent although the store has a problem`(
    trouble: Trouble
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.refreshesWithoutStore = true
    // A store without problems still reserves space.
    try await fixture.module.refresh()
    #expect(fixture.store.reservations == 1)
    trouble.begin(in: fixture.store)
    #expect(try await fixture.module.refresh().accessToken == "T3")
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T4")
    #expect(fixture.refreshes == ["R1", "R2", "R3"])
  }

  /// The refresh would send the stored token, and so needs the lease.
  ///
  /// The refresh token in memory is reusable, but it is not sent.
  @Test func `a rotating refresh token that another process stored is not sent without the lease`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.server.change { $0.refreshToken = "" }
    fixture.server.expect("R1")
    try await fixture.module.refresh()
    fixture.server.change { $0.refreshToken = nil }
    let old = fixture.clock.now - 3600
    await fixture.store.memory.save(fixture.record(fixture.server.issue(at: old)))
    fixture.clock.advance(by: 3600)
    fixture.store.fails(toLease: true)
    await failure(.storeFailed) { try await fixture.module.token() }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test(arguments: Trouble.allCases)
  func `if the provider reuses refresh tokens, a refresh is sent although the store has a problem`(
    trouble: Trouble
  ) async throws {
    let fixture = try SessionFixture()
    var provider = Provider.endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token")
    provider.reusesRefreshTokens = true
    try fixture.fixture.register(provider: provider)
    try await fixture.restored()
    trouble.begin(in: fixture.store)
    #expect(try await fixture.module.refresh().accessToken == "T2")
  }

  @Test func `the preset of Google reuses refresh tokens, and that of Sequencing does not`() {
    #expect(Provider.google.reusesRefreshTokens && !Provider.sequencing.reusesRefreshTokens)
  }

  @Test(arguments: [nil, "\"R1\""], Trouble.allCases)
  func `after a refresh kept the refresh token, a store problem does not prevent the next refresh`(
    sent: String?, trouble: Trouble
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.change { $0.refreshToken = sent ?? "" }
    fixture.server.expect("R1")
    try await fixture.module.refresh()
    #expect(await fixture.store.memory.load("default")?.reusesRefreshToken == true)
    trouble.begin(in: fixture.store)
    #expect(try await fixture.module.refresh().accessToken == "T3")
    #expect(fixture.refreshes == ["R1", "R1"])
    // The server rotates the token after all, so the next refresh reserves space before it sends.
    fixture.store.fails()
    fixture.server.change { $0.refreshToken = nil }
    try await fixture.module.refresh()
    #expect(await fixture.store.memory.load("default")?.reusesRefreshToken == false)
    trouble.begin(in: fixture.store)
    await failure(.storeFailed) { try await fixture.module.refresh() }
    #expect(fixture.refreshes == ["R1", "R1", "R1"])
  }

  @Test(arguments: Trouble.allCases)
  func `a client credentials token is requested again although the store has a problem`(
    trouble: Trouble
  )
    async throws
  {
    let fixture = try SessionFixture()
    fixture.server.change { $0.refreshToken = "" }
    try await fixture.module.requestAccessTokenAsClient(scope: "demo")
    trouble.begin(in: fixture.store)
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.requests == ["client_credentials", "client_credentials"])
  }

  @Test(arguments: Trouble.allCases)
  func `a sign-in checks the store before the browser opens`(trouble: Trouble) async throws {
    let fixture = try await SessionFixture(browser: { _, _ in Issue.record("the browser opened") })
      .restored()
    trouble.begin(in: fixture.store)
    await failure(.storeFailed) { try await fixture.oauth.signIn() }
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: Trouble.allCases)
  func `a password grant checks the store before its request`(trouble: Trouble) async throws {
    let fixture = try await SessionFixture(change: { $0.allowsPasswordGrant = true }).restored()
    trouble.begin(in: fixture.store)
    await failure(.storeFailed) {
      try await fixture.module.requestAccessToken(username: "alice", password: "secret")
    }
    #expect(fixture.requests.isEmpty)
  }
}
