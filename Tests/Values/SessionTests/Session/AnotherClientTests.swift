import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A module that gets another configuration.
@Suite(.timeLimit(.minutes(1))) struct AnotherClientTests {
  static func client(
    _ id: String = "client", secret: String? = "s", server: String = "https://id.example"
  ) throws -> ClientConfiguration {
    try ClientConfiguration(
      clientID: id, clientSecret: secret, redirectURI: "com.example.app:/cb", scope: "demo",
      provider: .endpoints(authorization: "\(server)/authorize", token: "\(server)/token"))
  }

  @Test
  func `after a new registration, the token stays and the next refresh uses the new configuration`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    #expect(fixture.module.configuration?.clientSecret == "s")
    fixture.module.register(try Self.client(secret: "rotated"))
    #expect(fixture.module.configuration?.clientSecret == "rotated" && fixture.memory == "T1 R1")
    _ = try await fixture.module.refresh()
    let header = fixture.fixture.http.requests.last?.headers["Authorization"]
    #expect(header == "Basic " + Data("client:rotated".utf8).base64EncodedString())
  }

  @Test func `a rejection of the old configuration does not delay a refresh with a new one`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.server.next(ScriptedTransport.json(#"{"error":"invalid_client"}"#, status: 401))
    await failure(.invalidClient) { try await fixture.module.refresh() }
    await failure(.invalidClient) { try await fixture.module.refresh() }
    #expect(fixture.refreshes == ["R1"], "the second call repeats the failure without a request")
    fixture.module.register(try Self.client(secret: "right"))
    #expect(try await fixture.module.refresh().accessToken == "T2")
    #expect(fixture.refreshes == ["R1", "R1"])
  }

  @Test func `a delay that the server asked for still applies after the client's secret changes`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.server.next({ _ in
      WebResponse(status: 429, headers: ["Retry-After": "60"])
    })
    let error = await failure { try await fixture.module.refresh() }
    #expect(error?.retryAfter == .seconds(60))
    fixture.module.register(try Self.client(secret: "other"))
    await failure(error?.code) { try await fixture.module.refresh() }
    #expect(fixture.refreshes == ["R1"])
  }

  @Test(arguments: [
    ("other", "https://id.example"), ("client", "https://other.example"),
  ])
  func `after another client or server is registered, the old token is not sent`(
    id: String, server: String
  ) async throws {
    let fixture = try SessionFixture()
    try await fixture.module.adopt(fixture.server.issue(at: fixture.clock.now))
    fixture.module.register(try Self.client(id, server: server))
    await failure(.invalidConfiguration) { try await fixture.module.refresh() }
    await failure(.invalidConfiguration) { try await fixture.module.revoke() }
    await failure(.invalidConfiguration) {
      try await fixture.module.exchangeToken(TokenExchange())
    }
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    #expect(try await fixture.module.signIn().accessToken == "T2")
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T3")
  }

  @Test
  func `after a new registration, a manager returns the account only for the new configuration`()
    async throws
  {
    let manager = AccountManager(store: MemoryTokenStore())
    let first = try Self.client()
    let module = try await manager.account(first, id: "a")
    let second = try Self.client(secret: "rotated")
    await failure(.duplicateName) { try await manager.account(second, id: "a") }
    module.register(second)
    #expect(try await manager.account(second, id: "a") === module)
    await failure(.duplicateName) { try await manager.account(first, id: "a") }
  }

  /// If the client of an operation came from a later registration than the one that was compared
  /// with the record, the refresh token would go to another server.
  @Test func `a registration after an operation has begun does not change the operation's client`()
    async throws
  {
    let clients = [try Self.client(), try Self.client("other", server: "https://other.example")]
    let context = ClientContext(.success(clients[0]), ClientEnvironment())
    let begun = context.settings
    context.configuration = .success(clients[1])
    let client = try await context.client(of: Self.record, by: begun)
    #expect(client.configuration == clients[0])
    #expect(client.metadata.tokenEndpoint.host() == "id.example")
    await failure(.invalidConfiguration) { try await context.client(of: Self.record) }
  }

  @Test func `a registration during a search for the endpoints does not change the client either`()
    async throws
  {
    let issuer = "https://searched.example"
    let metadata = ScriptedTransport.json(
      #"{"issuer":"\#(issuer)","authorization_endpoint":"\#(issuer)/authorize","#
        + #""token_endpoint":"\#(issuer)/token","response_types_supported":["code"]}"#)
    let http = ScriptedTransport(metadata)
    var environment = ClientEnvironment()
    environment.transport = http
    let searching = try ClientConfiguration(
      clientID: "client", redirectURI: "com.example.app:/cb", provider: .issuer(issuer))
    let context = ClientContext(.success(searching), environment)
    let other = try Self.client("other", server: "https://other.example")
    http.answer { request in
      context.configuration = .success(other)
      return try await metadata(request)
    }
    let client = try await context.client(of: Self.record)
    #expect(!http.requests.isEmpty && client.configuration == searching)
    #expect(client.metadata.tokenEndpoint.host() == "searched.example")
  }

  private static let record = AccountRecord(
    id: "a", clientID: "client", token: SQToken(accessToken: "T1", refreshToken: "R1"))
}
