import FoundationEssentials
import SQCrypto
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct TokenTests {
  @Test func `a code is exchanged for tokens`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.redeem(try await client.code())
    let tokens = try answer.tokens()
    #expect(tokens.tokenType == "Bearer")
    #expect(tokens.expiresIn == 3600)
    #expect(tokens.scope == "profile demo")
    #expect(tokens.refreshToken != nil)
    #expect(answer.header("content-type") == "application/json")
    #expect(answer.header("cache-control") == "no-store")
    #expect(sandbox.isActive(tokens.accessToken))
    await sandbox.stop()
  }

  @Test(arguments: [("q=oauth2%2Ftoken", 200), ("client_secret=x", 400), ("q=x&code=y", 400)])
  func `the query of a token request may contain only the parameter q`(query: String, status: Int)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let form = [
      ("grant_type", "password"), ("username", "alice"), ("password", "alice-password"),
      ("client_id", "sandbox-app"),
    ]
    let answer = try await SandboxPeer(sandbox: sandbox).post("/token?\(query)", form)
    #expect(answer.status == status, "\(answer.text)")
    await sandbox.stop()
  }

  @Test func `a code that is used again invalidates its tokens`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let code = try await client.code()
    let tokens = try await client.redeem(code).tokens()
    let again = try await client.redeem(code)
    #expect(again.status == 400)
    #expect(again.error == "invalid_grant")
    #expect(!sandbox.isActive(tokens.accessToken))
    #expect(!sandbox.isActive(try #require(tokens.refreshToken)))
    await sandbox.stop()
  }

  /// RFC 7636, section 4.1.
  @Test(arguments: [("0~_.-", 200), ("0+/=", 400), ("0 é", 400)])
  func `a code_verifier may contain only unreserved characters`(end: String, status: Int)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let verifier = String(repeating: "a", count: 43) + end
    let challenge = Base64URL.encode(Digest.sha256(verifier))
    let code = try await client.code(["code_challenge": challenge])
    let answer = try await client.redeem(code, ["code_verifier": verifier])
    #expect(answer.status == status, "\(answer.text)")
    await sandbox.stop()
  }

  /// RFC 7518, section 3.2, demands a secret that is as long as the hash.
  @Test(arguments: [(.hs256, 32), (.hs384, 48), (.hs512, 64)] as [(SandboxSigningAlgorithm, Int)])
  func `a client signs assertions with its secret by each listed algorithm`(
    algorithm: SandboxSigningAlgorithm, size: Int
  ) async throws {
    let sandbox = try await SandboxServer.start()
    for (length, status) in [(size, 200), (size - 1, 401)] {
      let secret = String(repeating: "s", count: length)
      var client = SandboxClient(id: "signer-\(length)", secret: secret)
      client.authentication = [.clientSecretJWT]
      sandbox.register(client)
      let now = Int(sandbox.now.timeIntervalSince1970)
      let claims: SandboxJSON = [
        "iss": .string(client.id), "sub": .string(client.id), "jti": .string(Crypto.secret("")),
        "aud": .string(sandbox.issuer.absoluteString), "exp": .integer(now + 60),
      ]
      let key = SigningKey(secret: secret, algorithm: algorithm)
      let answer = try await SandboxPeer(sandbox: sandbox).post(
        "/token",
        [
          ("grant_type", "client_credentials"),
          ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
          ("client_assertion", SandboxJWT(claims, key: key, namesKey: false).signed),
        ])
      #expect(answer.status == status, "\(length) bytes: \(answer.text)")
    }
    await sandbox.stop()
  }

  /// A client without the grant type could not use a refresh token.
  @Test func `a client without the grant type refresh_token gets no refresh token`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    for (grants, hasToken) in [(["authorization_code"], false), (nil, true)] as [([String]?, Bool)]
    {
      var app = SandboxClient.app
      app.grantTypes = grants.map { Set($0) }
      sandbox.register(app)
      let tokens = try await client.redeem(try await client.code()).tokens()
      #expect((tokens.refreshToken != nil) == hasToken)
    }
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (["code": nil], 400, "invalid_request"),
      (["code": "unknown"], 400, "invalid_grant"),
      (["redirect_uri": nil], 400, "invalid_grant"),
      (["redirect_uri": "authapp://Default/Authcallback"], 400, "invalid_grant"),
      (["code_verifier": nil], 400, "invalid_grant"),
      (["code_verifier": "short"], 400, "invalid_grant"),
      (["code_verifier": SandboxPeer.challenge], 400, "invalid_grant"),
      (["client_id": nil], 401, "invalid_client"),
      (["client_id": "unknown"], 401, "invalid_client"),
      (["client_id": "sandbox-service", "client_secret": "sandbox-secret"], 400, "invalid_grant"),
      (["client_secret": "guessed"], 401, "invalid_client"),
      (["grant_type": nil], 400, "invalid_request"),
      (["grant_type": "magic"], 400, "unsupported_grant_type"),
      (["grant_type": "client_credentials"], 400, "unauthorized_client"),
    ] as [([String: String?], Int, String)])
  func `a code exchange with a missing or wrong parameter is refused`(
    changes: [String: String?], status: Int, error: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.redeem(try await client.code(), changes)
    #expect(answer.status == status)
    #expect(answer.error == error)
    #expect((answer.header("www-authenticate") == "Basic realm=\"sandbox\"") == (status == 401))
    await sandbox.stop()
  }

  @Test func `a code expires after a minute`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let code = try await client.code()
    sandbox.advance(by: .seconds(61))
    #expect(try await client.redeem(code).error == "invalid_grant")
    await sandbox.stop()
  }

  @Test(arguments: [
    "", "grant_type=password&grant_type=password", "grant_type=%zz", "grant_type=%ff",
    "grant_type=password&%ff=1", "grant_type=password&%ff", "{\"grant_type\":\"password\"}",
  ])
  func `a request body that is not a form or repeats a parameter is rejected`(body: String)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    #expect(try await client.post("/token", body: body).error == "invalid_request")
    let json = try await client.post("/token", body: body, type: "application/json")
    #expect(json.error == "invalid_request")
    #expect(try await client.get("/token").status == 405)
    await sandbox.stop()
  }

  @Test(arguments: ["", ";charset=utf-8", " ; charset=utf-8", "\t;charset=utf-8"])
  func `the content type of a form may have parameters after white space`(parameters: String)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let answer = try await SandboxPeer(sandbox: sandbox).post(
      "/token",
      body: "grant_type=password&username=alice&password=alice-password&client_id=sandbox-app",
      type: "Application/x-www-form-urlencoded" + parameters)
    #expect(answer.status == 200, "\(answer.text)")
    await sandbox.stop()
  }

  /// Returns a Basic authorization header for the text.
  private func basic(_ text: String) -> (name: String, value: String) {
    ("Authorization", "Basic " + Data(text.utf8).base64EncodedString())
  }

  @Test func `credentials must be form-encoded before they are encoded for Basic authentication`()
    async throws
  {
    let secret = "s p+%&=:\u{E9}"
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: "a:b c", secret: secret)]
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let form = [("grant_type", "client_credentials")]
    let encoded = "a%3Ab+c:s+p%2B%25%26%3D%3A%C3%A9"
    let right = try await client.post("/token", form, headers: [basic(encoded)])
    #expect(try right.tokens().refreshToken == nil)
    for wrong in ["a:b c:" + secret, "a%3Ab+c:wrong", "a%3Ab+c", "", ":"] {
      let answer = try await client.post("/token", form, headers: [basic(wrong)])
      #expect(answer.status == 401)
      #expect(answer.error == "invalid_client")
    }
    let posted = form + [("client_id", "a:b c"), ("client_secret", secret)]
    #expect(try await client.post("/token", posted).status == 200)
    // Two authentication methods in one request are invalid.
    let twice = try await client.post("/token", posted, headers: [basic(encoded)])
    #expect(twice.error == "invalid_request")
    await sandbox.stop()
  }

  @Test func `a client must use the authentication method that it registered`() async throws {
    var options = SandboxOptions()
    options.clients[1].authentication = [.basic]
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let form = [("grant_type", "client_credentials")]
    let posted = form + [("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
    #expect(try await client.post("/token", posted).error == "invalid_client")
    let header = basic("sandbox-service:sandbox-secret")
    #expect(try await client.post("/token", form, headers: [header]).status == 200)
    await sandbox.stop()
  }

  @Test func `a password is exchanged for tokens`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    func ask(_ password: String, scope: String) async throws -> LoopbackAnswer {
      try await client.post(
        "/token",
        [
          ("grant_type", "password"), ("username", "bob"), ("password", password),
          ("client_id", "sandbox-app"), ("scope", scope),
        ])
    }
    let tokens = try await ask("bob-password", scope: "demo").tokens()
    #expect(tokens.scope == "demo")
    #expect(tokens.refreshToken != nil)
    let all = SandboxScope.standard.map(\.name).joined(separator: " ")
    #expect(try await ask("bob-password", scope: "").tokens().scope == all)
    #expect(try await ask("wrong", scope: "demo").error == "invalid_grant")
    #expect(try await ask("bob-password", scope: "x").error == "invalid_scope")
    await sandbox.stop()
  }

  @Test func `a closure in the options accepts or rejects the requests of an extension grant`()
    async throws
  {
    let type = "urn:ietf:params:oauth:grant-type:saml2-bearer"
    var options = SandboxOptions()
    options.extensionGrants[type] = { form in
      form.contains { $0.name == "assertion" && $0.value == "good" } ? "carol" : nil
    }
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    func ask(_ form: [(String, String)]) async throws -> LoopbackAnswer {
      try await client.post("/token", [("grant_type", type)] + form)
    }
    let app = ("client_id", "sandbox-app")
    let tokens = try await ask([("assertion", "good"), ("scope", "demo"), app]).tokens()
    #expect(tokens.scope == "demo")
    #expect(sandbox.latestRefreshToken(for: "carol") == tokens.refreshToken)
    #expect(try await ask([("assertion", "bad"), app]).error == "invalid_grant")
    #expect(try await ask([("assertion", "good"), ("scope", "x"), app]).error == "invalid_scope")
    #expect(try await ask([("assertion", "good")]).error == "invalid_client")
    let metadata = try await client.get("/.well-known/oauth-authorization-server").text
    #expect(metadata.contains(#","\#(type)"]"#))
    await sandbox.stop()
    let plain = try await SandboxServer.start()
    let refused = try await SandboxPeer(sandbox: plain).post(
      "/token", [("grant_type", type), ("assertion", "good"), app])
    #expect(refused.error == "unsupported_grant_type")
    await plain.stop()
  }

  @Test func `each refresh yields a new refresh token, and reusing an old one revokes its family`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = sandbox.issueTokens()
    let second = try await client.refresh(first.refreshToken).tokens()
    let third = try await client.refresh(try #require(second.refreshToken)).tokens()
    let newest = try #require(third.refreshToken)
    #expect(sandbox.latestRefreshToken == newest)
    #expect(Set([first.refreshToken, second.refreshToken, newest]).count == 3)
    for token in [first.accessToken, second.accessToken, third.accessToken, newest] {
      #expect(sandbox.isActive(token))
    }
    let stranger = sandbox.issueTokens(for: "bob")
    #expect(try await client.refresh(first.refreshToken).error == "invalid_grant")
    for token in [first.accessToken, second.accessToken, third.accessToken, newest] {
      #expect(!sandbox.isActive(token))
    }
    #expect(try await client.refresh(newest).error == "invalid_grant")
    #expect(sandbox.isActive(stranger.refreshToken))
    await sandbox.stop()
  }

  @Test func `without rotation the refresh token stays valid, and refresh responses omit it`()
    async throws
  {
    var options = SandboxOptions()
    options.rotatesRefreshTokens = false
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens()
    for _ in 0..<2 {
      #expect(try await client.refresh(tokens.refreshToken).tokens().refreshToken == nil)
    }
    await sandbox.stop()
  }

  @Test func `a refresh can narrow the scope but not widen it`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(scopes: ["profile", "demo"])
    func refresh(_ token: String, _ scope: String) async throws -> LoopbackAnswer {
      try await client.post(
        "/token",
        [
          ("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope),
          ("client_id", "sandbox-app"),
        ])
    }
    #expect(try await refresh(tokens.refreshToken, "files").error == "invalid_scope")
    let narrow = try await refresh(tokens.refreshToken, "demo").tokens()
    #expect(narrow.scope == "demo")
    let next = try #require(narrow.refreshToken)
    #expect(try await client.refresh(next).tokens().scope == "profile demo")
    await sandbox.stop()
  }

  @Test func `a token exchange cannot widen the scope of a narrowed token`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let whole = sandbox.issueTokens(scopes: ["profile", "files"])
    let narrow = try await client.refresh(whole.refreshToken, adding: [("scope", "profile")])
      .tokens().accessToken
    func exchange(_ token: String, _ more: [(String, String)] = []) async throws -> LoopbackAnswer {
      let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", token),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("client_id", "sandbox-service"), ("client_secret", "sandbox-secret"),
      ]
      return try await client.post("/token", form + more)
    }
    #expect(try await exchange(narrow, [("scope", "files")]).error == "invalid_scope")
    #expect(try await exchange(narrow).tokens().scope == "profile")
    #expect(try await exchange(whole.accessToken, [("scope", "files")]).tokens().scope == "files")
    await sandbox.stop()
  }

  @Test func `a refresh token works only for its own client`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(to: "sandbox-service")
    #expect(try await client.refresh(tokens.refreshToken).error == "invalid_grant")
    #expect(sandbox.isActive(tokens.refreshToken))
    await sandbox.stop()
  }

  @Test func `only one of many simultaneous refreshes with one token succeeds`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens()
    let successes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<32 {
        group.addTask { try await client.refresh(tokens.refreshToken).status == 200 ? 1 : 0 }
      }
      return try await group.reduce(0, +)
    }
    #expect(successes == 1)
    #expect(sandbox.requests(to: .token).count == 32)
    await sandbox.stop()
  }
}
