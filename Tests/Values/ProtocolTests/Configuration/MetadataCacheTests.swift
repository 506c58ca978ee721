import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The metadata that many clients of one issuer request at the same time.
@Suite("Discovery for many clients", .timeLimit(.minutes(1))) struct MetadataCacheTests {
  let cache = MetadataCache()
  /// Holds every request, even a cancelled one.
  let server = Gate(isOpen: false)
  let wasCancelled = OneShot<Bool>()
  let http = ScriptedTransport()
  let clock = ManualClock()

  init() {
    http.answer { [server, wasCancelled] _ in
      await withTaskCancellationHandler {
        await server.pass()
      } onCancel: {
        wasCancelled.resolve(true)
      }
      return try await Self.document(WebRequest(url: URL(filePath: "/")))
    }
  }

  static let document = ScriptedTransport.json(
    #"{"issuer":"https://id.example","token_endpoint":"https://id.example/token"}"#)

  /// Starts a caller, and returns once the caller waits for the metadata.
  func caller(
    isFresh: Bool = false, for askers: MetadataCache.Askers = .strangers
  ) -> Task<ProviderMetadata, any Error> {
    begin { [cache, http, clock] in
      try await cache.metadata(
        by: Discovery(issuer: "https://id.example", timeout: .seconds(600), clock: clock), http,
        isFresh: isFresh, for: askers)
    }
  }

  @Test
  func `metadata is requested once for all callers, and again if it must be fresh or has expired`()
    async throws
  {
    let callers = (0..<20).map { caller(isFresh: $0 % 2 == 0) }
    try await server.isHolding()
    server.open()
    for caller in callers {
      #expect(try await caller.value.tokenEndpoint.absoluteString == "https://id.example/token")
    }
    #expect(http.requests.count == 1)
    _ = try await caller().value
    #expect(http.requests.count == 1)
    _ = try await caller(isFresh: true).value
    #expect(http.requests.count == 2)
    cache.expire("https://id.example")
    _ = try await caller().value
    #expect(http.requests.count == 3)
  }

  @Test func `all waiting callers get the failure, and the next caller sends a new request`()
    async throws
  {
    http.answer { [server] _ in
      await server.pass()
      throw SQOAuthError(.connectionFailed, "x")
    }
    let callers = (0..<5).map { _ in caller() }
    try await server.isHolding()
    server.open()
    for caller in callers { await failure(.connectionFailed) { try await caller.value } }
    #expect(http.requests.count == 1)
    http.answer(Self.document)
    clock.advance(by: 1)
    #expect(try await caller().value.issuer == "https://id.example")
  }

  @Test func `a user may try again at once, unless the issuer asks to wait`() async throws {
    http.answer { _ in throw SQOAuthError(.connectionFailed, "x") }
    for (asker, count) in [(MetadataCache.Askers.app, 1), (.app, 2), (.strangers, 2)] {
      await failure(.connectionFailed) { try await caller(for: asker).value }
      #expect(http.requests.count == count)
    }
    let requests = http.requests.count
    http.answer { _ in
      WebResponse(status: 503, headers: ["Retry-After": "2"], body: Data())
    }
    clock.advance(by: 1)
    await failure(.temporarilyUnavailable) { try await caller(for: .app).value }
    let more = http.requests.count
    #expect(more > requests)
    await failure(.temporarilyUnavailable) { try await caller(for: .app).value }
    #expect(http.requests.count == more)
    http.answer(Self.document)
    clock.advance(by: 2)
    #expect(try await caller(for: .app).value.issuer == "https://id.example")
  }

  /// Requests of strangers to a service must not overload an issuer that already fails.
  @Test(arguments: [(nil, 1.0), (5.0, 5.0), (0.5, 1.0), (1e6, 300.0)])
  func `a failing issuer gets no request for one second or for its Retry-After time`(
    asked: Double?, rest: Double
  ) async throws {
    http.answer { _ in
      var headers: HeaderFields = ["Content-Type": "text/plain"]
      if let asked { headers["Retry-After"] = "\(Int(asked.rounded(.up)))" }
      return WebResponse(status: 503, headers: headers, body: Data())
    }
    await failure(.temporarilyUnavailable) { try await caller().value }
    let requests = http.requests.count
    for isFresh in [false, true, false] {
      await failure(.temporarilyUnavailable) { try await caller(isFresh: isFresh).value }
    }
    clock.advance(by: rest - 0.5)
    await failure(.temporarilyUnavailable) { try await caller().value }
    #expect(http.requests.count == requests)
    // A change of the date neither ends nor lengthens the pause after the failure.
    clock.moveDate(by: rest.truncatingRemainder(dividingBy: 2) == 0 ? -1000 : 1000)
    await failure(.temporarilyUnavailable) { try await caller().value }
    #expect(http.requests.count == requests)
    http.answer(Self.document)
    clock.advance(by: 0.5)
    #expect(try await caller().value.issuer == "https://id.example")
    #expect(http.requests.count == requests + 1)
  }

  /// A web application may let a stranger enter the issuer.
  @Test(arguments: [true, false])
  func `the cache keeps at most a thousand issuers`(isKnown: Bool) async throws {
    http.answer { request in
      guard isKnown else { throw SQOAuthError(.connectionFailed, "x") }
      let issuer = "https://\(request.url.host() ?? "")"
      return try await ScriptedTransport.json(
        #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)(request)
    }
    func ask(_ name: String) async throws {
      do throws(SQOAuthError) {
        _ = try await cache.metadata(
          by: Discovery(issuer: "https://\(name)", timeout: .seconds(600), clock: clock), http,
          isFresh: false, for: .strangers)
        #expect(isKnown)
      } catch {
        guard !isKnown, error.code == .connectionFailed else { throw error }
      }
    }
    for index in 0..<(3 * MetadataCache.limit) {
      try await ask("s\(index).example")
      // The service uses its own issuer all the time.
      if index % 100 == 0 { try await ask("own.example") }
    }
    #expect(cache.failureCount <= MetadataCache.limit)
    #expect(cache.knownCount <= MetadataCache.limit)
    #expect((isKnown ? cache.knownCount : cache.failureCount) > 0)
    let requests = http.requests.count
    try await ask("own.example")
    #expect(http.requests.count == requests)
  }

  @Test func `cancelled callers cause only one request to a failing issuer`() async throws {
    http.answer { [server] _ in
      await server.pass()
      throw SQOAuthError(.connectionFailed, "x")
    }
    for _ in 0..<1000 {
      let stranger = caller()
      stranger.cancel()
      await failure(.cancelled) { try await stranger.value }
    }
    server.open()
    for _ in 0..<3 { await failure(.connectionFailed) { try await caller().value } }
    #expect(http.requests.count == 1)
  }

  @Test func `a request that the transport cancels does not count as a failure of the issuer`()
    async throws
  {
    http.answer { _ in throw CancellationError() }
    await failure(.cancelled) { try await caller().value }
    http.answer(Self.document)
    #expect(try await caller().value.issuer == "https://id.example")
  }

  @Test func `cancelling one of two callers does not cancel their shared request`() async throws {
    let (first, second) = (caller(), caller())
    try await server.isHolding()
    first.cancel()
    await failure(.cancelled) { try await first.value }
    #expect(wasCancelled.current == nil)
    server.open()
    #expect(try await second.value.issuer == "https://id.example")
    #expect(http.requests.count == 1)
  }

  @Test func `a request continues after all its callers are cancelled, and is not repeated`()
    async throws
  {
    let callers = (0..<3).map { _ in caller() }
    try await server.isHolding()
    for caller in callers {
      caller.cancel()
      await failure(.cancelled) { try await caller.value }
    }
    #expect(wasCancelled.current == nil)
    server.open()
    #expect(try await caller().value.issuer == "https://id.example")
    #expect(http.requests.count == 1)
  }
}
