import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct SecurityProfileTests {
  /// A client with a key for its assertions and requests, and another one for its proofs.
  private struct Client {
    static let id = "bank-app"

    let sandbox: SandboxServer
    let key: SigningKey
    let proofs: ProvingPeer

    init(_ profile: SandboxSecurityProfile, _ algorithm: SandboxSigningAlgorithm = .es256)
      async throws
    {
      key = SigningKey(generating: algorithm)
      var options = SandboxOptions(profile)
      options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
      var client = SandboxClient(id: Self.id, key: key.json(namesKey: true))
      client.redirectURIs = [SandboxPeer.redirectURI]
      options.clients.append(client)
      sandbox = try await SandboxServer.start(options)
      proofs = ProvingPeer(sandbox)
    }

    var peer: SandboxPeer { SandboxPeer(sandbox: sandbox) }

    /// Returns the parameters that authenticate the client.
    func identity(audience: SandboxJSON? = nil) -> [(String, String)] {
      let now = Int(sandbox.now.timeIntervalSince1970)
      let claims: SandboxJSON = [
        "iss": .string(Self.id), "sub": .string(Self.id), "jti": .string(Crypto.secret("")),
        "aud": audience ?? .string(sandbox.issuer.absoluteString), "exp": .integer(now + 60),
        "iat": .integer(now),
      ]
      return [
        ("client_id", Self.id),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", SandboxJWT(claims, key: key, namesKey: true).signed),
      ]
    }

    /// Returns the parameters of a sign-in except `client_id`; a change to `nil` removes one.
    func signIn(_ changes: [String: String?] = [:]) -> [(String, String)] {
      var parameters = Dictionary(BoundTokenTests.signIn) { $1 }
      parameters["client_id"] = nil
      for (name, value) in changes { parameters[name] = value }
      return parameters.map { ($0.key, $0.value) }
    }

    /// Sends a form, by default with a proof that has the sandbox's nonce.
    func post(
      _ form: [(String, String)], to path: String, proves: Bool = true, nonce: String? = nil
    ) async throws -> LoopbackAnswer {
      let nonce = nonce ?? sandbox.proofNonce(of: .authorizationServer)
      let proof = proofs.proof("POST", path, nonce: nonce)
      return try await peer.post(path, form, headers: proves ? [("DPoP", proof)] : [])
    }

    /// Pushes a sign-in, visits the sandbox, and returns the parameters of the redirect.
    func redirect(_ form: [(String, String)]) async throws -> [(name: String, value: String)] {
      let pushed = try await post(form, to: "/par")
      let reference = try #require(try pushed.json()["request_uri"]?.string, "\(pushed.text)")
      let id = form.first { $0.0 == "client_id" }?.1 ?? ""
      let query = SandboxPeer.form([("client_id", id), ("request_uri", reference)])
      let url = try #require(
        URL(string: "\(sandbox.authorizationEndpoint.absoluteString)?\(query)"))
      return SandboxPeer.parameters(try await SandboxVisitor().visit(url).redirect)
    }

    func code() async throws -> String {
      try #require(try await redirect(signIn() + identity()).value("code"))
    }

    func redeem(_ code: String, proves: Bool = true, audience: SandboxJSON? = nil) async throws
      -> LoopbackAnswer
    {
      let form = [
        ("grant_type", "authorization_code"), ("code", code),
        ("redirect_uri", SandboxPeer.redirectURI), ("code_verifier", SandboxPeer.verifier),
      ]
      return try await post(form + identity(audience: audience), to: "/token", proves: proves)
    }

    func refresh(_ token: String) async throws -> LoopbackAnswer {
      let form = [("grant_type", "refresh_token"), ("refresh_token", token)]
      return try await post(form + identity(), to: "/token")
    }

    func me(_ token: String) async throws -> LoopbackAnswer {
      let nonce = sandbox.proofNonce(of: .api)
      let proof = proofs.proof("GET", "/api/me", token: token, nonce: nonce)
      return try await proofs.api(token: token, proof: proof)
    }
  }

  /// Without the grant, a client would show its user a code, but would never get a token.
  @Test func `the metadata lists the device authorization endpoint only if the grant is allowed`()
    async throws
  {
    for (options, isListed) in [(SandboxOptions(), true), (SandboxOptions(.fapi2), false)] {
      let sandbox = try await SandboxServer.start(options)
      let metadata = try await SandboxPeer(sandbox: sandbox)
        .get("/.well-known/oauth-authorization-server").json()
      #expect((metadata["device_authorization_endpoint"] != nil) == isListed)
      await sandbox.stop()
    }
  }

  @Test(arguments: [SandboxSecurityProfile.fapi2, .atProtocol])
  func `a client that follows the profile gets tokens, uses them and refreshes them`(
    profile: SandboxSecurityProfile
  ) async throws {
    let client = try await Client(profile)
    let redirect = try await client.redirect(client.signIn() + client.identity())
    #expect(redirect.value("iss") == client.sandbox.issuer.absoluteString)
    let tokens = try await client.redeem(try #require(redirect.value("code"))).tokens()
    #expect(tokens.tokenType == "DPoP")
    #expect(try await client.me(tokens.accessToken).status == 200)
    let refresh = try #require(tokens.refreshToken)
    let next = try await client.refresh(refresh).tokens()
    #expect(next.tokenType == "DPoP")
    #expect((next.refreshToken != nil) == (profile == .atProtocol), "only one profile rotates")
    #expect(client.sandbox.isActive(refresh) == (profile == .fapi2))
    await client.sandbox.stop()
  }

  @Test(arguments: SandboxSecurityProfile.allCases)
  func `a sign-in that is not pushed or does not use PKCE with S256 is refused`(
    profile: SandboxSecurityProfile
  ) async throws {
    let client = try await Client(profile)
    let page = try await client.peer.get(try client.peer.authorizationURL())
    #expect(page.status == 400 && page.text.contains("was not accepted"))
    guard profile != .fapi2MessageSigning else { return await client.sandbox.stop() }
    for changes in [
      ["code_challenge": nil], ["code_challenge_method": "plain"],
      ["code_challenge": nil, "code_challenge_method": nil],
    ] as [[String: String?]] {
      let answer = try await client.post(client.signIn(changes) + client.identity(), to: "/par")
      #expect(answer.status == 400 && answer.error == "invalid_request")
    }
    await client.sandbox.stop()
  }

  @Test(arguments: [SandboxSecurityProfile.fapi2, .atProtocol])
  func `an assertion is accepted only if its aud is the issuer as a single string`(
    profile: SandboxSecurityProfile
  ) async throws {
    let client = try await Client(profile)
    let issuer = SandboxJSON.string(client.sandbox.issuer.absoluteString)
    let token = SandboxJSON.string(client.sandbox.tokenEndpoint.absoluteString)
    for audience in [token, [issuer], [issuer, token]] {
      let answer = try await client.redeem(try await client.code(), audience: audience)
      #expect(answer.status == 401 && answer.error == "invalid_client")
    }
    await client.sandbox.stop()
  }

  @Test(arguments: [SandboxSecurityProfile.fapi2, .atProtocol])
  func `RS256 assertions and the password grant are refused`(
    profile: SandboxSecurityProfile
  ) async throws {
    let weak = try await Client(profile, .rs256)
    let refused = try await weak.post(weak.signIn() + weak.identity(), to: "/par")
    #expect(refused.error == "invalid_client" && refused.text.contains("algorithm"))
    await weak.sandbox.stop()
    let client = try await Client(profile)
    let form = [
      ("grant_type", "password"), ("username", "alice"), ("password", "alice-password"),
    ]
    let answer = try await client.post(form + client.identity(), to: "/token")
    #expect(answer.error == "unsupported_grant_type")
    let metadata = try await client.peer.get("/.well-known/oauth-authorization-server").json()
    #expect(metadata["require_pushed_authorization_requests"] == true)
    #expect(metadata["grant_types_supported"]?.array.contains("password") == false)
    let algorithms = metadata["token_endpoint_auth_signing_alg_values_supported"]
    #expect(algorithms == (profile == .fapi2 ? ["ES256", "PS256", "EdDSA"] : ["ES256"]))
    await client.sandbox.stop()
  }

  @Test(arguments: [SandboxSecurityProfile.fapi2, .atProtocol])
  func `token requests need proofs, and codes expire after a minute`(
    profile: SandboxSecurityProfile
  ) async throws {
    let client = try await Client(profile)
    let bare = try await client.redeem(try await client.code(), proves: false)
    #expect(bare.status == 400 && bare.error == "invalid_dpop_proof")
    let code = try await client.code()
    client.sandbox.advance(by: .seconds(60))
    #expect(try await client.redeem(code).error == "invalid_grant")
    let token = try await client.redeem(try await client.code()).tokens().accessToken
    let bearer = try await client.peer.api("/api/me", token: token)
    #expect(bearer.status == 401)
    await client.sandbox.stop()
  }

  @Test(
    arguments: [
      (.fapi2, ["private_key_jwt"]), (.fapi2MessageSigning, ["private_key_jwt"]),
      (.atProtocol, ["private_key_jwt", "none"]),
    ] as [(SandboxSecurityProfile, [String])])
  func `clients can use only the authentication methods that the profile allows`(
    profile: SandboxSecurityProfile, methods: [String]
  ) async throws {
    let client = try await Client(profile)
    let secret = [("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
    let service = try await client.post(client.signIn() + secret, to: "/par")
    #expect(service.status == 401 && service.error == "invalid_client")
    let app = try await client.post(client.signIn() + [("client_id", "sandbox-app")], to: "/par")
    #expect(app.status == (methods.contains("none") ? 201 : 401))
    let metadata = try await client.peer.get("/.well-known/oauth-authorization-server").json()
    let listed = metadata["token_endpoint_auth_methods_supported"]?.array.map(\.string)
    #expect(listed == methods)
    let description = #"{"redirect_uris":["https://app.example/"]}"#
    let registered = try await client.peer.post(
      "/register", body: description, type: "application/json")
    #expect(registered.error == "invalid_client_metadata")
    await client.sandbox.stop()
  }

  // MARK: Message signing

  @Test func `with message signing a request must be signed, and the response is signed`()
    async throws
  {
    let client = try await Client(.fapi2MessageSigning)
    let plain = try await client.post(client.signIn() + client.identity(), to: "/par")
    #expect(plain.status == 400 && plain.error == "invalid_request")
    let now = Int(client.sandbox.now.timeIntervalSince1970)
    func pushed(_ mode: String?, start: Int?) -> [(String, String)] {
      var claims = SandboxJSON.object(
        client.signIn().map { .init($0.0, .string($0.1)) } + [
          .init("iss", .string(Client.id)), .init("client_id", .string(Client.id)),
          .init("aud", .string(client.sandbox.issuer.absoluteString)),
          .init("exp", .integer(now + 300)),
        ])
      claims["nbf"] = start.map(SandboxJSON.integer)
      claims["response_mode"] = mode.map(SandboxJSON.string)
      let jwt = SandboxJWT(claims, type: "oauth-authz-req+jwt", key: client.key, namesKey: true)
      return [("request", jwt.signed)] + client.identity()
    }
    let unsigned = try await client.post(pushed(nil, start: now), to: "/par")
    #expect(unsigned.error == "invalid_request", "the response would not be signed")
    let late = try await client.post(pushed("jwt", start: nil), to: "/par")
    #expect(late.error == "invalid_request_object")
    let redirect = try await client.redirect(pushed("jwt", start: now))
    #expect(redirect.map(\.name) == ["response"])
    let response = try ReadJWT(try #require(redirect.value("response")))
    #expect(response.claims["aud"]?.string == Client.id)
    let code = try #require(response.claims["code"]?.string)
    #expect(try await client.redeem(code).tokens().tokenType == "DPoP")
    await client.sandbox.stop()
  }

  // MARK: AT Protocol

  @Test func `in AT Protocol every proof must have a nonce, which changes every minute`()
    async throws
  {
    let client = try await Client(.atProtocol)
    let form = client.signIn()
    let bare = try await client.post(form + client.identity(), to: "/par", proves: false)
    #expect(bare.error == "invalid_request", "the sign-in has no key")
    let old = client.sandbox.proofNonce(of: .authorizationServer)
    client.sandbox.advance(by: .seconds(60))
    let next = try await client.post(form + client.identity(), to: "/par", nonce: old)
    let offered = client.sandbox.proofNonce(of: .authorizationServer)
    #expect(next.status == 201 && next.header("dpop-nonce") == offered && offered != old)
    client.sandbox.advance(by: .seconds(60))
    let late = try await client.post(form + client.identity(), to: "/par", nonce: old)
    #expect(late.status == 400 && late.error == "use_dpop_nonce")
    let token = try await client.redeem(try await client.code()).tokens().accessToken
    let proof = client.proofs.proof("GET", "/api/me", token: token)
    let refused = try await client.proofs.api(token: token, proof: proof)
    #expect(refused.status == 401 && refused.error == "use_dpop_nonce")
    let right = try await client.me(token)
    #expect(right.status == 200 && right.header("dpop-nonce") != nil)
    await client.sandbox.stop()
  }

  @Test func `in AT Protocol the refresh token of a confidential client is bound to its DPoP key`()
    async throws
  {
    let client = try await Client(.atProtocol)
    let tokens = try await client.redeem(try await client.code()).tokens()
    let form = [
      ("grant_type", "refresh_token"), ("refresh_token", try #require(tokens.refreshToken)),
    ]
    let nonce = client.sandbox.proofNonce(of: .authorizationServer)
    let thief = ProvingPeer(client.sandbox)
    let refused = try await thief.post(form + client.identity(), thief.proof(nonce: nonce))
    #expect(refused.error == "invalid_grant")
    #expect(try await client.post(form + client.identity(), to: "/token").status == 200)
    await client.sandbox.stop()
  }

  @Test func `applying a profile keeps settings that it does not define`() {
    var options = SandboxOptions()
    options.clients = []
    options.accessTokenFormat = .jwt(.es256)
    options.apply(.fapi2)
    #expect(options.clients.isEmpty && options.accessTokenFormat == .jwt(.es256))
    #expect(options.dpop.policy == .required)
  }
}
