import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The well-known addresses that get requests, and the error if none has the document.
@Suite(.timeLimit(.minutes(1))) struct DiscoverySearchTests {
  static let issuer = DiscoverySignInTests.issuer
  /// The addresses in the order of the requests.
  static let addresses = [0, 2, 1].map { DiscoverySignInTests.addresses[$0] }

  static func document(issuer: String = issuer) -> String {
    DiscoverySignInTests.document(issuer: issuer)
  }

  func fixture(_ answer: @escaping ScriptedTransport.Answer) throws -> OAuthFixture {
    try OAuthFixture(answer: answer, browser: DelegateOutcomeTests.answers("code=abc"))
      .register(provider: .issuer(Self.issuer))
  }

  /// Responses without valid metadata of this issuer.
  static let nonsense: [WebResponse] = [
    page("<!doctype html>", type: "text/html"), page(""), page("[]"), page("{"), page("{}"),
    page(#"{"error":"not found"}"#), page(#"{"issuer":"\#(issuer)"}"#),
    page(#"{"issuer":"\#(issuer)","token_endpoint":"/token"}"#),
    page(document(), type: "text/plain"),
    page(String(repeating: " ", count: 1 << 20) + document()),
  ]

  static func page(
    _ body: String, status: Int = 200, type: String = "application/json"
  ) -> WebResponse {
    WebResponse(status: status, headers: ["Content-Type": type], body: Data(body.utf8))
  }

  @Test(arguments: nonsense.indices)
  func `if the first well-known URL has no valid metadata, the next URL is used`(
    index: Int
  ) async throws {
    let server = DiscoverySignInTests.server(at: Self.addresses[1])
    let fixture = try fixture { request in
      request.url.absoluteString == Self.addresses[0]
        ? Self.nonsense[index] : try await server(request)
    }
    _ = try await fixture.oauth.signIn()
    let urls = fixture.http.requests.map(\.url.absoluteString)
    #expect(urls == Self.addresses.prefix(2) + ["https://id.example/token"])
  }

  typealias Choice = (answers: [WebResponse], code: SQOAuthError.Code, status: Int?)

  static let choices: [Choice] = [
    // A failing server may have the document at another time.
    ([page("", status: 404), page("", status: 500), page("{")], .serverError, 500),
    ([page("", status: 302), page("", status: 503)], .temporarilyUnavailable, 503),
    ([page("", status: 429), page("", status: 404)], .temporarilyUnavailable, 429),
    ([page("", status: 500), page("", status: 502)], .serverError, 500),
    // The error about an unusable document says what to repair.
    ([page("", status: 302), page(#"{"issuer":"\#(issuer)"}"#)], .invalidResponse, nil),
    // A redirect is a better clue than a missing or a wrong page.
    ([page("", status: 404), page("", status: 302)], .redirectRefused, 302),
    ([page("<html>", type: "text/html"), page("", status: 308)], .redirectRefused, 308),
    ([page("", status: 403), page("", status: 404)], .invalidResponse, 403),
    // A page is a better clue than nothing, and the document with a wrong type is the best one.
    ([page("", status: 404), page("<html>", type: "text/html")], .invalidResponse, 200),
    (
      [page("", status: 302), page(document(), type: "application/octet-stream"), page("{")],
      .invalidResponse, 200
    ),
    ([page("{"), page(document(), type: "text/plain")], .invalidResponse, 200),
    // Two different issuers are a question of trust, and end the search.
    (
      [page("", status: 500), page(document(issuer: "https://evil.example"))],
      .issuerMismatch, nil
    ),
    (
      [page("", status: 302), page(document(issuer: issuer + "/")), page(document())],
      .issuerMismatch, nil
    ),
  ]

  @Test(arguments: choices.indices)
  func `if no well-known URL has valid metadata, the most useful error is reported`(
    index: Int
  ) async throws {
    let row = Self.choices[index]
    let fixture = try fixture { request in
      let place = Self.addresses.firstIndex(of: request.url.absoluteString)
      return place.flatMap { row.answers.dropFirst($0).first } ?? WebResponse(status: 404)
    }
    let error = await failure(row.code) { try await fixture.oauth.signIn() }
    #expect(error?.status == row.status)
    #expect(fixture.opened.isEmpty)
    #expect(fixture.http.requests.allSatisfy { Self.addresses.contains($0.url.absoluteString) })
  }

  @Test(arguments: ["openid email", "email", nil])
  func `with the openid scope, the OpenID Connect metadata adds a missing jwks_uri`(
    scope: String?
  ) async throws {
    let revocation = #","revocation_endpoint":"https://id.example/"#
    let short = DiscoverySignInTests.document(revocation + #"first""#)
    let keys = revocation + #"r","jwks_uri":"https://id.example/keys""#
    let fixture = try OAuthFixture(
      answer: { request in
        let place = Self.addresses.firstIndex(of: request.url.absoluteString)
        let document = [short, nil, DiscoverySignInTests.document(keys)]
        return place.flatMap { document[$0] }.map { Self.page($0) } ?? WebResponse(status: 404)
      }
    ).register(scope: scope, provider: .issuer(Self.issuer))
    let metadata = try await fixture.oauth.module.providerMetadata()
    let isComplete = scope?.hasPrefix("openid") == true
    #expect(metadata.jwksURI?.absoluteString == (isComplete ? "https://id.example/keys" : nil))
    #expect(metadata.revocationEndpoint?.absoluteString == "https://id.example/first")
    let urls = fixture.http.requests.map(\.url.absoluteString)
    #expect(urls == (isComplete ? Self.addresses : [Self.addresses[0]]))
  }

  /// Returns the members of OpenID Connect in a document of the issuer.
  private static func openIDMembers(_ name: String) -> String {
    """
    ,"jwks_uri":"https://id.example/\(name)-keys",
    "userinfo_endpoint":"https://id.example/\(name)-user",
    "id_token_signing_alg_values_supported":["ES256"]
    """
  }

  typealias Lacking = (own: String, hasSecond: Bool, user: String?, algorithms: [String]?)

  /// Members of a first document with keys, and what is known from both documents.
  static let lacking: [Lacking] = [
    ("", true, "second-user", ["ES256"]), ("", false, nil, nil),
    (#","userinfo_endpoint":"""#, true, "second-user", ["ES256"]),
    (#","id_token_signing_alg_values_supported":["PS256"]"#, true, "second-user", ["PS256"]),
  ]

  /// Okta's document of RFC 8414, for example, names the keys, and no UserInfo endpoint.
  @Test(arguments: lacking.indices)
  func `what identifies a user is read from the OpenID Connect metadata if the first one lacks it`(
    index: Int
  ) async throws {
    let row = Self.lacking[index]
    let documents = [
      DiscoverySignInTests.document(#","jwks_uri":"https://id.example/first-keys""# + row.own), nil,
      row.hasSecond ? DiscoverySignInTests.document(Self.openIDMembers("second")) : nil,
    ]
    let fixture = try OAuthFixture(
      answer: { request in
        let place = Self.addresses.firstIndex(of: request.url.absoluteString)
        return place.flatMap { documents[$0] }.map { Self.page($0) } ?? WebResponse(status: 404)
      }
    ).register(scope: "openid", provider: .issuer(Self.issuer))
    for _ in 0..<2 {
      let metadata = try await fixture.oauth.module.providerMetadata()
      #expect(metadata.jwksURI?.lastPathComponent == "first-keys")
      #expect(metadata.userInfoEndpoint?.lastPathComponent == row.user)
      #expect(metadata.idTokenAlgorithms == row.algorithms)
    }
    // That there is no second document is remembered too.
    #expect(fixture.http.requests.map(\.url.absoluteString) == Self.addresses)
  }

  @Test func `an issuer whose first document has all of OpenID Connect gets one request`()
    async throws
  {
    let document = DiscoverySignInTests.document(Self.openIDMembers("first"))
    let fixture = try OAuthFixture(answer: { _ in Self.page(document) })
      .register(scope: "openid", provider: .issuer(Self.issuer))
    let metadata = try await fixture.oauth.module.providerMetadata()
    #expect(metadata.userInfoEndpoint?.lastPathComponent == "first-user")
    #expect(fixture.http.requests.count == 1)
  }

  /// Returns a fixture whose issuer names its keys only in the last of its documents.
  private func splitDocuments(
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws -> OAuthFixture {
    let whole = DiscoverySignInTests.document(#","jwks_uri":"https://id.example/keys""#)
    return try OAuthFixture(
      answer: { request in
        if request.method == "POST" { return try await ScriptedTransport.token()(request) }
        let place = Self.addresses.firstIndex(of: request.url.absoluteString)
        let document = [Self.document(), nil, whole]
        return place.flatMap { document[$0] }.map { Self.page($0) } ?? WebResponse(status: 404)
      }, browser: DelegateOutcomeTests.answers("code=abc")
    ).register(scope: nil, provider: .issuer(Self.issuer), change: change)
  }

  /// A call whose own scope has `openid`, while that of the configuration has not.
  enum Identifying: CaseIterable {
    case signIn, deviceCode, password, extensionGrant

    func run(_ oauth: SQOAuth) async throws {
      var options = SignInOptions()
      options.scope = "openid email"
      switch self {
      case .signIn: try await oauth.signIn(with: options)
      case .deviceCode: try await oauth.signInWithDeviceCode(with: options) { _ in }
      case .password:
        try await oauth.requestAccessToken(username: "a", password: "b", scope: options.scope)
      case .extensionGrant:
        try await oauth.requestAccessToken(grantType: "urn:example:grant", scope: options.scope)
      }
    }
  }

  @Test(arguments: Identifying.allCases)
  func `a call that asks for openid itself reads the keys, even if metadata without keys is known`(
    call: Identifying
  ) async throws {
    let fixture = try splitDocuments { $0.allowsPasswordGrant = true }
    let known = try await fixture.oauth.module.providerMetadata()
    #expect(known.jwksURI == nil && fixture.http.requests.count == 1)
    // There is no device authorization endpoint, and the metadata is read before that is known.
    _ = try? await call.run(fixture.oauth)
    let urls = fixture.http.requests.dropFirst().map(\.url.absoluteString)
    #expect(Array(urls.prefix(3)) == Self.addresses)
    let client = try await fixture.oauth.module.context.client(needs: .identity)
    #expect(client.metadata.jwksURI?.absoluteString == "https://id.example/keys")
    let read = fixture.http.requests.filter { Self.addresses.contains($0.url.absoluteString) }
    #expect(read.count == 4, "the complete metadata is in memory now")
  }

  @Test func `a client that asks for signed responses reads the keys without the openid scope`()
    async throws
  {
    let fixture = try splitDocuments { $0.authorizationResponseAlgorithm = .es256 }
    let metadata = try await fixture.oauth.module.providerMetadata()
    #expect(metadata.jwksURI?.absoluteString == "https://id.example/keys")
  }

  @Test func `a jwks_uri in OpenID Connect metadata of another issuer is ignored`() async throws {
    let foreign = DiscoverySignInTests.document(
      #","jwks_uri":"https://id.example/keys""#, issuer: "https://evil.example")
    let fixture = try OAuthFixture(
      answer: { request in
        request.url.absoluteString == Self.addresses[0]
          ? Self.page(Self.document()) : Self.page(foreign)
      }
    ).register(scope: "openid", provider: .issuer(Self.issuer))
    #expect(try await fixture.oauth.module.providerMetadata().jwksURI == nil)
    let urls = fixture.http.requests.map(\.url.absoluteString)
    #expect(urls.prefix(2) == Self.addresses.prefix(2))
  }

  @Test func `the error of metadata with a wrong content type names the type and the URL`()
    async throws
  {
    let fixture = try fixture { request in
      request.url.absoluteString == Self.addresses[1]
        ? Self.page(Self.document(), type: "application/octet-stream") : WebResponse(status: 404)
    }
    let error = await failure(.invalidResponse) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains(#""application/octet-stream""#) == true)
    #expect(error?.message.contains(Self.addresses[1]) == true)
  }

  @Test func `the error of a redirected metadata request names the target`() async throws {
    let fixture = try fixture { _ in
      WebResponse(status: 301, headers: ["Location": "https://new.example/.well-known/x?C4N4RY"])
    }
    let error = await failure(.redirectRefused) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("https://new.example/.well-known/x,") == true)
    #expect(error?.message.contains("C4N4RY") == false)
  }

  @Test func `the error of a busy server contains the delay of its Retry-After field`() async throws
  {
    let fixture = try fixture { _ in WebResponse(status: 503, headers: ["Retry-After": "7"]) }
    let error = await failure(.temporarilyUnavailable) { try await fixture.oauth.signIn() }
    #expect(error?.retryAfter == .seconds(7))
  }

  /// An outage affects all addresses, and one request may use up the time limit that they share.
  @Test(arguments: [SQOAuthError.Code.connectionFailed, .requestTimedOut, .tlsFailed])
  func `an unreachable server gets only one metadata request`(code: SQOAuthError.Code) async throws
  {
    let fixture = try fixture { _ in throw SQOAuthError(code, "no") }
    await failure(code) { try await fixture.oauth.signIn() }
    #expect(fixture.http.requests.count == 1)
  }

  @Test func `metadata with an unencrypted token endpoint ends the discovery with an error`()
    async throws
  {
    let server = DiscoverySignInTests.server(at: Self.addresses[1])
    let fixture = try fixture { request in
      request.url.absoluteString == Self.addresses[0]
        ? Self.page(
          Self.document().replacingOccurrences(
            of: "https://id.example/token", with: "http://id.example/token"))
        : try await server(request)
    }
    await failure(.insecureEndpoint) { try await fixture.oauth.signIn() }
    #expect(fixture.http.requests.count == 1)
  }
}
