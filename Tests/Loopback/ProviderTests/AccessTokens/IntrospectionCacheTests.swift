import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// How long an introspection answer is cached, and who shares it.
@Suite(.timeLimit(.minutes(2))) struct IntrospectionCacheTests {
  @Test
  func `many callers with one token share one request, and the answer is cached for 30 seconds`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let token = server.token()
    server.sandbox.misbehave(at: .introspection, .delay(.milliseconds(100)))
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { try await introspector.claims(of: token) != nil } }
      for try await isActive in group { #expect(isActive) }
    }
    #expect(server.questions == 1)
    server.clock.advance(by: 29)
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 1)
    server.clock.advance(by: 1)
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 2)
    introspector.forget(token)
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 3)
    for seconds in [-5.0, 40] {
      server.clock.moveDate(by: seconds)
      _ = try await introspector.claims(of: token)
    }
    #expect(server.questions == 3, "a changed date does not change the cache time")
    server.clock.moveDate(by: -1_000_000)
    server.clock.advance(by: 31)
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 4, "a date that is moved back does not extend the cache time")
  }

  @Test func `an answer that was requested before a call of forget is not cached`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let (token, other) = (server.token(), server.token())
    let gate = Gate(isOpen: false)
    server.sandbox.misbehave(at: .introspection, .hold { await gate.pass() }, times: 2)
    let early = [token, other].map { token in Task { try await introspector.claims(of: token) } }
    try await eventually("the requests arrive") { server.questions == 2 }
    introspector.forget(token)
    // A later caller does not wait for the earlier request.
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 3)
    introspector.forget(token)
    gate.open()
    for task in early { #expect(try await task.value != nil) }
    _ = try await introspector.claims(of: token)
    #expect(server.questions == 4)
    _ = try await introspector.claims(of: other)
    #expect(server.questions == 4, "the answer for the other token is still cached")
  }

  @Test func `a cached answer is not used after the token expires`() async throws {
    let server = try await ResourceServerFixture(nil) { $0.accessTokenLifetime = .seconds(10) }
    let introspector = try server.introspector(cacheTime: .seconds(3600))
    let token = server.token()
    let claims = try #require(try await introspector.claims(of: token))
    let left = try #require(claims.expirationDate).timeIntervalSince(server.clock.now)
    server.clock.advance(by: left - 0.5)
    #expect(try await introspector.claims(of: token) != nil && server.questions == 1)
    // `exp` only has whole seconds, but the server knows the exact time.
    server.clock.advance(by: 1.5)
    #expect(try await introspector.claims(of: token) == nil && server.questions == 2)
  }

  @Test func `an answer with exp in the past or nbf in the future means inactive`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let past = Int(server.clock.now.timeIntervalSince1970) - 61
    server.sandbox.misbehave(at: .introspection, .member("exp", .integer(past)))
    #expect(try await introspector.claims(of: server.token()) == nil)
    server.sandbox.misbehave(at: .introspection, .member("nbf", .integer(past + 200)))
    #expect(try await introspector.claims(of: server.token()) == nil)
  }

  @Test func `a full cache evicts old answers but keeps recently used ones`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(cacheLimit: 20)
    let used = server.token()
    for number in 0..<100 {
      _ = try await introspector.claims(of: used)
      _ = try await introspector.claims(of: "made-up-\(number)")
    }
    #expect(server.questions == 101)
    _ = try await introspector.claims(of: "made-up-99")
    #expect(server.questions == 101)
    _ = try await introspector.claims(of: "made-up-0")
    #expect(server.questions == 102)
  }

  @Test func `made-up tokens do not replace the answers for active tokens`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector(cacheLimit: 20)
    let tokens = (0..<10).map { _ in server.token() }
    for token in tokens { #expect(try await introspector.claims(of: token) != nil) }
    for number in 0..<100 { _ = try await introspector.claims(of: "made-up-\(number)") }
    #expect(server.questions == 110)
    for token in tokens { #expect(try await introspector.claims(of: token) != nil) }
    #expect(try await introspector.claims(of: "made-up-99") == nil)
    #expect(server.questions == 110)
    // A token that the server no longer reports as active moves to the other answers.
    server.clock.advance(by: 30)
    server.sandbox.misbehave(at: .introspection, .member("active", false))
    for _ in 0..<2 { #expect(try await introspector.claims(of: tokens[0]) == nil) }
    #expect(server.questions == 111)
  }

  /// Creates a server that delays the answer to one introspection request until the gate is open.
  private static func holding() async throws -> (ResourceServerFixture, Gate) {
    let (server, gate) = (try await ResourceServerFixture(nil), Gate(isOpen: false))
    server.sandbox.misbehave(at: .introspection, .hold { await gate.opened() })
    return (server, gate)
  }

  @Test func `cancelling one caller does not end the shared request of the others`() async throws {
    let (server, gate) = try await Self.holding()
    let (introspector, token) = (try server.introspector(), server.token())
    // Each task runs until it waits for the shared request.
    let tasks = (0..<2).map { _ in begin { try await introspector.claims(of: token) } }
    try await eventually("the request arrives") { server.questions == 1 }
    tasks[0].cancel()
    await failure(.cancelled) { try await tasks[0].value }
    gate.open()
    #expect(try await tasks[1].value != nil)
    #expect(server.questions == 1)
  }

  @Test func `the answer to a request whose only caller was cancelled is cached`() async throws {
    let (server, gate) = try await Self.holding()
    let (introspector, token) = (try server.introspector(), server.token())
    let caller = begin { try await introspector.claims(of: token) }
    try await eventually("the request arrives") { server.questions == 1 }
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    gate.open()
    for _ in 0..<2 { #expect(try await introspector.claims(of: token) != nil) }
    #expect(server.questions == 1)
  }
}
