import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// How long a cached introspection response is used.
@Suite(.timeLimit(.minutes(1))) struct IntrospectionTimeTests {
  private let clock = ManualClock()
  private let http = ScriptedTransport()

  private func introspector(
    cacheTime: Duration, cacheLimit: Int = 10_000, clock: (any WallClock)? = nil
  ) throws -> TokenIntrospector {
    var environment = ClientEnvironment()
    environment.clock = clock ?? self.clock
    environment.transport = http
    return TokenIntrospector(
      try ClientConfiguration(
        clientID: "service", clientSecret: "secret",
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token",
          introspection: "https://id.example/introspect")), audience: nil, cacheTime: cacheTime,
      cacheLimit: cacheLimit, environment: environment)
  }

  private static func answer(_ isActive: Bool) -> ScriptedTransport.Answer {
    ScriptedTransport.json(#"{"active":\#(isActive),"sub":"alice"}"#)
  }

  /// Makes the server answer at once, and the answer arrive ten seconds later.
  private func answerSlowly(_ isActive: Bool) {
    http.answer { [clock] request in
      clock.advance(by: 10)
      return try await Self.answer(isActive)(request)
    }
  }

  @Test func `the cache time of a slow answer begins when its request is sent`() async throws {
    let introspector = try introspector(cacheTime: .seconds(15))
    answerSlowly(true)
    #expect(try await introspector.claims(of: "token") != nil)
    http.answer(Self.answer(false))
    clock.advance(by: 4)
    #expect(try await introspector.claims(of: "token") != nil)
    clock.advance(by: 1)
    #expect(try await introspector.claims(of: "token") == nil)
    #expect(http.requests.count == 2)
  }

  @Test func `an answer that takes longer than the cache time is not cached`() async throws {
    let introspector = try introspector(cacheTime: .seconds(3))
    answerSlowly(true)
    for _ in 0..<2 { #expect(try await introspector.claims(of: "token") != nil) }
    #expect(http.requests.count == 2)
  }

  @Test(
    arguments: [
      (.zero, 100), (.seconds(-60), 100), (.seconds(15), 1), (.seconds(15), 0), (.seconds(15), -1),
    ] as [(Duration, Int)])
  func `without a cache time or without room for an answer, each call sends one request`(
    cacheTime: Duration, cacheLimit: Int
  ) async throws {
    let introspector = try introspector(cacheTime: cacheTime, cacheLimit: cacheLimit)
    http.answer { [weak http] request in
      // Without this limit, a call that repeats its request would never end.
      guard let http, http.requests.count <= 2 else {
        throw SQOAuthError(.connectionFailed, "too many requests")
      }
      return try await Self.answer(true)(request)
    }
    for _ in 0..<2 { #expect(try await introspector.claims(of: "token") != nil) }
    #expect(http.requests.count == 2)
  }

  /// An app's clock that is set back at each reading; its steady time follows the date.
  private final class FallingClock: WallClock {
    private let seconds = Locked(1_750_000_000.0)

    var now: Date {
      seconds.withLock { seconds in
        seconds -= 1
        return Date(timeIntervalSince1970: seconds)
      }
    }

    func sleep(until date: Date) async throws {}
  }

  @Test func `a call uses the answer to its own request even if the clock is set back`()
    async throws
  {
    let introspector = try introspector(cacheTime: .zero, clock: FallingClock())
    http.answer { [weak http] request in
      // Without this limit, a call that repeats its request would never end.
      guard http?.requests.count == 1 else {
        throw SQOAuthError(.connectionFailed, "too many requests")
      }
      return try await Self.answer(true)(request)
    }
    #expect(try await introspector.claims(of: "token") != nil)
  }

  @Test(arguments: [(14.0, 1), (16.0, 2)])
  func `a call sends its own request if the pending one is older than the cache time`(
    delay: Double, requests: Int
  ) async throws {
    let introspector = try introspector(cacheTime: .seconds(15))
    let wire = Gate(isOpen: false)
    http.answer { request in
      await wire.pass()
      return try await Self.answer(true)(request)
    }
    let first = begin { try await introspector.claims(of: "token") }
    try await wire.isHolding()
    clock.advance(by: delay)
    let second = begin { try await introspector.claims(of: "token") }
    http.answer(Self.answer(false))
    wire.open()
    #expect(try await first.value != nil)
    #expect(try await (second.value == nil) == (requests == 2))
    #expect(http.requests.count == requests)
  }
}
