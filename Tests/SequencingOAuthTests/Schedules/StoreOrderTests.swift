import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// The store after a failure of its own: never an older token over a newer one.
@Suite(.timeLimit(.minutes(1))) struct StoreOrderTests {
  /// A token in memory that the store refused, with a timer that will offer it again.
  func unsaved() async throws -> ModuleBench {
    let bench = try ModuleBench()
    bench.module.refreshesAutomatically = true
    bench.store.fails(true)
    await failure(.storeFailed) { try await bench.signIn() }
    bench.store.fails(false)
    return bench
  }

  @Test func `a token that the store refused is offered again`() async throws {
    let bench = try await unsaved()
    await bench.clock.hasSleeper()
    bench.clock.advance(by: 1)
    try await eventually("it is stored") { try await bench.stored() == "R1" }
  }

  @Test func `it is not offered behind the one that replaces it`() async throws {
    let bench = try await unsaved()
    await bench.clock.hasSleeper()
    bench.store.hold()
    async let refreshed = bench.module.refresh()
    try await eventually("the new one is on its way") { bench.store.saves.last == "R2" }
    bench.clock.advance(by: 2)
    for _ in 0..<200 { await Task.yield() }
    bench.store.release()
    #expect(try await refreshed.refreshToken == "R2")
    _ = try await bench.module.session.load()
    #expect(try await bench.stored() == "R2" && bench.store.saves == ["R1", "R2"])
  }

  @Test func `it is not offered again once the app goes on with another token`() async throws {
    let bench = try await unsaved()
    let kept = SQToken(
      accessToken: "kept", refreshToken: "K", issueDate: bench.clock.now + 1)
    bench.store.hold()
    let session = bench.module.session
    let finish = session.resume(try bench.module.context.record(of: kept, id: session.accountID))
    bench.clock.advance(by: 2)
    await session.saveAgain()
    bench.store.release()
    await finish()
    _ = try await session.load()
    #expect(try await bench.stored() == "K" && bench.store.saves == ["R1", "K"])
  }

  /// By its date the stored token, which was spent, would be the younger one.
  @Test func `a clock that was moved back makes no spent token the newer one`() async throws {
    let bench = try ModuleBench()
    try await bench.signIn()
    bench.clock.advance(by: -7200)
    bench.store.fails(true)
    try await bench.module.refresh()
    bench.store.fails(false)
    #expect(try await bench.module.refresh().refreshToken == "R3")
    #expect(bench.sent == ["R1", "R2"])
    #expect(try await bench.stored() == "R3")
  }

  @Test func `an end that the store refuses is made up for before it is read`() async throws {
    let bench = try ModuleBench()
    try await bench.signIn()
    bench.store.fails(true)
    await failure(.storeFailed) { try await bench.module.clearAccessToken() }
    await failure(.storeFailed) { try await bench.module.token() }
    bench.store.fails(false)
    #expect(try await bench.stored() == "R1")
    await failure(.notAuthorized) { try await bench.module.token() }
    #expect(try await bench.stored() == nil)
    try await bench.signIn()
    #expect(try await bench.stored() == "R2")
  }

  @Test func `an end that the store refuses takes nothing from the next sign-in`() async throws {
    let bench = try ModuleBench()
    try await bench.signIn()
    bench.store.hold()
    let refreshed = Task { try await bench.module.refresh() }
    try await eventually("a save waits") { bench.store.saves.count == 2 }
    bench.store.fails(true)
    let erase = bench.module.signOut()
    let signedIn = Task { try await bench.signIn() }
    try await eventually("the next token is there") { bench.http.requests.count == 3 }
    bench.store.release()
    await failure(.storeFailed) { try await erase.wait().get() }
    _ = await refreshed.result
    await failure(.storeFailed) { try await signedIn.value }
    bench.store.fails(false)
    let token = try await bench.module.refresh()
    #expect(try await bench.stored() == token.refreshToken && bench.store.erases == 1)
  }
}
