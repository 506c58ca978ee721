import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The servers that may get a token if the client lists none.
@Suite("Resource servers", .timeLimit(.minutes(1))) struct ResourceServerTests {
  /// Returns a session whose API says that the next page is on another server.
  private func fixture(
    change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> SessionFixture {
    let fixture = try await SessionFixture(change: change).restored()
    fixture.api { _ in
      WebResponse(status: 200, body: Data(#"{"next":"https://evil.example/2"}"#.utf8))
    }
    return fixture
  }

  @Test func `a URL on another host, taken from the first response, does not get the token`()
    async throws
  {
    struct Page: Decodable { let next: String }
    let fixture = try await fixture()
    let first = try await fixture.module.send(.get("https://api.example/1"))
    let next = try JSONDecoder().decode(Page.self, from: first.body).next
    let error = await failure(.originNotAllowed) { try await fixture.module.send(.get(next)) }
    await failure(.originNotAllowed) { try await fixture.module.authenticate(.get(next)) }
    #expect(fixture.apiRequests.map { $0.url.host() } == ["api.example"])
    let line = #"module.allowTokens(at: "https://api.example:443", "https://evil.example:443")"#
    #expect(error?.message.hasSuffix("try \(line)") == true)
    #expect(error.map { !everyText(of: $0).contains("T1") } == true)
    #expect(try await fixture.module.send(.get("https://api.example/2")).status == 200)
  }

  @Test func `the allowTokens call that the error suggests allows two servers and no third one`()
    async throws
  {
    let fixture = try await fixture()
    _ = try await fixture.module.send(.get("https://api.example/"))
    try fixture.module.allowTokens(at: "https://api.example:443", "https://two.example:443")
    _ = try await fixture.module.send(.get("https://two.example/"))
    _ = try await fixture.module.send(.get("https://api.example/"))
    await failure(.originNotAllowed) {
      try await fixture.module.send(.get("https://evil.example/"))
    }
  }

  @Test func `if the app allows a server before the first request, no other server gets the token`()
    async throws
  {
    let fixture = try await fixture()
    try fixture.oauth.allowTokens(at: "https://api.example")
    await failure(.originNotAllowed) {
      try await fixture.module.send(.get("https://evil.example/"))
    }
    #expect(try await fixture.module.send(.get("https://api.example/")).status == 200)
  }

  @Test
  func `if concurrent first requests go to different servers, only one request gets the token`()
    async throws
  {
    let fixture = try await fixture()
    let isSent = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          (try? await fixture.module.send(.get("https://api\(number).example/"))) != nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(isSent.count { $0 } == 1 && fixture.apiRequests.count == 1)
  }

  @Test
  func `the provider's own servers get the token, as does the first request's server`()
    async throws
  {
    let fixture = try await fixture()
    for url in ["https://api.example/", "https://id.example/userinfo", "https://id.example/"] {
      #expect(try await fixture.module.send(.get(url)).status == 200)
    }
    await failure(.originNotAllowed) {
      try await fixture.module.send(.get("https://id.example:8443/"))
    }
  }

  /// The API of many providers is at the issuer's own host, and its answers contain URLs too.
  @Test(arguments: [false, true])
  func `after a first request to the provider's own API, no other server gets the token`(
    isSent: Bool
  ) async throws {
    let fixture = try await fixture()
    let api = try WebRequest.get("https://id.example/api/me")
    if isSent {
      _ = try await fixture.module.send(api)
    } else {
      _ = try await fixture.module.authenticate(api)
    }
    let next = try WebRequest.get("https://evil.example/2")
    let error = await failure(.originNotAllowed) { try await fixture.module.send(next) }
    await failure(.originNotAllowed) { try await fixture.module.authenticate(next) }
    // The advice does not name the provider's server, which needs no permission of the app.
    let line = #"module.allowTokens(at: "https://evil.example:443")"#
    #expect(error?.message.hasSuffix("try \(line)") == true)
    #expect(fixture.apiRequests.allSatisfy { $0.url.host() == "id.example" })
  }

  @Test
  func `creating pipes allows their servers, and a later request does not allow another server`()
    async throws
  {
    let fixture = try await fixture()
    let one = try Pipeline("https://one.example/v1", module: fixture.module).add("files")
    let two = try Pipeline("https://two.example/v1", module: fixture.module).add("files")
    await failure(.originNotAllowed) {
      try await fixture.module.send(.get("https://evil.example/"))
    }
    _ = try await one.read()
    _ = try await two.read()
    _ = try await fixture.module.send(.get("https://two.example/other"))
    #expect(fixture.apiRequests.count == 3)
  }

  @Test func `a pipe with its own account allows its server for that account only`() async throws {
    let (fixture, other) = (try await fixture(), try await fixture())
    var configuration = PipeConfiguration()
    configuration.module = other.module
    try Pipeline("https://one.example", module: fixture.module).add("files", configuration)
    await failure(.originNotAllowed) { try await other.module.send(.get("https://two.example/")) }
    #expect(try await fixture.module.send(.get("https://two.example/")).status == 200)
  }

  @Test func `resourceOrigins must list every server, also those of the pipes and of the provider`()
    async throws
  {
    let listed = try ResourceOrigin("https://listed.example")
    let fixture = try await fixture { $0.resourceOrigins = [listed] }
    try Pipeline("https://api.example", module: fixture.module).add("files")
    for url in ["https://api.example/", "https://id.example/", "https://evil.example/"] {
      let error = await failure(.originNotAllowed) { try await fixture.module.send(.get(url)) }
      #expect(error?.message.contains("configuration.resourceOrigins.insert(") == true)
    }
    try fixture.module.allowTokens(at: "https://api.example")
    for url in ["https://listed.example/", "https://api.example/"] {
      #expect(try await fixture.module.send(.get(url)).status == 200)
    }
  }

  @Test(arguments: [
    ("http://two.example", SQOAuthError.Code.insecureEndpoint),
    ("ftp://two.example", .malformedRequest),
    ("", .malformedRequest),
  ])
  func `if one server in an allowTokens call is invalid, no server in the call is allowed`(
    server: String, code: SQOAuthError.Code
  ) async throws {
    let fixture = try await fixture()
    failure(code) { try fixture.module.allowTokens(at: "https://api.example", server) }
    failure(code) { try fixture.oauth.allowTokens(at: "https://api.example", server) }
    #expect(try await fixture.module.send(.get("https://other.example/")).status == 200)
    await failure(.originNotAllowed) { try await fixture.module.send(.get("https://api.example/")) }
  }

  @Test
  func `the first request's server stays the only one allowed until a new provider is registered`()
    async throws
  {
    let fixture = try await fixture()
    _ = try await fixture.module.send(.get("https://api.example/"))
    try fixture.fixture.register(scope: "wider")
    await failure(.originNotAllowed) { try await fixture.module.send(.get("https://two.example/")) }
    try fixture.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token",
        issuer: "https://id.example"))
    #expect(try await fixture.module.send(.get("https://two.example/")).status == 200)
    await failure(.originNotAllowed) { try await fixture.module.send(.get("https://api.example/")) }
  }

  @Test(
    "a preset provider's own APIs get the token, and similar hosts do not",
    arguments: [
      (Provider.google, "https://www.googleapis.com/drive/v2", true),
      (.google, "https://gmail.googleapis.com/", true),
      (.google, "https://accounts.google.com/", true),
      (.google, "https://googleapis.com.evil.example/", false),
      (.google, "https://evilgoogleapis.com/", false),
      (.google, "https://www.googleapis.com:8443/", false),
      (.google, "https://googleapis.com/", false), (.google, "https://drive.google.com/", false),
      (.issuer("https://accounts.google.com"), "https://people.googleapis.com/", true),
      (.issuer("https://accounts.google.com"), "https://evil.example/", false),
      (.facebook, "https://graph.facebook.com/me", true),
      (.facebook, "https://graph-video.facebook.com/me/videos", true),
      (.facebook, "https://m.facebook.com/", false),
      (.facebook, "https://a.graph.facebook.com/", false),
      (.sequencing, "https://api.sequencing.com/DataSourceList", true),
      (.sequencing, "https://sequencing.com/", true),
      (.sequencing, "https://beta.sequencing.com/", false),
      (.keycloak(baseURL: "https://kc.example", realm: "r"), "https://kc.example/userinfo", true),
      (.issuer("https://kc.example"), "https://kc.example/userinfo", true),
    ])
  func known(provider: Provider, url: String, isAllowed: Bool) async throws {
    let client = try ClientConfiguration(clientID: "client", provider: provider)
    var environment = ClientEnvironment()
    let store = MemoryTokenStore()
    await store.save(
      AccountRecord(id: "default", clientID: "client", token: SQToken(accessToken: "T")))
    environment.tokenStore = store
    let module = AuthorizationModule(configuration: client, environment: environment)
    guard isAllowed else {
      await failure(.originNotAllowed) { try await module.authenticate(.get(url)) }
      return
    }
    let request = try await module.authenticate(.get(url))
    #expect(request.headers["Authorization"] == "Bearer T")
  }
}
