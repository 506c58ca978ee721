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

  /// Otherwise a silent issuer would stop each check of a token for the whole time limit.
  @Test(arguments: [false, true])
  func `while one caller waits for newer metadata, the others use what is known`(
    hasFailed: Bool
  ) async throws {
    #expect(try await path() == "one")
    clock.advance(by: 3600)
    if hasFailed {
      http.answer(Self.outage)
      #expect(try await path() == "one")
      // A token endpoint that does not answer either changes nothing in the pause.
      cache.expire("https://id.example")
      #expect(try await path() == "one")
      clock.advance(by: 60)
    }
    let count = http.requests.count
    let server = Gate(isOpen: false)
    http.answer { request in
      await server.pass()
      return try await Self.document("two")(request)
    }
    let asking = begin { try await path() }
    try await server.isHolding()
    for _ in 0..<3 { #expect(try await path() == "one") }
    #expect(http.requests.count == count + 1)
    server.open()
    #expect(try await asking.value == "two")
    #expect(try await path() == "two")
    #expect(http.requests.count == count + 1)
  }

  @Test func `metadata that was marked as expired is not used while the issuer is asked`()
    async throws
  {
    #expect(try await path() == "one")
    cache.expire("https://id.example")
    let server = Gate(isOpen: false)
    http.answer { request in
      await server.pass()
      return try await Self.document("two")(request)
    }
    let callers = (0..<2).map { _ in begin { try await path() } }
    try await server.isHolding()
    server.open()
    for caller in callers { #expect(try await caller.value == "two") }
    #expect(http.requests.count == 2)
  }

  /// Answers with a document that names the issuer's keys, and with `status`, or with the UserInfo
  /// endpoint and the algorithms, in its OpenID Connect document.
  private func answer(_ path: String, status: Int? = nil) {
    http.answer { request in
      let isFirst = request.url.path().contains("oauth-authorization-server")
      if !isFirst, let status { return WebResponse(status: status) }
      let members =
        isFirst
        ? #""jwks_uri":"https://id.example/keys""#
        : #""userinfo_endpoint":"https://id.example/user","id_token_signing_alg_values_supported":["ES256"]"#
      return try await ScriptedTransport.json(
        #"{"issuer":"https://id.example","token_endpoint":"https://id.example/\#(path)",\#(members)}"#
      )(request)
    }
  }

  private func metadata() async throws(SQOAuthError) -> ProviderMetadata {
    try await cache.metadata(
      by: Discovery(
        issuer: "https://id.example", timeout: .seconds(600), needs: .identity, clock: clock),
      http, isFresh: false)
  }

  @Test func `if the OpenID Connect metadata cannot be read, calls that need it throw the outage`()
    async throws
  {
    answer("one", status: 503)
    let metadata = try await metadata()
    #expect(metadata.tokenEndpoint.lastPathComponent == "one")
    #expect(try metadata.address(of: .keys) != nil)
    failure(.temporarilyUnavailable) { try metadata.address(of: .userInfo) }
    #expect(try metadata.address(of: .revocation) == nil)
    #expect(metadata.algorithmsOutage?.code == .temporarilyUnavailable)
    let count = http.requests.count
    clock.advance(by: 59)
    _ = try await self.metadata()
    #expect(http.requests.count == count)
    answer("one")
    clock.advance(by: 1)
    #expect(try await self.metadata().userInfoEndpoint?.lastPathComponent == "user")
  }

  @Test func `a missing OpenID Connect document is not an outage`() async throws {
    answer("one", status: 404)
    let metadata = try await metadata()
    #expect(try metadata.address(of: .userInfo) == nil && metadata.algorithmsOutage == nil)
    let count = http.requests.count
    clock.advance(by: 3599)
    _ = try await self.metadata()
    #expect(http.requests.count == count)
  }

  @Test func `what the OpenID Connect metadata said stays known while it cannot be read`()
    async throws
  {
    answer("one")
    #expect(try await metadata().userInfoEndpoint?.lastPathComponent == "user")
    answer("two", status: 500)
    clock.advance(by: 3600)
    let metadata = try await metadata()
    #expect(metadata.tokenEndpoint.lastPathComponent == "two", "the other document is used")
    #expect(metadata.userInfoEndpoint?.lastPathComponent == "user")
    #expect(metadata.idTokenAlgorithms == ["ES256"])
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
