import Basics
import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// What many clients of one issuer ask for at once.
@Suite("Discovery for many", .timeLimit(.minutes(1))) struct MetadataCacheTests {
  let cache = MetadataCache()
  /// A gate for every request, even a cancelled one.
  let server = Gate(isOpen: false)
  let wasCancelled = OneShot<Bool>()
  let http = ScriptedHTTPClient()

  init() {
    http.answer { [server, wasCancelled] _ in
      await withTaskCancellationHandler {
        await server.pass()
      } onCancel: {
        wasCancelled.resolve(true)
      }
      return try await Self.document(HTTPRequest(url: URL(filePath: "/")))
    }
  }

  static let document = ScriptedHTTPClient.json(
    #"{"issuer":"https://id.example","token_endpoint":"https://id.example/token"}"#)

  /// Starts a caller, and returns when it waits with all others.
  func caller(isFresh: Bool = false) -> Task<ProviderMetadata, any Error> {
    begin { [cache, http] in
      try await cache.metadata(
        by: Discovery(issuer: "https://id.example", timeout: .seconds(1)), http, isFresh: isFresh)
    }
  }

  @Test func `the issuer is asked once, and again only for what is fresh`() async throws {
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

  @Test func `a failure is everyone's, and the next one asks again`() async throws {
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
    #expect(try await caller().value.issuer == "https://id.example")
  }

  @Test func `whoever gives up leaves the others their answer`() async throws {
    let (first, second) = (caller(), caller())
    try await server.isHolding()
    first.cancel()
    await failure(.cancelled) { try await first.value }
    #expect(wasCancelled.current == nil)
    server.open()
    #expect(try await second.value.issuer == "https://id.example")
    #expect(http.requests.count == 1)
  }

  /// A late answer is not kept: it may be older than the next one.
  @Test func `the last one that gives up ends the request`() async throws {
    let callers = (0..<3).map { _ in caller() }
    try await server.isHolding()
    for caller in callers {
      #expect(wasCancelled.current == nil)
      caller.cancel()
      await failure(.cancelled) { try await caller.value }
    }
    try await eventually { [wasCancelled] in wasCancelled.current != nil }
    let next = caller()
    try await server.isHolding(2)
    server.open()
    #expect(try await next.value.issuer == "https://id.example")
    #expect(http.requests.count == 2)
  }
}
