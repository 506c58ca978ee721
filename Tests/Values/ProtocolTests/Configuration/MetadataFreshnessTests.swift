import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How long an issuer's metadata is used, and how it is refreshed.
@Suite("Freshness of metadata", .timeLimit(.minutes(1))) struct MetadataFreshnessTests {
  private let cache = MetadataCache()
  private let clock = ManualClock()
  private let http = ScriptedTransport(document("one"))

  /// Returns a document whose token endpoint has the given path.
  private static func document(
    _ path: String, _ headers: HeaderFields = [:]
  ) -> ScriptedTransport.Answer {
    let body = """
      {"issuer":"https://id.example","token_endpoint":"https://id.example/\(path)"}
      """
    var headers = headers
    headers["Content-Type"] = "application/json"
    return { [headers] _ in
      WebResponse(status: 200, headers: headers, body: Data(body.utf8))
    }
  }

  private static let outage: ScriptedTransport.Answer = { _ in
    throw SQOAuthError(.connectionFailed, "x")
  }

  /// Returns the path of the token endpoint that a client would use now.
  private func path(isFresh: Bool = false) async throws(SQOAuthError) -> String {
    let discovery = Discovery(issuer: "https://id.example", timeout: .seconds(600), clock: clock)
    return try await cache.metadata(by: discovery, http, isFresh: isFresh)
      .tokenEndpoint.lastPathComponent
  }

  @Test(arguments: [(nil, 3600), ("max-age=600", 600), ("no-store", 300)])
  func `metadata is fetched again after its max-age or a default lifetime`(
    cacheControl: String?, lifetime: Double
  ) async throws {
    let headers: HeaderFields = cacheControl.map { ["Cache-Control": $0] } ?? [:]
    http.answer(Self.document("one", headers))
    #expect(try await path() == "one")
    http.answer(Self.document("two", headers))
    clock.advance(by: lifetime - 1)
    #expect(try await path() == "one")
    clock.advance(by: 1)
    #expect(try await path() == "two")
    for seconds in [-7200.0, 86_400] {
      clock.moveDate(by: seconds)
      _ = try await path()
    }
    #expect(http.requests.count == 2, "a change of the date causes no request")
  }

  @Test func `metadata that was marked as expired is fetched again by the next call`() async throws
  {
    #expect(try await path() == "one")
    http.answer(Self.document("two"))
    cache.expire("https://id.example")
    #expect(try await path() == "two")
  }

  @Test(arguments: [true, false])
  func `the known endpoints stay in use while no new document can be fetched`(
    isOutage: Bool
  ) async throws {
    #expect(try await path() == "one")
    http.answer(isOutage ? Self.outage : ScriptedTransport.json("{"))
    clock.advance(by: 3600)
    #expect(try await path() == "one")
    let count = http.requests.count
    clock.advance(by: 59)
    #expect(try await path() == "one")
    #expect(http.requests.count == count, "the issuer is left alone for a minute")
    http.answer(Self.document("two"))
    clock.advance(by: 1)
    #expect(try await path() == "two")
  }

  @Test func `a caller that demands fresh metadata gets the error of a failed request`()
    async throws
  {
    #expect(try await path() == "one")
    http.answer(Self.outage)
    await failure(.connectionFailed) { try await path(isFresh: true) }
    #expect(try await path() == "one")
  }
}
