import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Comparisons of what a server registered with what the client requested.
@Suite(.timeLimit(.minutes(2))) struct RegisteredClientTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let app = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/callback"])

  init() async throws {
    sandbox = try await SandboxServer.start()
    registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
  }

  private func answer(
    to asked: ClientAuthentication, _ method: SandboxJSON, secret: SandboxJSON?
  ) async throws -> ClientRegistration {
    var metadata = app
    metadata.clientAuthentication = asked
    if asked == .privateKeyJWT { metadata.keys = [try ClientKey(generating: .es256)] }
    sandbox.misbehave(
      at: .registration,
      .members([("token_endpoint_auth_method", method), ("client_secret", secret)]))
    return try await registrar.register(metadata)
  }

  @Test(arguments: [
    (ClientAuthentication.privateKeyJWT, "none", nil),
    (.privateKeyJWT, "client_secret_basic", "secret"), (.privateKeyJWT, "client_secret_post", "s"),
    (.basic, "none", "secret"), (.post, "none", nil), (.basicUnescaped, "none", nil),
    (.basic, "private_key_jwt", nil), (.publicClient, "client_secret_basic", nil),
  ])
  func
    `authentication that is weaker than requested or unusable is rejected, and the client is deleted`(
      asked: ClientAuthentication, method: String, secret: String?
    ) async throws
  {
    await failure(.registrationMismatch) {
      try await answer(to: asked, .string(method), secret: secret.map(SandboxJSON.string))
    }
    #expect(sandbox.requests.last?.method == "DELETE")
  }

  @Test(arguments: [
    (ClientAuthentication.publicClient, "client_secret_basic"),
    (.publicClient, "client_secret_post"), (.basic, "client_secret_post"),
    (.post, "client_secret_basic"),
  ])
  func `a server may assign a secret and choose how it is sent`(
    asked: ClientAuthentication, method: String
  ) async throws {
    let registration = try await answer(to: asked, .string(method), secret: "secret")
    #expect(registration.clientAuthentication.rawValue == method)
    #expect(registration.clientSecret == "secret")
  }

  @Test func `of several registered authentication methods the client uses a strong enough one`()
    async throws
  {
    let list: SandboxJSON = ["none", "private_key_jwt", "client_secret_post"]
    #expect(try await answer(to: .basic, list, secret: "s").clientAuthentication == .post)
    #expect(
      try await answer(to: .privateKeyJWT, list, secret: nil).clientAuthentication
        == .privateKeyJWT)
    #expect(
      try await answer(to: .publicClient, list, secret: nil).clientAuthentication
        == .publicClient)
  }

  @Test func `redirect URIs keep the order in which the client listed them`() async throws {
    let reversed = SandboxJSON.array(app.redirectURIs.reversed().map(SandboxJSON.string))
    sandbox.misbehave(at: .registration, .member("redirect_uris", reversed))
    sandbox.misbehave(at: .clientConfiguration, .member("redirect_uris", reversed), times: nil)
    let store = MemoryRegistrationStore()
    let registration = try await registrar.registration(of: app, in: store)
    #expect(registration.redirectURIs == app.redirectURIs)
    #expect(try await registrar.read(registration).redirectURIs == app.redirectURIs)
    #expect(try await registrar.update(registration, to: app).redirectURIs == app.redirectURIs)
    // Another version of the app lists another redirect URI first.
    var changed = app
    changed.redirectURIs.reverse()
    let next = try await registrar.registration(of: changed, in: store)
    #expect(next.redirectURIs == changed.redirectURIs && next.clientID == registration.clientID)
    #expect(try next.configuration().redirectURI?.string == "com.example.app:/callback")
    #expect(sandbox.requests(to: .registration).count == 1)
  }

  @Test func `an update returns what the server registered, and check throws if that differs`()
    async throws
  {
    let registration = try await registrar.register(app)
    sandbox.misbehave(
      at: .clientConfiguration,
      .members([("redirect_uris", ["x:/y"]), ("registration_access_token", "replaced")]))
    let updated = try await registrar.update(registration, to: app)
    #expect(updated.clientID == registration.clientID && updated.redirectURIs == ["x:/y"])
    failure(.registrationMismatch) { try updated.check(against: app) }
    await failure(.invalidToken) { try await registrar.read(updated) }
    #expect(sandbox.requests.last?.header("authorization") == "Bearer replaced")
    try registration.check(against: app)
    var other = app
    other.keys = [try ClientKey(generating: .es256)]
    failure(.registrationMismatch) { try registration.check(against: other) }
  }

  @Test
  func `an update request has the client ID and secret but no member that only the server sets`()
    async throws
  {
    var metadata = app
    metadata.clientAuthentication = .basic
    let registration = try await registrar.register(metadata)
    // An app that changes one member may copy all others.
    metadata.additionalMembers = registration.members.merging(
      ["registration_access_token": "t", "client_secret_expires_at": 0, "tos_uri": "https://a.b/c"]
    ) { $1 }
    #expect(registration.members["registration_client_uri"] != nil)
    _ = try await registrar.update(registration, to: metadata)
    let body = try #require(sandbox.requests(to: .clientConfiguration).last?.body)
    let sent = try JSONDecoder().decode([String: JSONValue].self, from: body)
    #expect(sent["client_id"] == .string(registration.clientID))
    #expect(sent["client_secret"]?.string == registration.clientSecret)
    #expect(sent["tos_uri"] == "https://a.b/c" && sent["redirect_uris"] != nil)
    let forbidden: Set = [
      "registration_access_token", "registration_client_uri", "client_secret_expires_at",
      "client_id_issued_at",
    ]
    #expect(forbidden.isDisjoint(with: sent.keys))
  }

  /// RFC 7592, section 2.2: the server deletes the members that an update leaves out.
  @Test func `an update keeps what the server registered, and deletes what the app has dropped`()
    async throws
  {
    var metadata = app
    metadata.clientName = "An app"
    metadata.additionalMembers = [
      "logo_uri": "https://a.example/logo", "tos_uri": "https://a.example/terms",
    ]
    sandbox.misbehave(
      at: .registration,
      .members([
        ("id_token_signed_response_alg", "ES256"), ("tenant", "t1"), ("policy_uri", ""),
        ("sector_identifier_uri", .null), ("software_version", "2"),
      ]))
    let registration = try await registrar.register(metadata)
    var changed = app
    changed.clientName = nil
    changed.additionalMembers = ["tos_uri": "https://b.example/terms", "tenant": .null]
    _ = try await registrar.update(registration, to: changed)
    let sent = try body(of: sandbox.requests(to: .clientConfiguration).last)
    #expect(sent["id_token_signed_response_alg"] == "ES256" && sent["software_version"] == "2")
    #expect(sent["tenant"] == .null && sent["tos_uri"] == "https://b.example/terms")
    for name in ["logo_uri", "client_name", "policy_uri", "sector_identifier_uri"] {
      #expect(sent[name] == nil, "\(name)")
    }
    // An older version of the SDK did not store which members the app had sent.
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(registration))
    var members = try #require(json as? [String: Any])
    #expect(members.removeValue(forKey: "askedMembers") != nil)
    let older = try JSONDecoder().decode(
      ClientRegistration.self, from: JSONSerialization.data(withJSONObject: members))
    _ = try await registrar.update(older, to: changed)
    let next = try body(of: sandbox.requests(to: .clientConfiguration).last)
    #expect(next["id_token_signed_response_alg"] == "ES256" && next["client_name"] == nil)
  }

  private func body(of request: SandboxRequest?) throws -> [String: JSONValue] {
    try JSONDecoder().decode([String: JSONValue].self, from: try #require(request?.body))
  }

  @Test func `an update to a public client removes the client secret`() async throws {
    var metadata = app
    metadata.clientAuthentication = .basic
    let registration = try await registrar.register(metadata)
    #expect(registration.clientSecret != nil)
    let updated = try await registrar.update(registration, to: app)
    #expect(updated.clientSecret == nil && updated.clientAuthentication == .publicClient)
  }

  @Test func `a registration of an older SDK version can be read`() async throws {
    var metadata = app
    metadata.clientAuthentication = .privateKeyJWT
    metadata.keys = [try ClientKey(generating: .es256)]
    let registration = try await registrar.register(metadata)
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(registration))
    var members = try #require(json as? [String: Any])
    #expect(members.removeValue(forKey: "sentKeys") != nil)
    #expect(members.removeValue(forKey: "askedGrants") != nil)
    let older = try JSONDecoder().decode(
      ClientRegistration.self, from: JSONSerialization.data(withJSONObject: members))
    #expect(older.clientID == registration.clientID)
    try older.check(against: metadata)
    metadata.keys = [try ClientKey(generating: .es256)]
    failure(.registrationMismatch) { try older.check(against: metadata) }
  }
}
