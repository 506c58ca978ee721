import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// A revocation while something else happens to the session.
@Suite("A revocation that is not alone", .timeLimit(.minutes(1))) struct RevocationOrderTests {
  /// The server's work, which the test ends.
  let server = Gate(isOpen: false)

  /// Begins to have the tokens of a session ended; the task's value is the one that was.
  func revocation(of bench: SessionFixture) -> Task<String?, any Error> {
    let (session, server) = (bench.module.session, server)
    return begin {
      var ended: String?
      try await session.end(.revoked) { record in
        ended = ScriptedStore.words(record.token)
        await server.pass()
      }
      return ended
    }
  }

  @Test func `a sign-out meanwhile is the end, once`() async throws {
    let bench = try await SessionFixture().restored()
    let revocation = revocation(of: bench)
    try await server.isHolding()
    bench.oauth.userDidSignOut()
    #expect(bench.memory == nil)
    server.open()
    #expect(try await revocation.value == "T1 R1")
    try await bench.module.settle()
    #expect(await bench.observer.words(1) == ["ended signedOut"])
    #expect(await bench.store.content() == nil)
    #expect(bench.store.calls.count { $0 == "erase" } == 1)
  }

  @Test func `whoever signs in meanwhile stays signed in`() async throws {
    let bench = try await SessionFixture().restored()
    let revocation = revocation(of: bench)
    try await server.isHolding()
    #expect(try await bench.oauth.signIn().accessToken == "T2")
    server.open()
    #expect(try await revocation.value == "T1 R1")
    try await bench.module.settle()
    #expect(bench.memory == "T2 R2" && bench.observer.words.isEmpty)
    #expect(await bench.store.content() == "T2 R2")
  }

  @Test func `another process's newer tokens are those that end`() async throws {
    let bench = try await SessionFixture().restored()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now)))
    server.open()
    #expect(try await revocation(of: bench).value == "T2 R2")
    #expect(await bench.store.content() == nil)
  }

  @Test func `in a store that cannot be read there may be others, but those held end`() async throws
  {
    let bench = try await SessionFixture().restored()
    bench.store.fails(toLoad: true)
    server.open()
    #expect(try await revocation(of: bench).value == "T1 R1")
    #expect(bench.memory == nil)
  }

  /// One token is in the store, and the app comes with another while that is looked for.
  @Test func `it waits for a token that the app resumes, and ends that`() async throws {
    let bench = try SessionFixture()
    await bench.store.memory.save(bench.record(bench.server.issue(at: bench.clock.now - 60)))
    bench.store.loading.close()
    bench.store.saving.close()
    server.open()
    let revocation = revocation(of: bench)
    try await bench.store.loading.isHolding()
    bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now))
    bench.store.loading.open()
    try await bench.store.saving.isHolding()
    #expect(bench.memory == "T2 R2")
    bench.store.saving.open()
    #expect(try await revocation.value == "T2 R2")
    #expect(bench.memory == nil)
    #expect(await bench.store.content() == nil)
  }

  /// What a revocation, or a caller who needs a token, waits for.
  enum Wait: CaseIterable { case refresh, takeover }

  @Test(arguments: Wait.allCases)
  func `one that is cancelled while it waits ends nothing`(for wait: Wait) async throws {
    let bench = try await SessionFixture().restored()
    let module = bench.module
    bench.clock.advance(by: 1)
    bench.store.saving.close()
    if wait == .refresh {
      Task { try await module.refresh() }
    } else {
      bench.oauth.launchTokenTimerUpdate(with: bench.server.issue(at: bench.clock.now))
    }
    try await bench.store.saving.isHolding()
    let revocation = revocation(of: bench)
    let caller = begin { try await module.refresh() }
    revocation.cancel()
    caller.cancel()
    await failure(.cancelled) { try await revocation.value }
    await failure(.cancelled) { try await caller.value }
    bench.store.saving.open()
    try await module.settle()
    #expect(bench.memory == "T2 R2" && server.waiting == 0)
    #expect(await bench.store.content() == "T2 R2")
  }
}
