import FoundationEssentials
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

/// The metadata about ID tokens and logouts that a client registers.
@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
  private static let name = "id_token_signed_response_alg"

  private func register(
    _ algorithm: SandboxJSON?, method: String = "client_secret_post", _ peer: SandboxPeer
  ) async throws -> LoopbackAnswer {
    var metadata: SandboxJSON = [
      "grant_types": ["password"], "token_endpoint_auth_method": .string(method),
    ]
    metadata[Self.name] = algorithm
    return try await peer.post("/register", body: metadata.text, type: "application/json")
  }

  @Test(arguments: [nil, "RS256", "ES256", "EdDSA", "PS512", "HS256"])
  func `a client that registers an ID token algorithm gets ID tokens signed with it`(
    algorithm: String?
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let peer = SandboxPeer(sandbox: sandbox)
    let answer = try await register(algorithm.map(SandboxJSON.string), peer)
    #expect(answer.status == 201, "\(answer.text)")
    let client = try answer.json()
    #expect(client[Self.name]?.string == algorithm)
    let form = [
      ("grant_type", "password"), ("username", "alice"), ("password", "alice-password"),
      ("scope", "openid"), ("client_id", try #require(client["client_id"]?.string)),
      ("client_secret", try #require(client["client_secret"]?.string)),
    ]
    let tokens = try await peer.post("/token", form).json()
    let token = try ReadJWT(try #require(tokens["id_token"]?.string))
    #expect(token.header["alg"]?.string == algorithm ?? "RS256")
    await sandbox.stop()
  }

  @Test(
    arguments: [
      ("none", "client_secret_post"), ("RS255", "client_secret_post"), (1, "client_secret_post"),
      // The sandbox of this test does not list ES384.
      ("ES384", "client_secret_post"),
      // Only a client with a secret can verify an HMAC.
      ("HS256", "none"),
    ] as [(SandboxJSON, String)])
  func `an algorithm that the sandbox cannot use is refused`(
    algorithm: SandboxJSON, method: String
  ) async throws {
    var options = SandboxOptions()
    options.openID.algorithms = [.rs256, .hs256]
    let sandbox = try await SandboxServer.start(options)
    let peer = SandboxPeer(sandbox: sandbox)
    let clients = sandbox.clients.count
    let answer = try await register(algorithm, method: method, peer)
    #expect(answer.status == 400 && answer.error == "invalid_client_metadata")
    #expect(sandbox.clients.count == clients)
    await sandbox.stop()
  }

  /// RFC 7592, sections 2.1 and 3.
  @Test func `a client reads the same registration that it got, with the defaults`() async throws {
    let sandbox = try await SandboxServer.start()
    let metadata = #"{"redirect_uris":["https://app.example/"],"client_name":"App"}"#
    let peer = SandboxPeer(sandbox: sandbox)
    let client = try await peer.post("/register", body: metadata, type: "application/json").json()
    #expect(client["grant_types"] == ["authorization_code"])
    #expect(client["token_endpoint_auth_method"] == "client_secret_basic")
    let uri = try #require(client["registration_client_uri"]?.string)
    let token = try #require(client["registration_access_token"]?.string)
    for (method, body) in [("GET", ""), ("PUT", client.text), ("GET", "")] {
      let answer = try await LoopbackClient.send(
        method, try #require(LoopbackURL(uri)),
        headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
        body: Data(body.utf8))
      let read = try answer.json()
      #expect(Set(read.names) == Set(client.names), "\(method)")
      for name in client.names { #expect(read[name] == client[name], "\(method): \(name)") }
    }
    await sandbox.stop()
  }

  @Test func `a client can change its registered ID token algorithm`() async throws {
    let sandbox = try await SandboxServer.start()
    let peer = SandboxPeer(sandbox: sandbox)
    let client = try await register("ES256", peer).json()
    #expect(sandbox.clients.last?.idTokenAlgorithm == .es256)
    let uri = try #require(client["registration_client_uri"]?.string)
    let token = try #require(client["registration_access_token"]?.string)
    for (algorithm, status) in [("PS256", 200), ("none", 400)] {
      let metadata = client.setting(Self.name, to: .string(algorithm))
      let answer = try await LoopbackClient.send(
        "PUT", try #require(LoopbackURL(uri)),
        headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
        body: Data(metadata.text.utf8))
      #expect(answer.status == status, "\(answer.text)")
      #expect(sandbox.clients.last?.idTokenAlgorithm == .ps256)
    }
    await sandbox.stop()
  }

  @Test func `an updated registration keeps the time at which it was made`() async throws {
    let now = Date()
    var options = SandboxOptions()
    options.now = { now }
    let sandbox = try await SandboxServer.start(options)
    let client = try await register("ES256", SandboxPeer(sandbox: sandbox)).json()
    #expect(client["client_id_issued_at"]?.integer == Int(now.timeIntervalSince1970))
    sandbox.advance(by: .seconds(100))
    let uri = try #require(client["registration_client_uri"]?.string)
    let url = try #require(LoopbackURL(uri))
    let token = try #require(client["registration_access_token"]?.string)
    for method in ["PUT", "GET"] {
      let answer = try await LoopbackClient.send(
        method, url,
        headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
        body: Data(method == "PUT" ? client.text.utf8 : "".utf8))
      #expect(answer.status == 200, "\(answer.text)")
      #expect(try answer.json()["client_id_issued_at"] == client["client_id_issued_at"])
    }
    await sandbox.stop()
  }

  @Test(arguments: [
    "javascript:alert(1)", "data:text/html,x", "JavaScript:x", "file:///etc/passwd",
  ])
  func `a redirect URI with a scheme that browsers handle themselves is refused`(uri: String)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let endpoint = try #require(LoopbackURL(sandbox.issuer.absoluteString + "/register"))
    let answer = try await LoopbackClient.send(
      "POST", endpoint, headers: [("Content-Type", "application/json")],
      body: Data(#"{"redirect_uris":["\#(uri)"]}"#.utf8))
    #expect(answer.status == 400 && answer.error == "invalid_redirect_uri", "\(answer.text)")
    await sandbox.stop()
  }

  @Test(arguments: [
    "http://127.0.0.1:9/ HTTP/1.1\r\nX: y", "http://127.0.0.1:9/a b", "http://127.0.0.1:9/\u{E9}",
    "http://127.0.0.1:9/\u{0}", "http://127.0.0.1:9/?\n",
  ])
  func `an address with characters that could change a request line is rejected`(address: String) {
    #expect(LoopbackURL(address) == nil)
  }

  @Test func `a client can register its post-logout redirect URI and back-channel logout URI`()
    async throws
  {
    let tokens = Locked<[String]>([])
    let backend = try LoopbackServer { request in
      let body = String(decoding: request.body, as: UTF8.self)
      if request.method == "POST" { tokens.withLock { $0.append(body) } }
      return .response(LoopbackResponse(status: 200))
    }
    let sandbox = try await SandboxServer.start()
    let peer = SandboxPeer(sandbox: sandbox)
    let target = "http://\(backend.authority)/signed-out"
    let metadata: SandboxJSON = [
      "redirect_uris": [.string(SandboxPeer.redirectURI)], "token_endpoint_auth_method": "none",
      "post_logout_redirect_uris": [.string(target)],
      "backchannel_logout_uri": .string("http://\(backend.authority)/logout"),
    ]
    let answer = try await peer.post("/register", body: metadata.text, type: "application/json")
    #expect(answer.status == 201, "\(answer.text)")
    let id = try #require(try answer.json()["client_id"]?.string)
    let code = try await peer.code(["client_id": id, "scope": "openid"])
    let tokenAnswer = try await peer.redeem(code, ["client_id": id])
    let idToken = try #require(try tokenAnswer.json()["id_token"]?.string)
    let query = SandboxPeer.form([
      ("id_token_hint", idToken), ("post_logout_redirect_uri", target),
    ])
    let url = try #require(URL(string: "\(sandbox.endSessionEndpoint.absoluteString)?\(query)"))
    #expect(try await SandboxVisitor().visit(url).redirect == target)
    await sandbox.signOut()
    let token = try #require(tokens.withLock { $0 }.first)
    let claims = try ReadJWT(String(token.dropFirst("logout_token=".count))).claims
    #expect(claims["aud"]?.string == id)
    await backend.stop()
    await sandbox.stop()
  }

  @Test(
    arguments: [
      ("post_logout_redirect_uris", ["http://app.example/out"], "invalid_redirect_uri"),
      ("post_logout_redirect_uris", ["javascript:alert(1)"], "invalid_redirect_uri"),
      ("backchannel_logout_uri", "http://app.example/logout", "invalid_client_metadata"),
      ("backchannel_logout_uri", "http://127.0.0.1/logout#", "invalid_client_metadata"),
      ("backchannel_logout_uri", 1, "invalid_client_metadata"),
    ] as [(String, SandboxJSON, String)])
  func `an unusable logout address is refused`(
    name: String, value: SandboxJSON, error: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    var metadata: SandboxJSON = [
      "grant_types": ["password"], "token_endpoint_auth_method": "none",
    ]
    metadata[name] = value
    let answer = try await SandboxPeer(sandbox: sandbox).post(
      "/register", body: metadata.text, type: "application/json")
    #expect(answer.status == 400 && answer.error == error, "\(answer.text)")
    await sandbox.stop()
  }
}
