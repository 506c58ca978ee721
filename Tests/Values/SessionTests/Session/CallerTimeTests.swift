import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A caller waits only until the client's time limit.
///
/// The refresh itself goes on.
@Suite(.timeLimit(.minutes(1))) struct CallerTimeTests {
  static let files = WebRequest(url: URL(filePath: "/files").inAPI)

  private static func fixture(
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> SessionFixture {
    try SessionFixture(change: { configuration in
      configuration.timeout = .zero
      change(&configuration)
    })
  }

  /// The calls of an app that may wait for a refresh.
  static let calls: [(name: String, call: @Sendable (SQOAuth) async throws -> Void)] = [
    ("token", { _ = try await $0.token() }),
    ("refresh", { try await $0.refresh() }),
    ("send", { _ = try await $0.send(files) }),
    ("authenticate", { _ = try await $0.authenticate(files) }),
  ]

  @Test(arguments: calls)
  func `after a caller's timeout, the refresh continues, and a later caller gets the new token`(
    name: String, call: @Sendable (SQOAuth) async throws -> Void
  ) async throws {
    let fixture = try await Self.fixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let error = await failure(.requestTimedOut) { try await call(fixture.oauth) }
    #expect(error?.message.contains("the request continues") == true)
    // Another caller joins the same refresh, and has its own time limit.
    await failure(.requestTimedOut) { try await fixture.module.token() }
    fixture.server.gate.open()
    try await fixture.module.flush()
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.refreshes == ["R1"])
    #expect(fixture.store.saves == ["save T2 R2"])
  }

  @Test func `if a refresh exceeds the time limit, a caller gets the old token while it is valid`()
    async throws
  {
    let fixture = try await Self.fixture().restored()
    // It is time to refresh the token, but servers still accept it.
    fixture.clock.advance(by: 3590)
    fixture.server.gate.close()
    #expect(try await fixture.module.token().accessToken == "T1")
    fixture.server.gate.open()
    try await fixture.module.flush()
    #expect(fixture.memory == "T2 R2")
  }

  @Test func `the time limit also applies to the client credentials grant`() async throws {
    let fixture = try Self.fixture { $0.usesClientCredentials = true }
    fixture.server.signInGate.close()
    await failure(.requestTimedOut) { try await fixture.module.token() }
    fixture.server.signInGate.open()
    try await fixture.module.flush()
    #expect(fixture.requests.filter { $0 == "client_credentials" }.count == 1)
  }

  @Test(arguments: [true, false])
  func `the time limit also applies while the store repeats the erasure of a signed-out user`(
    isNarrowed: Bool
  ) async throws {
    let fixture = try await Self.fixture().restored()
    let module = fixture.module
    fixture.store.fails(toErase: true)
    await failure(.storeFailed) { try await module.signOut() }
    fixture.store.fails()
    fixture.store.loading.close()
    let error = await failure(.requestTimedOut) {
      if isNarrowed {
        _ = try await module.narrowedToken(scope: "demo")
      } else {
        _ = try await module.token()
      }
    }
    #expect(error?.message.contains("has not finished earlier changes") == true)
    fixture.store.loading.open()
    try await module.flush()
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a flush waits without a time limit`() async throws {
    let fixture = try await Self.fixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    await failure(.requestTimedOut) { try await fixture.module.token() }
    let end = begin { try await fixture.module.flush() }
    await failure(.requestTimedOut) { try await fixture.module.token() }
    fixture.server.gate.open()
    try await end.value
    #expect(fixture.memory == "T2 R2")
  }
}
