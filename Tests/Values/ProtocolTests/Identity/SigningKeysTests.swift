import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How often a client asks an issuer for its keys.
@Suite(.timeLimit(.minutes(1))) struct SigningKeysTests {
  private let server = KeyServer()
  private var clock: ManualClock { server.clock }
  private var http: ScriptedTransport { server.http }
  private var keys: SigningKeys { server.keys }
  private var environment: ClientEnvironment { server.environment }

  private func source(_ issuer: String = "https://id.example") throws -> SigningKeys.Source {
    try server.source(issuer)
  }

  private func newer(_ known: JSONWebKeySet) async throws -> JSONWebKeySet? {
    try await keys.keys(of: source(), environment, otherThan: known, isFromIssuer: false)
  }

  @Test func `fresh keys are fetched only once`() async throws {
    for _ in 0..<3 { _ = try await keys.keys(of: source(), environment) }
    #expect(http.requests.count == 1)
    #expect(http.requests.first?.timeout == .seconds(10))
    clock.advance(by: 3599)
    _ = try await keys.keys(of: source(), environment)
    #expect(http.requests.count == 1)
    clock.advance(by: 1)
    _ = try await keys.keys(of: source(), environment)
    #expect(http.requests.count == 2)
    for seconds in [-7200.0, 86_400] {
      clock.moveDate(by: seconds)
      _ = try await keys.keys(of: source(), environment)
    }
    #expect(http.requests.count == 2, "a change of the date causes no request")
  }

  @Test func `two issuers with one key address do not share keys`() async throws {
    _ = try await keys.keys(of: source(), environment)
    _ = try await keys.keys(of: source("https://other.example"), environment)
    #expect(http.requests.count == 2)
  }

  @Test func `new keys are fetched at once each time the issuer changes its keys`()
    async throws
  {
    var known = try await keys.keys(of: source(), environment)
    for letter in ["B", "C", "D"] {
      http.answer(KeyServer.keys(letter))
      let newer = try await newer(known)
      known = try #require(newer)
    }
    #expect(http.requests.count == 4)
  }

  @Test func `after a fetch without new keys, the issuer gets no request for a minute`()
    async throws
  {
    let known = try await keys.keys(of: source(), environment)
    for _ in 0..<5 {
      #expect(try await newer(known) == nil)
    }
    #expect(http.requests.count == 2)
    http.answer(KeyServer.keys("B"))
    clock.advance(by: 59)
    #expect(try await newer(known) == nil)
    clock.advance(by: 1)
    #expect(try await newer(known) != nil)
    #expect(http.requests.count == 3)
  }

  @Test func `many validations share one fetch`() async throws {
    let known = try await keys.keys(of: source(), environment)
    let gate = Gate(isOpen: false)
    http.answer { request in
      await gate.pass()
      return try await KeyServer.keys("B")(request)
    }
    let (source, environment) = (try source(), environment)
    let callers = (0..<20).map { _ in
      begin { [keys] in
        try await keys.keys(of: source, environment, otherThan: known, isFromIssuer: false)
      }
    }
    try await gate.isHolding()
    gate.open()
    for caller in callers { #expect(try await caller.value != nil) }
    #expect(http.requests.count == 2)
  }

  @Test func `a failed fetch is repeated after a second`()
    async throws
  {
    http.answer { _ in throw SQOAuthError(.connectionFailed, "no route") }
    let error = await failure(.connectionFailed) {
      try await keys.keys(of: source(), environment)
    }
    #expect(error?.message.contains("the issuer's keys could not be fetched") == true)
    http.answer(ScriptedTransport.json("{}", status: 503))
    await failure(.connectionFailed) { try await keys.keys(of: source(), environment) }
    #expect(http.requests.count == 1)
    clock.advance(by: 1)
    await failure(.temporarilyUnavailable) { try await keys.keys(of: source(), environment) }
    http.answer(ScriptedTransport.json("<html>"))
    clock.advance(by: 1)
    await failure(.invalidResponse) { try await keys.keys(of: source(), environment) }
    http.answer(KeyServer.keys("A"))
    clock.advance(by: 1)
    _ = try await keys.keys(of: source(), environment)
    #expect(http.requests.count == 4)
  }

  @Test(
    arguments: [
      (["Cache-Control": "max-age=900"], 900), (["Cache-Control": "public, Max-Age=\"900\""], 900),
      (["Cache-Control": "max-age=900", "Age": "100"], 800), ([:], 3600),
      (["Cache-Control": "public"], 3600), (["Cache-Control": "no-store"], 300),
      (["Cache-Control": "max-age=900, no-cache"], 300), (["Cache-Control": "max-age=0"], 300),
      (["Cache-Control": "max-age=soon"], 300), (["Cache-Control": "max-age=nan"], 300),
      (["Cache-Control": "max-age=31536000"], 86_400), (["Cache-Control": "max-age=1e999"], 300),
      (["Cache-Control": "max-age=900", "Age": "-5"], 900),
    ] as [(HeaderFields, Double)])
  func `the header fields determine how long keys are fresh, within bounds`(
    headers: HeaderFields, seconds: Double
  ) {
    #expect(HTTPFreshness.seconds(headers) == seconds)
  }
}
