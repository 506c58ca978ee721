import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Many callers share one token request.
@Suite("One refresh for many callers", .timeLimit(.minutes(1))) struct OneRefreshTests {
  static let files = WebRequest(url: URL(filePath: "/files").inAPI)
  /// The numbers of callers; under a sanitizer, ten thousand would take too long.
  private static let crowds = isSanitized ? [50, 1_000] : [50, 1_000, 10_000]

  @Test func `two callers that begin together share one refresh`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.gate.close()
    let caller = begin { try await fixture.module.refresh() }
    let other = begin { try await fixture.module.refresh() }
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    _ = try await (caller.value, other.value)
    #expect(fixture.refreshes == ["R1"])
  }

  /// A third of the callers force a refresh, a third get a rejection, and a third find the token
  /// expired.
  @Test(arguments: crowds)
  func `forced refreshes, rejected requests and expired tokens together cause one token request`(
    count: Int
  ) async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.server.gate.close()
    fixture.server.refuse("T1")
    let third = count / 3
    let refused = (0..<third).map { _ in begin { try await module.send(Self.files) } }
    let forced = (0..<third).map { _ in begin { try await module.refresh() } }
    fixture.clock.advance(by: 3600)
    let expired = (0..<count - 2 * third).map { _ in begin { try await module.token() } }
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    for caller in refused { #expect(try await caller.value.status == 200) }
    for caller in forced + expired {
      #expect(try await caller.value.accessToken == "T2")
    }
    #expect(fixture.refreshes == ["R1"])
    #expect(fixture.store.saves == ["save T2 R2"])
    #expect(fixture.memory == "T2 R2")
  }

  @Test(arguments: crowds)
  func `all waiting callers get the same failure`(count: Int) async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.server.gate.close()
    fixture.server.refuse("T1")
    fixture.server.always(ScriptedTransport.json("", status: 500))
    let refused = (0..<count / 3).map { _ in begin { try await module.send(Self.files) } }
    let forced = (0..<count / 3).map { _ in begin { try await module.refresh() } }
    fixture.clock.advance(by: 3600)
    let expired = (0..<count / 3).map { _ in begin { try await module.token() } }
    try await fixture.server.gate.isHolding()
    fixture.server.gate.open()
    for caller in refused { await failure(.serverError) { try await caller.value } }
    for caller in forced + expired { await failure(.serverError) { try await caller.value } }
    #expect(fixture.refreshes == ["R1"])
    // Until the back-off is over, later callers get the same failure.
    for _ in 0..<20 {
      await failure(.serverError) { try await module.token() }
      await failure(.serverError) { try await module.refresh() }
    }
    #expect(fixture.refreshes == ["R1"])
    #expect(await fixture.observer.words(1) == ["failed server_error"])
  }

  @Test func `one hundred concurrent tasks share each refresh`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    for round in 1...20 {
      fixture.clock.advance(by: 3600)
      let tokens = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<100 { group.addTask { try await module.token().accessToken } }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(tokens == ["T\(round + 1)"])
      #expect(fixture.refreshes.count == round)
    }
  }

  @Test func `a 401 for a replaced token does not cause a refresh`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    let late = Gate()
    late.close()
    let server = fixture.server
    fixture.fixture.http.answer { request in
      let response = try await server.answer(request)
      if request.url.path() == "/slow", response.status == 401 { await late.pass() }
      return response
    }
    server.refuse("T1")
    let slow = WebRequest(url: URL(filePath: "/slow").inAPI)
    let first = begin { try await module.send(slow) }
    try await late.isHolding()
    #expect(try await module.send(Self.files).status == 200)
    #expect(fixture.refreshes == ["R1"])
    late.open()
    #expect(try await first.value.status == 200)
    #expect(fixture.refreshes == ["R1"])
    #expect(fixture.requests.last == "GET /slow T2")
  }

  @Test func `a refresh continues after the caller that started it is cancelled`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.server.gate.close()
    let first = begin { try await module.refresh() }
    let others = (0..<20).map { _ in begin { try await module.refresh() } }
    try await fixture.server.gate.isHolding()
    first.cancel()
    others[7].cancel()
    await failure(.cancelled) { try await first.value }
    await failure(.cancelled) { try await others[7].value }
    fixture.server.gate.open()
    for (index, other) in others.enumerated() where index != 7 {
      #expect(try await other.value.accessToken == "T2")
    }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `the new token is kept even if all callers are cancelled`() async throws {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.server.gate.close()
    let callers = (0..<10).map { _ in begin { try await module.refresh() } }
    try await fixture.server.gate.isHolding()
    for caller in callers { caller.cancel() }
    for caller in callers { await failure(.cancelled) { try await caller.value } }
    fixture.server.gate.open()
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    #expect(fixture.memory == "T2 R2")
    #expect(await fixture.store.content() == "T2 R2")
    #expect(try await module.token().accessToken == "T2")
    #expect(fixture.refreshes == ["R1"])
  }

  @Test func `callers that are cancelled at once cause no more than one refresh`() async throws {
    let fixture = try await SessionFixture(lifetime: 100).restored()
    fixture.clock.advance(by: 100)
    let module = fixture.module
    for _ in 0..<50 {
      let caller = Task { try await module.token() }
      caller.cancel()
      _ = try? await caller.value
    }
    _ = try await module.token()
    #expect(fixture.refreshes == ["R1"])
  }
}

extension URL {
  /// The URL of this path at an API that gets the token.
  var inAPI: URL { URL(string: "https://api.example\(path())") ?? self }
}
