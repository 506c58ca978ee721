import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Which refresh token and which fields are in use after a refresh.
@Suite("Rotation of refresh tokens", .timeLimit(.minutes(1))) struct RotationTests {
  @Test(arguments: ["", "null", #""""#])
  func `a response without a refresh token, or with an empty one, keeps the old one`(
    member: String
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.change { $0.refreshToken = member }
    #expect(try await fixture.module.refresh().refreshToken == "R1")
    #expect(fixture.memory == "T2 R1" && fixture.oauth.result.token?.refreshToken == "R1")
    #expect(await fixture.store.content() == "T2 R1")
    #expect(await fixture.observer.words(1) == ["refreshed T2"])
    guard case .refreshed(let told) = fixture.observer.events.first else { return }
    #expect(told == fixture.module.currentToken, "the event has the effective refresh token")
    try await fixture.module.refresh()
    #expect(fixture.refreshes == ["R1", "R1"])
    #expect(await fixture.store.content() == "T3 R1")
  }

  @Test func `a new refresh token replaces the old one, also after a restart`() async throws {
    let fixture = try await SessionFixture().restored()
    for _ in 0..<20 {
      fixture.clock.advance(by: 3600)
      _ = try await fixture.module.token()
    }
    #expect(fixture.refreshes == (1...20).map { "R\($0)" })
    #expect(await fixture.store.content() == "T21 R21")
    let restarted = AuthorizationModule(
      configuration: try fixture.configuration, environment: fixture.oauth.environment)
    fixture.clock.advance(by: 3600)
    #expect(try await restarted.token().accessToken == "T22")
    #expect(fixture.refreshes.last == "R21")
    #expect(await fixture.store.content() == "T22 R22")
  }

  /// Responses with an unusable access token and a new refresh token.
  static let unusable = [
    #"{"access_token":"T9","refresh_token":"R9"}"#,
    #"{"access_token":"T9","token_type":"mac","refresh_token":"R9"}"#,
    #"{"access_token":"T9","token_type":"Bearer","expires_in":-1,"refresh_token":"R9"}"#,
    #"{"access_token":"T 9","token_type":"Bearer","refresh_token":"R9"}"#,
    #"{"token_type":"Bearer","refresh_token":"R9"}"#,
    #"{"access_token":null,"refresh_token":"R9"}"#,
  ]

  @Test(arguments: unusable)
  func `a new refresh token is used even if the response's access token is unusable`(
    body: String
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.refuse("T1")
    fixture.module.invalidateAccessToken()
    fixture.server.next(ScriptedTransport.json(body))
    let error = await failure { try await fixture.module.token() }
    #expect(error?.code == .invalidResponse || error?.code == .unexpectedTokenType)
    #expect(await fixture.store.content() == "T1 R9")
    #expect(fixture.module.validToken == nil, "the invalidated token stays invalid")
    fixture.clock.advance(by: 1)
    fixture.server.expect("R9")
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.refreshes == ["R1", "R9"])
    #expect(await fixture.store.content() == "T2 R2")
  }

  /// Members for which a response is refused as a whole, and the error's code.
  static let refused: [(members: String, code: SQOAuthError.Code)] = [
    (
      #""x":"# + String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
      .invalidResponse
    ),
    (
      #""x":["# + Array(repeating: "0", count: 10_001).joined(separator: ",") + "]",
      .invalidResponse
    ),
    (#""access_token":"T8""#, .invalidResponse), (#""scope":"a","scope":"b""#, .invalidResponse),
    (#""x":""# + String(repeating: "x", count: 3 << 20) + #"""#, .responseTooLarge),
  ]

  @Test(arguments: refused.indices)
  func `a new refresh token is used even if its response is refused as a whole`(
    index: Int
  ) async throws {
    let fixture = try await SessionFixture().restored()
    let members = #""access_token":"T9","token_type":"Bearer","refresh_token":"R9""#
    let row = Self.refused[index]
    fixture.server.next(ScriptedTransport.json("{\(members),\(row.members)}"))
    await failure(row.code) { try await fixture.module.refresh() }
    #expect(await fixture.store.content() == "T1 R9")
    fixture.clock.advance(by: 1)
    fixture.server.expect("R9")
    #expect(try await fixture.module.refresh().accessToken == "T2")
    #expect(fixture.refreshes == ["R1", "R9"])
  }

  @Test(arguments: [
    #""refresh_token":"R8","x":[]"#, #""error":"server_error""#, #""x":["#,
  ])
  func
    `a refresh token that is ambiguous, beside an error or in cut JSON does not replace the old one`(
      more: String
    ) async throws
  {
    let fixture = try await SessionFixture().restored()
    let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    fixture.server.next(
      ScriptedTransport.json(#"{"refresh_token":"R9","y":\#(deep),\#(more)}"#))
    await failure { try await fixture.module.refresh() }
    #expect(await fixture.store.content() == "T1 R1")
  }

  @Test(arguments: [
    #"{"error":"server_error","refresh_token":"R9"}"#, #"{"refresh_token":""}"#,
    #"{"refresh_token":5}"#, #"{"refresh_token":"\u0007"}"#,
  ])
  func `an invalid or empty refresh token, or one beside an error, does not replace the old one`(
    body: String
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.next(ScriptedTransport.json(body))
    await failure { try await fixture.module.refresh() }
    #expect(await fixture.store.content() == "T1 R1")
  }

  @Test func `a refresh response without a scope leaves the scope unchanged`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.next(ScriptedTransport.token("N", members: #""expires_in":60"#))
    let token = try await fixture.module.refresh()
    #expect(token.scope == "demo" && token.accessToken == "N" && token.refreshToken == "R1")
    #expect(token.issueDate == fixture.clock.now && token.expirationDate == fixture.clock.now + 60)
  }

  @Test(arguments: [(#"["demo","more"]"#, "demo more"), ("{}", nil), ("5", nil)])
  func `a scope array is joined, and a scope that is an object or a number removes the old scope`(
    value: String, scope: String?
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.next(ScriptedTransport.token("N", members: #""scope":\#(value)"#))
    #expect(try await fixture.module.refresh().scope == scope)
    fixture.server.next(ScriptedTransport.token("N2"))
    #expect(
      try await fixture.module.refresh().scope == scope,
      "a response without a scope changes nothing")
    fixture.server.next(ScriptedTransport.token("N3", members: #""scope":"read""#))
    let token = try await fixture.module.refresh()
    #expect(token.scope == "read" && token.additionalFields["scope"] == nil)
  }

  @Test(arguments: [
    ("", "id-1"), (#""id_token":null"#, "id-1"), (#""id_token":"""#, "id-1"),
    (#""id_token":"id-2""#, "id-2"),
  ])
  func `a missing id_token keeps the old one, and a new one replaces it`(
    member: String, expected: String
  ) async throws {
    let fixture = try await SessionFixture().signedIn(
      #""id_token":"id-1","session_state":{"a":[1]},"custom":true"#)
    fixture.server.change { $0.more = member }
    let token = try await fixture.module.refresh()
    let fields: [String: JSONValue] = [
      "id_token": .string(expected), "session_state": .object(["a": .array([.integer(1)])]),
      "custom": .bool(true),
    ]
    #expect(token.accessToken == "T2" && token.additionalFields == fields)
    #expect(fixture.module.currentToken == token)
    #expect(await fixture.store.memory.load("default")?.token == token)
    try await fixture.module.refresh()
    #expect(fixture.module.currentToken?.additionalFields == fields, "also after one more refresh")
  }

  /// The names that Keycloak, Google, Azure and other servers use.
  @Test(arguments: [
    "refresh_expires_in", "refresh_token_expires_in", "ext_expires_in", "expires_at", "Expiry",
    "refresh_token_timeout", "authorization_expires_in", "x_refresh_token_expires_in",
  ])
  func `a lifetime field that is missing in a refresh response is removed from the token`(
    name: String
  ) async throws {
    let fixture = try await SessionFixture().signedIn(#""\#(name)":60,"other":1"#)
    fixture.server.change { $0.more = "" }
    #expect(try await fixture.module.refresh().additionalFields == ["other": .integer(1)])
    fixture.server.change { $0.more = #""\#(name)":30"# }
    let fields = try await fixture.module.refresh().additionalFields
    #expect(fields == ["other": .integer(1), name: .integer(30)])
  }

  @Test func `a new sign-in has no additional fields of the previous sign-in`() async throws {
    let fixture = try await SessionFixture().signedIn(#""id_token":"id-1""#)
    fixture.server.change { $0.more = "" }
    #expect(try await fixture.oauth.signIn().additionalFields.isEmpty)
  }

  @Test func `a response without an expiration removes the old one`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.server.change { $0.lifetime = nil }
    let token = try await fixture.module.refresh()
    #expect(token.expirationDate == nil)
    #expect(await fixture.store.memory.load("default")?.token.expirationDate == nil)
    fixture.clock.advance(by: 1e8)
    #expect(try await fixture.module.token() == token)
  }

  @Test func `if the provider has a separate refresh endpoint, the refresh is sent there`()
    async throws
  {
    let fixture = try SessionFixture()
    try fixture.fixture.register(
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/never",
        refresh: "https://id.example/token"))
    try await fixture.restored()
    try await fixture.module.refresh()
    #expect(fixture.fixture.http.requests.map(\.url.absoluteString) == ["https://id.example/token"])
  }
}

extension SessionFixture {
  /// The configuration that ``OAuthFixture/register(redirectURI:secret:scope:provider:change:)``
  /// creates.
  var configuration: ClientConfiguration {
    get throws {
      try ClientConfiguration(
        clientID: "client", clientSecret: "s", redirectURI: "com.example.app:/cb", scope: "demo",
        provider: .endpoints(
          authorization: "https://id.example/authorize", token: "https://id.example/token"))
    }
  }
}

extension SessionFixture {
  /// Returns a session that began with a sign-in whose token response also had these members.
  fileprivate func signedIn(_ members: String) async throws -> Self {
    server.change { $0.more = members }
    _ = try await oauth.signIn()
    return self
  }
}
