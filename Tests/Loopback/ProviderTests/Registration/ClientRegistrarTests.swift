import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Clients that register themselves at a sandbox (RFC 7591 and RFC 7592).
@Suite(.timeLimit(.minutes(2))) struct ClientRegistrarTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let app = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/callback"],
    clientName: "An app", scope: "openid profile", softwareID: "com.example.app")

  init() async throws {
    sandbox = try await SandboxServer.start()
    registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
  }

  private var service: ClientMetadata {
    ClientMetadata(
      redirectURIs: [], clientAuthentication: .basic, grantTypes: ["client_credentials"],
      scope: "demo")
  }

  private func requests() -> [SandboxRequest] {
    sandbox.requests.filter { [.registration, .clientConfiguration].contains($0.endpoint) }
  }

  // MARK: Registering

  @Test func `an app registers itself, and then a user signs in`() async throws {
    let registration = try await registrar.register(app)
    #expect(registration.issuer == sandbox.issuer.absoluteString)
    #expect(registration.clientSecret == nil && registration.isManageable)
    #expect(registration.clientAuthentication == .publicClient)
    #expect(registration.redirectURIs == app.redirectURIs && registration.scope == app.scope)
    #expect(registration.members["software_id"]?.string == "com.example.app")
    #expect(registration.members["registration_access_token"] == nil)
    let oauth = SQOAuth()
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    oauth.environment = environment
    oauth.register(try registration.configuration())
    let token = try await oauth.signIn()
    #expect(token.scopes == ["openid", "profile"])
    #expect(token.idToken?.subject == SandboxUser.alice.subject)
  }

  @Test(arguments: [ClientAuthentication.basic, .post, .basicUnescaped])
  func `a service gets a secret and uses it for a token`(
    authentication: ClientAuthentication
  ) async throws {
    var metadata = service
    metadata.clientAuthentication = authentication
    let registration = try await registrar.register(metadata)
    let secret = try #require(registration.clientSecret)
    #expect(registration.clientSecretExpirationDate == nil)
    #expect(!"\(registration)".contains(secret))
    let account = AuthorizationModule(configuration: try registration.configuration())
    #expect(try await account.requestAccessTokenAsClient().scopes == ["demo"])
    let token = try #require(sandbox.requests(to: .token).last)
    #expect((token.form("client_secret") == nil) == (authentication != .post))
  }

  @Test func `a client uses pushed requests or DPoP if its registration response demands it`()
    async throws
  {
    sandbox.misbehave(
      at: .registration, .member("require_pushed_authorization_requests", true))
    let pushing = try await registrar.register(app).configuration()
    #expect(pushing.pushesAuthorizationRequests && pushing.tokenBinding == nil)
    sandbox.misbehave(at: .registration, .member("dpop_bound_access_tokens", true))
    let bound = try await registrar.register(app).configuration()
    #expect(!bound.pushesAuthorizationRequests && bound.tokenBinding == .dpop())
  }

  @Test func `a client signs its requests if its registration response demands it`() async throws {
    sandbox.misbehave(at: .registration, .member("require_signed_request_object", true))
    let key = try MadeKeys.key(for: .es256)
    let registration = try await registrar.register(app)
    #expect(try registration.configuration(clientKey: key).signsAuthorizationRequests)
    // Without a key, the sign-in fails before a page opens.
    let account = AuthorizationModule(configuration: try registration.configuration())
    await failure(.signInUnsupported) { try await account.signIn() }
  }

  /// By default, a server signs with RS256, which FAPI 2.0 forbids.
  @Test(arguments: [
    (SecurityProfile.standard, nil, nil), (.fapi2, "PS256", nil),
    (.fapi2MessageSigning, "PS256", "ES256"),
  ])
  func `a client with a FAPI profile asks for signatures that the profile allows`(
    profile: SecurityProfile, idToken: SandboxJSON?, response: SandboxJSON?
  ) async throws {
    sandbox.misbehave(
      at: .metadata,
      .members([
        ("id_token_signing_alg_values_supported", ["RS256", "ES256", "PS256"]),
        ("authorization_signing_alg_values_supported", ["RS256", "ES256"]),
      ]), times: nil)
    var metadata = app
    metadata.profile = profile
    metadata.keys = [try MadeKeys.key(for: .ps256)]
    // The sandbox may have no keys for these algorithms.
    _ = try? await registrar.register(metadata)
    let body = try #require(requests().first).body
    let sent = try #require(SandboxJSON(parsing: String(decoding: body, as: UTF8.self)))
    #expect(sent["id_token_signed_response_alg"] == idToken)
    #expect(sent["authorization_signed_response_alg"] == response)
  }

  @Test(arguments: [true, false, nil])
  func `a registration request has dpop_bound_access_tokens only if the app sets it`(value: Bool?)
    async throws
  {
    var metadata = app
    metadata.bindsAccessTokens = value
    _ = try await registrar.register(metadata)
    let sent = SandboxJSON(
      parsing: String(decoding: requests().last?.body ?? Data(), as: UTF8.self))
    #expect(sent?["dpop_bound_access_tokens"] == value.map(SandboxJSON.bool))
  }

  @Test func `a registration whose secret has expired is refused and deleted`() async throws {
    sandbox.misbehave(at: .registration, .member("client_secret_expires_at", 5))
    let error = await failure(.registrationMismatch) { try await registrar.register(service) }
    #expect(error?.message.contains("client_secret_expires_at") == true)
    #expect(requests().map(\.method) == ["POST", "DELETE"])
  }

  @Test func `a service registers its key and gets a token with its signature`() async throws {
    var metadata = service
    metadata.clientAuthentication = .privateKeyJWT
    await failure(.invalidConfiguration) { try await registrar.register(metadata) }
    let key = try ClientKey(generating: .edDSA)
    metadata.keys = [key]
    let registration = try await registrar.register(metadata)
    #expect(registration.clientSecret == nil)
    #expect(registration.clientAuthentication == .privateKeyJWT)
    let sent = SandboxJSON(
      parsing: String(decoding: requests().last?.body ?? Data(), as: UTF8.self))
    #expect(sent?["token_endpoint_auth_signing_alg"] == "EdDSA")
    let account = AuthorizationModule(
      configuration: try registration.configuration(clientKey: key))
    #expect(try await account.requestAccessTokenAsClient().scopes == ["demo"])
    failure(.invalidConfiguration) { try registration.configuration() }
  }

  @Test func `a client key whose public key is unknown cannot be registered`() async throws {
    var metadata = service
    metadata.clientAuthentication = .privateKeyJWT
    metadata.keys = [try ClientKey(algorithm: .es256, keyID: nil) { $0 }]
    await failure(.invalidConfiguration) { try await registrar.register(metadata) }
    #expect(requests().isEmpty)
  }

  @Test func `a registration without the client's key is rejected and deleted`() async throws {
    var metadata = service
    metadata.clientAuthentication = .privateKeyJWT
    metadata.keys = [try ClientKey(generating: .es256)]
    sandbox.misbehave(at: .registration, .member("jwks", ["keys": []]))
    await failure(.registrationMismatch) { try await registrar.register(metadata) }
    #expect(requests().map(\.method) == ["POST", "DELETE"])
    sandbox.misbehave(
      at: .registration, .member("token_endpoint_auth_method", "private_key_jwt"))
    await failure(.registrationMismatch) { try await registrar.register(service) }
  }

  @Test(arguments: [SandboxJSON.null, "AA"])
  func `a registration is accepted if the server adds members to the client's key`(
    member: SandboxJSON
  ) async throws {
    var metadata = service
    metadata.clientAuthentication = .privateKeyJWT
    let key = try ClientKey(generating: .es256)
    metadata.keys = [key]
    let text = String(decoding: try JSONEncoder().encode(key.publicJWK), as: UTF8.self)
    var answer = try #require(SandboxJSON(parsing: text))
    for name in ["n", "x5c"] { answer[name] = member }
    sandbox.misbehave(at: .registration, .member("jwks", ["keys": [answer]]))
    let registration = try await registrar.register(metadata)
    #expect(registration.clientAuthentication == .privateKeyJWT)
  }

  private static let lists: [(SandboxJSON?, ClientAuthentication)] = [
    (nil, .basic), (["client_secret_basic", "client_secret_post"], .basic),
    (["client_secret_post"], .post), (["none", "client_secret_basic"], .publicClient),
  ]

  @Test(arguments: lists)
  func `a client requests a listed authentication method and signs in with the registered one`(
    list: SandboxJSON?, method: ClientAuthentication
  ) async throws {
    sandbox.misbehave(
      at: .metadata, .member("token_endpoint_auth_methods_supported", list), times: nil)
    let registration = try await registrar.register(app)
    #expect(registration.clientAuthentication == method)
    #expect((registration.clientSecret == nil) == (method == .publicClient))
    let sent = SandboxJSON(
      parsing: String(decoding: requests().last?.body ?? Data(), as: UTF8.self))
    #expect(sent?["token_endpoint_auth_method"] == .string(method.rawValue))
    let oauth = SQOAuth()
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    oauth.environment = environment
    oauth.register(try registration.configuration())
    #expect(try await oauth.signIn().scopes == ["openid", "profile"])
    let store = MemoryRegistrationStore()
    let kept = try await registrar.registration(of: app, in: store)
    #expect(try await registrar.registration(of: app, in: store) == kept, "it fits the metadata")
  }

  @Test(arguments: [("none", nil), ("client_secret_post", "s"), ("client_secret_basic", "s")])
  func `if the app chooses no authentication method, the server's answer determines it`(
    method: String, secret: String?
  ) async throws {
    for list: SandboxJSON? in [nil, ["none"], ["client_secret_post"]] {
      sandbox.misbehave(at: .metadata, .member("token_endpoint_auth_methods_supported", list))
      sandbox.misbehave(
        at: .registration,
        .members([
          ("token_endpoint_auth_method", .string(method)),
          ("client_secret", secret.map(SandboxJSON.string)),
        ]))
      let fresh = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
      let registration = try await fresh.register(app)
      #expect(registration.clientAuthentication.rawValue == method)
      #expect(registration.clientSecret == secret)
    }
    // A client that acts in its own name cannot work without authentication.
    var service = service
    service.clientAuthentication = nil
    sandbox.misbehave(
      at: .registration,
      .members([("token_endpoint_auth_method", "none"), ("client_secret", nil)]))
    await failure(.registrationMismatch) { try await registrar.register(service) }
  }

  @Test func `a server may require an initial access token`() async throws {
    var options = SandboxOptions()
    options.initialAccessToken = "for-developers"
    let other = try await SandboxServer.start(options)
    let issuer = other.issuer.absoluteString
    await failure(.invalidToken) {
      try await ClientRegistrar(issuer: issuer).register(app)
    }
    let error = await failure(.invalidToken) {
      try await ClientRegistrar(issuer: issuer, initialAccessToken: "wrong-token").register(app)
    }
    if let error { #expect(!everyText(of: error).contains("wrong-token")) }
    _ = try await ClientRegistrar(issuer: issuer, initialAccessToken: "for-developers")
      .register(app)
  }

  @Test func `invalid metadata is not sent`() async throws {
    var wrong = [ClientMetadata(redirectURIs: [])]
    for uri in ["", "http://app.example/callback", "javascript:x", "https://a.example/#x"] {
      wrong.append(ClientMetadata(redirectURIs: [uri]))
    }
    for method: ClientAuthentication in [.privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth] {
      wrong.append(
        ClientMetadata(redirectURIs: ["https://a.example/cb"], clientAuthentication: method))
    }
    for metadata in wrong {
      await failure(.invalidConfiguration) { try await registrar.register(metadata) }
    }
    #expect(requests().isEmpty)
  }

  @Test func `the server's errors keep their codes`() async throws {
    var metadata = service
    metadata.scope = "no-such-scope"
    await failure(.invalidClientMetadata) { try await registrar.register(metadata) }
    sandbox.misbehave(at: .registration, .error("invalid_redirect_uri"))
    await failure(.invalidRedirectURI) { try await registrar.register(app) }
    sandbox.misbehave(at: .metadata, .member("registration_endpoint", nil))
    let closed = ClientRegistrar(
      issuer: sandbox.issuer.absoluteString, environment: ClientEnvironment())
    await failure(.registrationUnsupported) { try await closed.register(app) }
  }

  // MARK: What the server registered

  private static let otherMembers: [[(name: String, value: SandboxJSON?)]] = [
    [("redirect_uris", ["https://attacker.example/cb"])], [("redirect_uris", nil)],
    [("redirect_uris", ["http://127.0.0.1/callback", "com.example.app:/callback", "x:/y"])],
    [("token_endpoint_auth_method", "private_key_jwt")],
    [("token_endpoint_auth_method", "client_secret_basic")], [("grant_types", ["implicit"])],
  ]

  @Test(arguments: otherMembers.indices)
  func `a registration that differs from the requested one is rejected and deleted`(
    number: Int
  ) async throws {
    let members = Self.otherMembers[number]
    sandbox.misbehave(at: .registration, .members(members))
    await failure(.registrationMismatch) { try await registrar.register(app) }
    let deletion = try #require(requests().last)
    #expect(deletion.method == "DELETE" && deletion.endpoint == .clientConfiguration)
    let kept = MemoryRegistrationStore()
    sandbox.misbehave(at: .registration, .members(members))
    await failure(.registrationMismatch) { try await registrar.registration(of: app, in: kept) }
    #expect(kept.registration(at: sandbox.issuer.absoluteString) == nil)
  }

  @Test(arguments: [
    (SandboxMisbehaviour.member("client_id", nil), SQOAuthError.Code.invalidResponse),
    (.member("client_id", ""), .invalidResponse), (.member("client_id", "\u{7}"), .invalidResponse),
    (.member("client_secret", 1), .invalidResponse),
    (.member("client_secret_expires_at", "never"), .invalidResponse),
    (.member("redirect_uris", "http://127.0.0.1/callback"), .invalidResponse),
    (.html, .invalidResponse),
    (.truncatedJSON, .invalidResponse), (.status(500), .serverError), (.endless, .responseTooLarge),
    (.redirect(307, to: "http://127.0.0.1:1/"), .redirectRefused),
  ])
  func `an invalid answer is rejected`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code
  ) async throws {
    sandbox.misbehave(at: .registration, misbehaviour)
    await failure(code) { try await registrar.register(app) }
  }

  /// No request could delete this client, and the client works.
  @Test func `a registration with an invalid management token is accepted as unmanageable`()
    async throws
  {
    sandbox.misbehave(at: .registration, .member("registration_access_token", "a b"))
    #expect(try await !registrar.register(app).isManageable)
  }

  /// If the client stayed at the server, each start of the program would add one more client.
  @Test(arguments: [
    SandboxMisbehaviour.member("client_id", nil), .member("client_secret", 1),
    .member("redirect_uris", "http://127.0.0.1/callback"),
    .member("client_secret_expires_at", "never"),
  ])
  func `a client whose registration response cannot be read is deleted`(
    misbehaviour: SandboxMisbehaviour
  ) async throws {
    sandbox.misbehave(at: .registration, misbehaviour)
    await failure(.invalidResponse) { try await registrar.register(app) }
    #expect(requests().map(\.method) == ["POST", "DELETE"])
  }

  /// Many tenants, with an issuer each, may be on one server.
  @Test func `a registration is managed only by a registrar of its issuer`() async throws {
    let registration = try await registrar.register(service)
    let tenant = ClientRegistrar(issuer: sandbox.issuer.absoluteString + "/tenant")
    await failure(.registrationMismatch) { try await tenant.read(registration) }
    await failure(.registrationMismatch) { try await tenant.update(registration, to: service) }
    await failure(.registrationMismatch) { try await tenant.delete(registration) }
    #expect(requests().map(\.method) == ["POST"])
    #expect(try await registrar.read(registration).clientID == registration.clientID)
  }

  @Test(arguments: [nil, "client_id"])
  func `a management address on another server gets no request`(missing: String?) async throws {
    let victim = try await SandboxServer.start()
    let address = victim.issuer.absoluteString + "/register/1?all=true"
    sandbox.misbehave(
      at: .registration,
      .members(
        [("registration_client_uri", .string(address))] + (missing.map { [($0, nil)] } ?? [])))
    if missing == nil {
      let registration = try await registrar.register(app)
      #expect(!registration.isManageable)
      await failure(.registrationUnsupported) { try await registrar.delete(registration) }
    } else {
      await failure(.invalidResponse) { try await registrar.register(app) }
    }
    #expect(requests().map(\.method) == ["POST"] && victim.requests.isEmpty)
  }

  @Test func `a client reads and deletes its registration at a relative management address`()
    async throws
  {
    let first = try await registrar.register(app)
    _ = try await registrar.read(first)
    let read = try #require(requests().last)
    #expect(read.method == "GET" && read.path.hasSuffix("/" + first.clientID))
    let token = try #require(read.header("authorization")).dropFirst("Bearer ".count)
    // The server answers the next registration with the first client, and with a management address
    // that is only a path.
    sandbox.misbehave(
      at: .registration,
      .members([
        ("client_id", .string(first.clientID)),
        ("registration_access_token", .string(String(token))),
        ("registration_client_uri", .string(read.path)),
      ]))
    let second = try await registrar.register(app)
    #expect(second.clientID == first.clientID && second.isManageable)
    #expect(try await registrar.read(second).clientID == first.clientID)
    try await registrar.delete(second)
    #expect(requests().map(\.method) == ["POST", "GET", "POST", "GET", "DELETE"])
    let paths = sandbox.requests(to: .clientConfiguration).map(\.path)
    #expect(paths == [read.path, read.path, read.path])
    #expect(!sandbox.clients.contains { $0.id == first.clientID })
  }

  // MARK: Managing

  @Test func `a client reads, changes and deletes its registration`() async throws {
    let registration = try await registrar.register(app)
    #expect(try await registrar.read(registration).redirectURIs == app.redirectURIs)
    var changed = app
    changed.redirectURIs = ["https://app.example.com/callback"]
    changed.clientName = "Another name"
    let updated = try await registrar.update(registration, to: changed)
    #expect(updated.clientID == registration.clientID)
    #expect(updated.redirectURIs == changed.redirectURIs)
    #expect(updated.members["client_name"]?.string == "Another name")
    try await registrar.delete(updated)
    // The client is already gone, so the deletion succeeds.
    try await registrar.delete(updated)
    await failure(.invalidToken) { try await registrar.read(updated) }
  }

  // MARK: Cancelling

  enum Exchange: CaseIterable, Sendable {
    case register, read, update

    var endpoint: SandboxEndpoint { self == .register ? .registration : .clientConfiguration }
  }

  /// The sandbox replaces the management token with each update.
  @Test(arguments: Exchange.allCases)
  func `a task that is cancelled after the request was sent still gets the registration`(
    exchange: Exchange
  ) async throws {
    let registration = try await registrar.register(service)
    let sent = sandbox.requests(to: exchange.endpoint).count
    let answer = Gate(isOpen: false)
    sandbox.misbehave(at: exchange.endpoint, .hold(until: { await answer.opened() }))
    let caller = begin { [registrar, service] () async throws -> ClientRegistration in
      switch exchange {
      case .register: return try await registrar.register(service)
      case .read: return try await registrar.read(registration)
      case .update: return try await registrar.update(registration, to: service)
      }
    }
    _ = try await sandbox.requests(to: exchange.endpoint, atLeast: sent + 1)
    caller.cancel()
    answer.open()
    let result = try await caller.value
    #expect((result.clientID == registration.clientID) == (exchange != .register))
    #expect(try await registrar.read(result).clientID == result.clientID)
    try await registrar.delete(result)
  }

  @Test(arguments: Exchange.allCases)
  func `a task that is cancelled before the call sends no registration request`(exchange: Exchange)
    async throws
  {
    let registration = try await registrar.register(service)
    let sent = requests().count
    let start = Gate(isOpen: false)
    let caller = begin { [registrar, service] in
      await start.pass()
      switch exchange {
      case .register: _ = try await registrar.register(service)
      case .read: _ = try await registrar.read(registration)
      case .update: _ = try await registrar.update(registration, to: service)
      }
    }
    caller.cancel()
    start.open()
    await failure(.cancelled) { try await caller.value }
    #expect(requests().count == sent)
  }

  @Test func `a service keeps its secret if an answer omits it`() async throws {
    let registration = try await registrar.register(service)
    sandbox.misbehave(
      at: .clientConfiguration,
      .members([
        ("client_secret", nil), ("registration_access_token", nil),
        ("registration_client_uri", nil),
      ]))
    let read = try await registrar.read(registration)
    #expect(read.clientSecret == registration.clientSecret && read.isManageable)
    sandbox.misbehave(at: .clientConfiguration, .member("client_id", "another"))
    await failure(.registrationMismatch) { try await registrar.read(registration) }
    // A server may answer with every method that the client may use.
    sandbox.misbehave(
      at: .clientConfiguration,
      .member("token_endpoint_auth_method", ["private_key_jwt", "client_secret_basic"]))
    #expect(try await registrar.read(registration).clientAuthentication == .basic)
    let updated = try await registrar.update(registration, to: service)
    #expect(updated.clientSecret == registration.clientSecret)
  }
}
