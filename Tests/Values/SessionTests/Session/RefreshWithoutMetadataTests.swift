import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Refreshes in a new process while the server's metadata cannot be fetched.
@Suite(.timeLimit(.minutes(1))) struct RefreshWithoutMetadataTests {
  private static let issuer = "https://id.example"
  private static let endpoint = "https://token.example/t"

  private static func document(token: String) -> String {
    """
    {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/a","token_endpoint":"\(token)"}
    """
  }

  /// Returns a process whose store has a record of an earlier process.
  private func process(
    status: Int = 503, recorded: String? = endpoint, issuer: String? = issuer,
    _ configuration: ClientConfiguration? = nil
  ) async throws -> OAuthFixture {
    let fixture = OAuthFixture { request in
      guard request.method == "POST" else { return WebResponse(status: status) }
      return try await ScriptedTransport.token("T2", members: #""refresh_token":"R2""#)(request)
    }
    fixture.oauth.register(try configuration ?? Self.client(secret: "s", by: .post))
    fixture.oauth.refreshesAutomatically = false
    await fixture.store.save(
      AccountRecord(
        id: "default", clientID: "client", issuer: issuer, tokenEndpoint: recorded,
        token: SQToken(accessToken: "T1", refreshToken: "R1")))
    return fixture
  }

  private func posted(_ fixture: OAuthFixture) -> [String] {
    fixture.http.requests.filter { $0.method == "POST" }.map(\.url.absoluteString)
  }

  @Test(arguments: [500, 503, 429])
  func `if the metadata is unavailable, the refresh goes to the stored token endpoint`(status: Int)
    async throws
  {
    let fixture = try await process(status: status)
    #expect(try await fixture.oauth.module.refresh().accessToken == "T2")
    #expect(posted(fixture) == [Self.endpoint])
    let record = await fixture.store.load("default")
    #expect(record?.token.refreshToken == "R2" && record?.tokenEndpoint == Self.endpoint)
  }

  @Test func `if the metadata request cannot connect, the refresh still succeeds`() async throws {
    let fixture = try await process()
    fixture.http.answer { request in
      guard request.method == "POST" else { throw URLError(.cannotConnectToHost) }
      return try await ScriptedTransport.token("T2")(request)
    }
    #expect(try await fixture.oauth.module.refresh().accessToken == "T2")
  }

  private static func client(
    secret: String? = nil, key: ClientKey? = nil, by method: ClientAuthentication? = nil,
    at provider: Provider = .issuer(issuer)
  ) throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: "client", clientSecret: secret, clientKey: key, redirectURI: "com.example.app:/cb",
      provider: provider, clientAuthentication: method)
  }

  /// Returns clients whose authentication the metadata does not decide.
  private static func independent() throws -> [ClientConfiguration] {
    var provider = Provider.issuer(issuer)
    provider.clientAuthentication = .post
    return [
      try client(secret: "s", by: .basic), try client(), try client(secret: "s", at: provider),
      try client(key: ClientKey(generating: .es256)),
    ]
  }

  @Test func `without metadata, a client refreshes if its authentication method is already known`()
    async throws
  {
    for configuration in try Self.independent() {
      let fixture = try await process(configuration)
      #expect(try await fixture.oauth.module.refresh().accessToken == "T2")
    }
  }

  @Test func `without metadata, a client whose authentication method is unknown sends no refresh`()
    async throws
  {
    let fixture = try await process(Self.client(secret: "s"))
    await failure(.temporarilyUnavailable) { try await fixture.oauth.module.refresh() }
    #expect(posted(fixture).isEmpty)
    #expect(await fixture.store.load("default")?.token.refreshToken == "R1")
  }

  /// Records whose token endpoint is missing, invalid, or of an unknown or another issuer.
  private static let foreign: [(endpoint: String?, issuer: String?)] = [
    (nil, issuer), ("http://token.example/t", issuer), ("nonsense", issuer), (endpoint, nil),
    (endpoint, "https://other.example"),
  ]

  @Test(arguments: foreign.indices)
  func `without metadata, an endpoint that is not known to be the issuer's gets no request`(
    index: Int
  ) async throws {
    let row = Self.foreign[index]
    let fixture = try await process(recorded: row.endpoint, issuer: row.issuer)
    await failure { try await fixture.oauth.module.refresh() }
    #expect(posted(fixture).isEmpty)
  }

  @Test(arguments: ["https://127.0.0.1:9/t", "https://[::1]/t", "https://localhost/t"])
  func `a stored endpoint on this computer is used only by a client that accepts it`(
    endpoint: String
  ) async throws {
    var configuration = try Self.client(secret: "s", by: .post)
    let fixture = try await process(recorded: endpoint, configuration)
    #expect(try await fixture.oauth.module.refresh().accessToken == "T2")
    configuration.acceptsServersOnThisComputer = false
    let strict = try await process(recorded: endpoint, configuration)
    await failure(.temporarilyUnavailable) { try await strict.oauth.module.refresh() }
    #expect(posted(strict).isEmpty)
  }

  @Test(arguments: [404, 302, 200])
  func `if the metadata response is a 404, a redirect or invalid, no refresh is sent`(status: Int)
    async throws
  {
    let fixture = try await process(status: status)
    await failure { try await fixture.oauth.module.refresh() }
    #expect(posted(fixture).isEmpty)
  }

  @Test func `if metadata is available, its token endpoint is used and stored`() async throws {
    let fixture = try await process()
    let moved = "https://id.example/moved"
    fixture.http.answer { request in
      guard request.method == "POST" else {
        return try await ScriptedTransport.json(Self.document(token: moved))(request)
      }
      return try await ScriptedTransport.token("T2")(request)
    }
    #expect(try await fixture.oauth.module.refresh().accessToken == "T2")
    #expect(posted(fixture) == [moved])
    #expect(await fixture.store.load("default")?.tokenEndpoint == moved)
  }

  @Test func `without metadata, a revocation is not sent to the stored token endpoint`()
    async throws
  {
    let fixture = try await process()
    await failure { try await fixture.oauth.module.revoke() }
    #expect(posted(fixture).isEmpty)
  }
}
