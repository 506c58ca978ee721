import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Which keys are used while an issuer does not provide its keys.
@Suite(.timeLimit(.minutes(1))) struct SigningKeyOutageTests {
  private let server = KeyServer()

  struct Outage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: SQOAuthError.Code
    let answer: @Sendable (WebRequest) async throws -> WebResponse

    static func failure(_ code: SQOAuthError.Code) -> Self {
      Self(testDescription: "\(code)", code: code) { _ in throw SQOAuthError(code, "x") }
    }

    static func status(
      _ status: Int, _ code: SQOAuthError.Code, _ headers: HeaderFields = [:]
    ) -> Self {
      Self(testDescription: "status \(status)", code: code) { _ in
        WebResponse(status: status, headers: headers, body: Data())
      }
    }

    static let all = [
      failure(.connectionFailed), failure(.requestTimedOut), failure(.tlsFailed),
      status(429, .temporarilyUnavailable), status(500, .serverError),
      status(503, .temporarilyUnavailable),
    ]
    /// Answers of an available server that publishes no keys.
    static let answers = [
      status(404, .invalidResponse), status(410, .invalidResponse), status(302, .redirectRefused),
      Self(
        testDescription: "no keys", code: .invalidResponse, answer: ScriptedTransport.json("{")),
    ]
  }

  private func current() async throws -> JSONWebKeySet {
    try await server.keys.keys(of: server.source(), server.environment)
  }

  private func newer(
    than known: JSONWebKeySet, isFromIssuer: Bool = false
  ) async throws -> JSONWebKeySet? {
    try await server.keys.keys(
      of: server.source(), server.environment, otherThan: known, isFromIssuer: isFromIssuer)
  }

  private var requests: Int { server.http.requests.count }

  @Test(arguments: Outage.all + Outage.answers)
  func `tokens with unknown keys cause one request a minute to a failing issuer`(outage: Outage)
    async throws
  {
    let known = try await current()
    server.http.answer(outage.answer)
    for _ in 0..<5 { #expect(try await newer(than: known) == nil) }
    server.clock.advance(by: 59)
    #expect(try await newer(than: known) == nil)
    #expect(requests == 2)
    server.http.answer(KeyServer.keys("B"))
    server.clock.advance(by: 1)
    #expect(try await newer(than: known) != nil)
  }

  @Test(arguments: [("5", 60.0), ("90", 90), ("100000", 300)])
  func `a longer Retry-After of the issuer is respected, up to five minutes`(
    retryAfter: String, rest: Double
  ) async throws {
    let known = try await current()
    server.http.answer(
      Outage.status(429, .temporarilyUnavailable, ["Retry-After": retryAfter]).answer)
    #expect(try await newer(than: known) == nil)
    server.clock.advance(by: rest - 1)
    #expect(try await newer(than: known) == nil)
    #expect(requests == 2)
    server.clock.advance(by: 1)
    #expect(try await newer(than: known) == nil)
    #expect(requests == 3)
  }

  @Test func `for a token from the issuer itself, a failed key fetch is repeated after a second`()
    async throws
  {
    let known = try await current()
    server.http.answer(Outage.failure(.connectionFailed).answer)
    // Forged texts must not delay the next fetch for the issuer's own token.
    #expect(try await newer(than: known) == nil)
    await failure(.connectionFailed) { try await newer(than: known, isFromIssuer: true) }
    #expect(requests == 2)
    server.http.answer(KeyServer.keys("B"))
    server.clock.advance(by: 1)
    #expect(try await newer(than: known, isFromIssuer: true) != nil)
    #expect(requests == 3)
  }

  @Test(arguments: Outage.all)
  func `known keys stay valid for a day of outage, with one request a minute`(
    outage: Outage
  ) async throws {
    let known = try await current()
    server.http.answer(outage.answer)
    server.clock.advance(by: 3600)
    for _ in 0..<5 { #expect(try await current() == known) }
    #expect(try await newer(than: known) == nil)
    server.clock.advance(by: 59)
    #expect(try await current() == known)
    #expect(requests == 2)
    server.clock.advance(by: 1)
    #expect(try await current() == known)
    #expect(requests == 3)
    server.clock.advance(by: 86_400 - 61)
    #expect(try await current() == known)
    server.clock.advance(by: 1)
    await failure(outage.code) { try await current() }
  }

  @Test func `one caller checks whether the issuer answers again, and the others do not wait`()
    async throws
  {
    let known = try await current()
    server.http.answer(Outage.failure(.requestTimedOut).answer)
    server.clock.advance(by: 3600)
    #expect(try await current() == known)
    server.clock.advance(by: 60)
    let gate = Gate(isOpen: false)
    server.http.answer { request in
      await gate.pass()
      return try await KeyServer.keys("B")(request)
    }
    let (keys, source, environment) = (server.keys, try server.source(), server.environment)
    let first = begin { try await keys.keys(of: source, environment) }
    try await gate.isHolding()
    for _ in 0..<5 { #expect(try await current() == known) }
    gate.open()
    #expect(try await first.value != known)
    #expect(try await current() != known)
    #expect(requests == 3)
  }

  @Test func `a key that the issuer removed is dropped once the issuer answers again`() async throws
  {
    let known = try await current()
    server.http.answer(Outage.failure(.connectionFailed).answer)
    server.clock.advance(by: 3600)
    #expect(try await current() == known)
    server.http.answer(KeyServer.keys("B"))
    server.clock.advance(by: 60)
    #expect(try await current() != known)
  }

  @Test(arguments: Outage.answers)
  func `an issuer that answers without keys makes the old keys invalid`(answer: Outage) async throws
  {
    _ = try await current()
    server.http.answer(answer.answer)
    server.clock.advance(by: 3600)
    for _ in 0..<3 { await failure(answer.code) { try await current() } }
    #expect(requests == 2)
    server.http.answer(Outage.failure(.connectionFailed).answer)
    server.clock.advance(by: 1)
    await failure(.connectionFailed) { try await current() }
  }

  @Test func `without known keys, a failed request may be repeated after one second`() async throws
  {
    server.http.answer(
      Outage.status(503, .temporarilyUnavailable, ["Retry-After": "600"]).answer)
    for _ in 0..<5 { await failure(.temporarilyUnavailable) { try await current() } }
    #expect(requests == 1)
    server.http.answer(KeyServer.keys("A"))
    server.clock.advance(by: 1)
    _ = try await current()
  }

  @Test func `a failed prefetch of keys is repeated as soon as the keys are needed`()
    async throws
  {
    server.http.answer(Outage.failure(.connectionFailed).answer)
    await failure(.connectionFailed) {
      try await server.keys.keys(of: server.source(), server.environment, isAhead: true)
    }
    server.http.answer(KeyServer.keys("A"))
    _ = try await current()
  }

  /// The senders of forged tokens hang up before the issuer answers.
  @Test(arguments: [true, false])
  func `a thousand cancelled calls with unknown keys cause one request`(isOutage: Bool)
    async throws
  {
    let known = try await current()
    let gate = Gate(isOpen: false)
    let answer =
      isOutage ? Outage.status(503, .temporarilyUnavailable).answer : KeyServer.keys("A")
    server.http.answer { request in
      await gate.pass()
      return try await answer(request)
    }
    let (keys, source, environment) = (server.keys, try server.source(), server.environment)
    for _ in 0..<1000 {
      let caller = begin {
        try await keys.keys(of: source, environment, otherThan: known, isFromIssuer: false)
      }
      caller.cancel()
      await failure(.cancelled) { try await caller.value }
    }
    gate.open()
    for _ in 0..<3 { #expect(try await newer(than: known) == nil) }
    #expect(requests == 2)
    server.clock.advance(by: 60)
    server.http.answer(KeyServer.keys("B"))
    #expect(try await newer(than: known) != nil)
  }

  @Test func `a request that the transport cancels does not count as a failure of the issuer`()
    async throws
  {
    let known = try await current()
    server.http.answer { _ in throw CancellationError() }
    await failure(.cancelled) { try await newer(than: known) }
    server.http.answer(KeyServer.keys("B"))
    #expect(try await newer(than: known) != nil)
  }
}
