import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct BoundGrantTests {
  private static let service = [
    ("client_id", "sandbox-service"), ("client_secret", "sandbox-secret"),
  ]
  private static let accessToken = "urn:ietf:params:oauth:token-type:access_token"

  /// Returns the thumbprint that the introspection of a token names.
  private func key(of token: String, _ client: ProvingPeer) async throws -> String? {
    let answer = try await client.peer.post("/introspect", [("token", token)] + Self.service)
    let json = try answer.json()
    #expect(json["active"] == true)
    return json["cnf"]?["jkt"]?.string
  }

  @Test func `tokens from client credentials and token exchange are bound to the proof's key`()
    async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let own = [("grant_type", "client_credentials")] + Self.service
    let token = try await client.post(own, client.proof()).tokens()
    #expect(token.tokenType == "DPoP")
    #expect(try await key(of: token.accessToken, client) == client.thumbprint)
    let subject = sandbox.issueTokens(scopes: ["demo"]).accessToken
    let exchange = [
      ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
      ("subject_token", subject), ("subject_token_type", Self.accessToken),
    ]
    let exchanged = try await client.post(exchange + Self.service, client.proof()).tokens()
    #expect(exchanged.tokenType == "DPoP")
    #expect(try await key(of: exchanged.accessToken, client) == client.thumbprint)
    await sandbox.stop()
  }

  @Test func `the tokens of a device are bound to the key of its proof`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let app = ("client_id", "sandbox-app")
    let device = try await client.peer.post("/device_authorization", [app]).json()
    try await SandboxVisitor().enterCode(
      try #require(device["user_code"]?.string), at: sandbox.url(.device))
    let form = [
      ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), app,
      ("device_code", try #require(device["device_code"]?.string)),
    ]
    let tokens = try await client.post(form, client.proof()).tokens()
    #expect(tokens.tokenType == "DPoP")
    #expect(try await key(of: tokens.accessToken, client) == client.thumbprint)
    let refresh = try #require(tokens.refreshToken)
    #expect(try await key(of: refresh, client) == client.thumbprint)
    await sandbox.stop()
  }

  /// Returns the form that exchanges a client's assertion without authenticating the client.
  private func form(
    of client: String, signedBy signer: SigningKey, at sandbox: SandboxServer
  ) -> [(String, String)] {
    let claims: SandboxJSON = [
      "iss": .string(client), "sub": "alice", "aud": .string(sandbox.issuer.absoluteString),
      "exp": 1_900_000_060, "jti": "1",
    ]
    return [
      ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
      ("assertion", SandboxJWT(claims, key: signer, namesKey: true).signed),
    ]
  }

  @Test func `a JWT bearer assertion that is sent with a proof gets a bound token`() async throws {
    let signer = SigningKey(generating: .es256)
    let sandbox = try await ProvingPeer.start {
      $0.clients.append(SandboxClient(id: "signer", key: signer.json(namesKey: true)))
    }
    let client = ProvingPeer(sandbox)
    let form = form(of: "signer", signedBy: signer, at: sandbox)
    let refused = try await client.post(form, client.proof { $0.claims["htm"] = "GET" })
    #expect(refused.error == "invalid_dpop_proof")
    let tokens = try await client.post(form, client.proof()).tokens()
    #expect(try await key(of: tokens.accessToken, client) == client.thumbprint)
    await sandbox.stop()
  }

  @Test
  func `a client's restrictions apply to a JWT bearer assertion without client authentication`()
    async throws
  {
    let signer = SigningKey(generating: .es256)
    let sandbox = try await ProvingPeer.start { options in
      var limited = SandboxClient(id: "limited", key: signer.json(namesKey: true))
      limited.grantTypes = ["authorization_code"]
      var bound = SandboxClient(id: "bound", key: signer.json(namesKey: true))
      bound.requiresBoundTokens = true
      options.clients += [limited, bound]
    }
    let client = ProvingPeer(sandbox)
    let limited = form(of: "limited", signedBy: signer, at: sandbox)
    #expect(try await client.post(limited, client.proof()).error == "unauthorized_client")
    let bound = form(of: "bound", signedBy: signer, at: sandbox)
    #expect(try await client.post(bound).error == "invalid_dpop_proof")
    let tokens = try await client.post(bound, client.proof()).tokens()
    #expect(try await key(of: tokens.accessToken, client) == client.thumbprint)
    await sandbox.stop()
  }

  @Test func `tokens that a test issues without a sign-in can be bound to a key`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let app = sandbox.issueTokens(boundTo: client.thumbprint)
    #expect(try await key(of: app.accessToken, client) == client.thumbprint)
    #expect(try await key(of: app.refreshToken, client) == client.thumbprint)
    let service = sandbox.issueTokens(to: "sandbox-service", boundTo: client.thumbprint)
    #expect(try await key(of: service.accessToken, client) == client.thumbprint)
    #expect(try await key(of: service.refreshToken, client) == nil)
    await sandbox.stop()
  }

  @Test func `a second server that accepts the sandbox's tokens can check their proofs`()
    async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let bound = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let server = try #require(URL(string: "https://other.example"))
    func access(_ authorization: String, proof: String? = nil) throws -> TokenAccess {
      let fields = [("authorization", authorization)] + (proof.map { [("dpop", $0)] } ?? [])
      return try sandbox.access(
        ProvableRequest(
          method: "POST", address: "https://other.example/a",
          fields: fields.map { SandboxParameter(name: $0, value: $1) }))
    }
    let wrong = [
      ("Bearer \(bound)", nil), ("DPoP \(bound)", nil),
      ("DPoP \(bound)", client.proof("POST", "/a", token: bound)),
    ]
    for (authorization, proof) in wrong {
      let refusal = #expect(throws: TokenRefusal.self) { try access(authorization, proof: proof) }
      #expect(refusal?.status == 401 && refusal?.challenge.hasPrefix("DPoP ") == true)
    }
    let right = client.proof("POST", "/a", at: server, token: bound)
    let accepted = try access("DPoP \(bound)", proof: right)
    #expect(accepted.user == "alice")
    #expect(throws: TokenRefusal.self) { try access("DPoP \(bound)", proof: right) }
    // During a long answer, the sandbox checks again whether the token is valid, without a proof.
    try sandbox.check(accepted)
    let bearer = try access("Bearer \(sandbox.issueTokens().accessToken)")
    sandbox.revokeEverything()
    for (access, scheme) in [(accepted, "DPoP "), (bearer, "Bearer ")] {
      let refusal = #expect(throws: TokenRefusal.self) { try sandbox.check(access) }
      #expect(refusal?.challenge.hasPrefix(scheme) == true)
    }
    await sandbox.stop()
  }
}
