import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// An introspection endpoint that fails, and the requests that it gets in this time.
@Suite(.timeLimit(.minutes(1))) struct IntrospectionOutageTests {
  @Test(arguments: [nil, 5, 100_000] as [Int?])
  func `a failing server gets no request for a second, or for its Retry-After up to 30 s`(
    asked: Int?
  ) async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let headers = asked.map { ["Retry-After": "\($0)"] } ?? [:]
    server.sandbox.misbehave(
      at: .introspection, .status(503, headers: headers, body: ""), times: .max)
    for _ in 0..<10 {
      await failure(.temporarilyUnavailable) { try await introspector.claims(of: server.token()) }
    }
    #expect(server.questions == 1)
    let rest = Double(min(asked ?? 1, 30))
    server.clock.advance(by: rest - 0.5)
    server.clock.moveDate(by: 1000)
    await failure(.temporarilyUnavailable) { try await introspector.claims(of: server.token()) }
    #expect(server.questions == 1)
    server.clock.moveDate(by: -1000)
    server.clock.advance(by: 0.5)
    server.sandbox.behave()
    #expect(try await introspector.claims(of: server.token()) != nil)
    #expect(server.questions == 2)
  }

  @Test func `an unreachable server gets no request for a second, and then requests succeed again`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    server.sandbox.misbehave(at: .introspection, .cut(.beforeProcessing), times: .max)
    for _ in 0..<2 {
      await failure(.connectionFailed) { try await introspector.claims(of: server.token()) }
    }
    let questions = server.questions
    for _ in 0..<5 {
      await failure(.connectionFailed) { try await introspector.claims(of: server.token()) }
    }
    #expect(server.questions == questions)
    server.clock.advance(by: 1)
    server.sandbox.behave()
    for _ in 0..<3 { #expect(try await introspector.claims(of: server.token()) != nil) }
    #expect(server.questions == questions + 3)
  }

  @Test func `a server failure prevents further requests even if all callers were cancelled`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let answer = Gate(isOpen: false)
    server.sandbox.misbehave(
      at: .introspection, .hold(until: { await answer.opened() }, then: .status(503)))
    let token = server.token()
    for _ in 0..<20 {
      let caller = begin { try await introspector.claims(of: token) }
      _ = try await server.sandbox.requests(to: .introspection, atLeast: 1)
      caller.cancel()
      await failure(.cancelled) { try await caller.value }
    }
    answer.open()
    for text in [token, server.token()] {
      await failure(.temporarilyUnavailable) { try await introspector.claims(of: text) }
    }
    #expect(server.questions == 1)
  }

  /// Anyone may send a service a token, even one that makes the server fail.
  @Test func `a failure for one token does not block the other tokens`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let (bad, good) = (server.token(), server.token())
    server.sandbox.misbehave(at: .introspection, .status(500))
    for _ in 0..<10 { await failure { try await introspector.claims(of: bad) } }
    #expect(server.questions == 1)
    #expect(try await introspector.claims(of: good) != nil)
    server.clock.advance(by: 1)
    #expect(try await introspector.claims(of: bad) != nil)
    #expect(server.questions == 3)
  }

  /// A firewall may break the connection of each request with a certain token.
  @Test func `a token whose requests get no response does not block the other tokens`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let bad = server.token()
    for _ in 0..<3 {
      // The transport may repeat a request on a new connection.
      server.sandbox.misbehave(at: .introspection, .cut(.beforeProcessing), times: .max)
      for _ in 0..<3 {
        await failure(.connectionFailed) { try await introspector.claims(of: bad) }
      }
      server.sandbox.behave()
      let questions = server.questions
      await failure(.connectionFailed) { try await introspector.claims(of: bad) }
      #expect(server.questions == questions)
      #expect(try await introspector.claims(of: server.token()) != nil)
      server.clock.advance(by: 1)
    }
    #expect(try await introspector.claims(of: bad) != nil)
  }

  @Test func `a response between two requests that get none shows that the server works`()
    async throws
  {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    for _ in 0..<2 {
      server.sandbox.misbehave(at: .introspection, .cut(.beforeProcessing), times: .max)
      await failure(.connectionFailed) { try await introspector.claims(of: server.token()) }
      server.sandbox.behave()
      server.sandbox.misbehave(at: .introspection, .status(400))
      await failure { try await introspector.claims(of: server.token()) }
    }
    #expect(try await introspector.claims(of: server.token()) != nil)
  }

  @Test func `cached answers stay valid while the server fails`() async throws {
    let server = try await ResourceServerFixture(nil)
    let introspector = try server.introspector()
    let token = server.token()
    #expect(try await introspector.claims(of: token) != nil)
    server.sandbox.misbehave(at: .introspection, .status(503), times: .max)
    await failure { try await introspector.claims(of: server.token()) }
    #expect(try await introspector.claims(of: token) != nil)
  }
}
