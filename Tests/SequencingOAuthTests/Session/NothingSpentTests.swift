import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// A refresh token that the server accepts once is sent only when its successor has a place.
@Suite("Nothing is spent in vain", .timeLimit(.minutes(1))) struct NothingSpentTests {
  /// What is wrong with a store.
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
  func `a store in trouble stops the refresh, and the old token serves`(
    trouble: Trouble
  ) async throws {
    let bench = try await SessionFixture().restored()
    trouble.begin(in: bench.store)
    let error = await failure(.storeFailed) { try await bench.module.refresh() }
    #expect(error?.cause is ScriptedStore.Full && error?.requiresSignIn == false)
    #expect(error?.message.contains("the refresh token was not sent") == true)
    #expect(bench.requests.isEmpty && bench.memory == "T1 R1")
    #expect(await bench.observer.words(1) == ["failed store_failed"])
    #expect(try await bench.module.token().accessToken == "T1")
    bench.clock.advance(by: 3600)
    await failure(.storeFailed) { try await bench.module.token() }
    #expect(bench.requests.isEmpty && bench.module.hasAccessToken, "nobody is signed out")
    bench.store.fails()
    bench.clock.advance(by: 10)
    #expect(try await bench.module.token().accessToken == "T2")
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test(arguments: Trouble.allCases)
  func `an app that would rather live on memory says so`(trouble: Trouble) async throws {
    let bench = try await SessionFixture().restored()
    bench.oauth.environment.refreshesUnkeptTokens = true
    // As long as the store can, it makes room all the same.
    try await bench.module.refresh()
    #expect(bench.store.reservations == 1)
    trouble.begin(in: bench.store)
    #expect(try await bench.module.refresh().accessToken == "T3")
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.token().accessToken == "T4")
    #expect(bench.refreshes == ["R1", "R2", "R3"])
  }

  /// What counts is the token that would be sent, and not the one that is held.
  @Test func `another process's token that rotates is not spent without the lease`() async throws {
    let bench = try await SessionFixture().restored()
    bench.server.change { $0.refreshToken = "" }
    bench.server.expect("R1")
    try await bench.module.refresh()
    bench.server.change { $0.refreshToken = nil }
    let old = bench.clock.now - 3600
    await bench.store.memory.save(bench.record(bench.server.issue(at: old)))
    bench.clock.advance(by: 3600)
    bench.store.fails(toLease: true)
    await failure(.storeFailed) { try await bench.module.token() }
    #expect(bench.refreshes == ["R1"])
  }

  @Test(arguments: Trouble.allCases)
  func `a provider that keeps refresh tokens is asked all the same`(trouble: Trouble) async throws {
    let bench = try SessionFixture()
    var provider = Provider.endpoints(
      authorization: "https://id.example/authorize", token: "https://id.example/token")
    provider.keepsRefreshTokens = true
    try bench.bench.register(provider: provider)
    try await bench.restored()
    trouble.begin(in: bench.store)
    #expect(try await bench.module.refresh().accessToken == "T2")
  }

  @Test func `Google's preset is such a provider`() {
    #expect(Provider.google.keepsRefreshTokens && !Provider.sequencing.keepsRefreshTokens)
  }

  @Test(arguments: [nil, "\"R1\""], Trouble.allCases)
  func `an account learns that its server keeps refresh tokens`(
    sent: String?, trouble: Trouble
  ) async throws {
    let bench = try await SessionFixture().restored()
    bench.server.change { $0.refreshToken = sent ?? "" }
    bench.server.expect("R1")
    try await bench.module.refresh()
    #expect(await bench.store.memory.load("default")?.keepsRefreshToken == true)
    trouble.begin(in: bench.store)
    #expect(try await bench.module.refresh().accessToken == "T3")
    #expect(bench.refreshes == ["R1", "R1"])
    // It rotates after all: the next refresh is careful again.
    bench.store.fails()
    bench.server.change { $0.refreshToken = nil }
    try await bench.module.refresh()
    #expect(await bench.store.memory.load("default")?.keepsRefreshToken == false)
    trouble.begin(in: bench.store)
    await failure(.storeFailed) { try await bench.module.refresh() }
    #expect(bench.refreshes == ["R1", "R1", "R1"])
  }

  @Test(arguments: Trouble.allCases)
  func `a token in the client's own name can be asked for again`(trouble: Trouble) async throws {
    let bench = try SessionFixture()
    bench.server.change { $0.refreshToken = "" }
    try await bench.module.requestAccessTokenAsClient(scope: "demo")
    trouble.begin(in: bench.store)
    bench.clock.advance(by: 3600)
    #expect(try await bench.module.token().accessToken == "T2")
    #expect(bench.requests == ["client_credentials", "client_credentials"])
  }

  @Test(arguments: Trouble.allCases)
  func `a sign-in asks the store before the browser opens`(trouble: Trouble) async throws {
    let bench = try await SessionFixture(browser: { _, _ in Issue.record("the browser opened") })
      .restored()
    trouble.begin(in: bench.store)
    await failure(.storeFailed) { try await bench.oauth.signIn() }
    #expect(bench.requests.isEmpty)
  }

  @Test(arguments: Trouble.allCases)
  func `so does the password grant`(trouble: Trouble) async throws {
    let bench = try await SessionFixture(change: { $0.allowsPasswordGrant = true }).restored()
    trouble.begin(in: bench.store)
    await failure(.storeFailed) {
      try await bench.module.requestAccessToken(username: "alice", password: "secret")
    }
    #expect(bench.requests.isEmpty)
  }
}
