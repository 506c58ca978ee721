import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct SignedRequestTests {
  /// The key of the client `signer`, which has no other proof of its identity.
  private static let key = SigningKey(generating: .es256)

  /// One way to make a signed request wrong, with a word of the error's description.
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let word: String
    let change: @Sendable (inout SandboxJWT) -> Void

    init(
      _ name: String, _ word: String, _ change: @escaping @Sendable (inout SandboxJWT) -> Void
    ) {
      testDescription = name
      self.word = word
      self.change = change
    }
  }

  private func start(_ change: (inout SandboxOptions) -> Void = { _ in }) async throws
    -> (SandboxServer, SandboxPeer)
  {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
    options.requestObjectAlgorithms = [.es256]
    var client = SandboxClient(id: "signer", redirectURIs: [SandboxPeer.redirectURI])
    client.keys = [Self.key.json(namesKey: true)]
    options.clients.append(client)
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  /// Returns a valid request object to which `change` was applied.
  private func object(
    _ sandbox: SandboxServer, _ change: (inout SandboxJWT) -> Void = { _ in }
  ) -> String {
    let claims: SandboxJSON = [
      "iss": "signer", "aud": .string(sandbox.issuer.absoluteString), "client_id": "signer",
      "iat": 1_900_000_000, "nbf": 1_900_000_000, "exp": 1_900_000_300, "jti": "1",
      "response_type": "code", "redirect_uri": .string(SandboxPeer.redirectURI),
      "scope": "demo", "state": "inside", "code_challenge": .string(SandboxPeer.challenge),
      "code_challenge_method": "S256",
    ]
    var jwt = SandboxJWT(claims, type: "oauth-authz-req+jwt", key: Self.key, namesKey: true)
    change(&jwt)
    return jwt.signed
  }

  /// Returns the address of a sign-in with a signed request and other parameters.
  private func url(
    _ object: String?, at sandbox: SandboxServer, _ others: [(String, String)] = []
  ) throws -> URL {
    let form = [("client_id", "signer")] + (object.map { [("request", $0)] } ?? []) + others
    let query = SandboxPeer.form(form)
    return try #require(URL(string: "\(sandbox.authorizationEndpoint.absoluteString)?\(query)"))
  }

  private func visit(_ url: URL) async throws -> [(name: String, value: String)] {
    SandboxPeer.parameters(try await SandboxVisitor().visit(url).redirect)
  }

  @Test func `parameters outside the signed request are ignored`() async throws {
    let (sandbox, peer) = try await start()
    let address = try url(
      object(sandbox), at: sandbox, [("state", "outside"), ("scope", "files")])
    let redirect = try await visit(address)
    #expect(redirect.value("state") == "inside")
    let code = try #require(redirect.value("code"))
    let tokens = try await peer.redeem(code, ["client_id": "signer"]).tokens()
    #expect(tokens.scope == "demo")
    let logged = try #require(sandbox.requests(to: .authorization).first)
    #expect(logged.requestObjectClaims?["state"] == "inside")
    await sandbox.stop()
  }

  @Test func `the visitor returns an https redirect that only the signed request names`()
    async throws
  {
    let uri = "https://app.example/callback"
    let (sandbox, _) = try await start { $0.clients[2].redirectURIs.append(uri) }
    let text = object(sandbox) { $0.claims["redirect_uri"] = .string(uri) }
    let redirect = try await SandboxVisitor().visit(try url(text, at: sandbox)).redirect
    #expect(redirect.hasPrefix(uri + "?"))
    #expect(SandboxPeer.parameters(redirect).value("code") != nil)
    await sandbox.stop()
  }

  @Test func `a JSON array and a number in a signed request are read as parameters`() async throws {
    let (sandbox, _) = try await start { $0.authorizationDetailsTypes = [.genomeFile] }
    let text = object(sandbox) { jwt in
      jwt.claims["authorization_details"] = [["type": "genome_file", "identifier": "7"]]
      jwt.claims["max_age"] = 60
    }
    let address = try url(text, at: sandbox)
    let visitor = SandboxVisitor()
    let visit = try await visitor.visit(address)
    #expect(visit.pages.contains { $0.body.contains("Use one genome file (identifier: 7)") })
    // A login stays valid for the 60 seconds of max_age.
    sandbox.advance(by: .seconds(60))
    #expect(try await !visitor.visit(address).sawLogin)
    sandbox.advance(by: .seconds(1))
    #expect(try await visitor.visit(address).sawLogin)
    await sandbox.stop()
  }

  static let faults: [Fault] = [
    Fault("another typ", "typ") { $0.header["typ"] = "JWT" },
    Fault("an unsupported algorithm", "alg") { $0.header["alg"] = "PS256" },
    Fault("none as alg", "alg") { $0.header["alg"] = "none" },
    Fault("another key", "keys") { $0.key = SigningKey(generating: .es256) },
    Fault("another kid", "keys") { $0.header["kid"] = "another" },
    Fault("no iss", "iss") { $0.claims["iss"] = nil },
    Fault("another iss", "iss") { $0.claims["iss"] = "sandbox-app" },
    Fault("no client_id", "client_id") { $0.claims["client_id"] = nil },
    Fault("another client_id", "client_id") { $0.claims["client_id"] = "sandbox-app" },
    Fault("no aud", "aud") { $0.claims["aud"] = nil },
    Fault("another aud", "aud") { $0.claims["aud"] = ["https://other.example"] },
    Fault("a request inside", "another request") { $0.claims["request"] = "x" },
    Fault("a reference inside", "another request") { $0.claims["request_uri"] = "urn:x" },
    Fault("no exp", "exp") { $0.claims["exp"] = nil },
    Fault("an old exp", "expired") { $0.claims["exp"] = 1_899_999_990 },
    Fault("nbf in the future", "not valid yet") { $0.claims["nbf"] = 1_900_000_011 },
    Fault("nbf as a string", "nbf") { $0.claims["nbf"] = "1900000000" },
    Fault("an old nbf", "past") { $0.claims["nbf"] = 1_899_996_399 },
    Fault("a long life", "too long") { $0.claims["exp"] = 1_900_003_601 },
    Fault("a long life without nbf", "future") {
      $0.claims["nbf"] = nil
      $0.claims["exp"] = 1_900_003_601
    },
  ]

  @Test(arguments: faults)
  func `a wrong signed request is refused`(fault: Fault) async throws {
    let (sandbox, peer) = try await start()
    let text = object(sandbox, fault.change)
    let redirect = try await visit(try url(text, at: sandbox))
    #expect(redirect.value("error") == "invalid_request_object")
    #expect(redirect.value("error_description")?.contains(fault.word) == true)
    #expect(redirect.value("state") == "inside" && redirect.value("code") == nil)
    let pushed = try await peer.post("/par", [("client_id", "signer"), ("request", text)])
    #expect(pushed.status == 400 && pushed.error == "invalid_request_object")
    let right = try await visit(try url(object(sandbox), at: sandbox))
    #expect(right.value("code") != nil)
    await sandbox.stop()
  }

  @Test func `a signed request without typ and nbf and with several audiences is accepted`()
    async throws
  {
    let (sandbox, _) = try await start()
    let text = object(sandbox) { jwt in
      jwt.header["typ"] = nil
      jwt.claims["nbf"] = nil
      jwt.claims["aud"] = ["https://other.example", .string(sandbox.issuer.absoluteString)]
    }
    #expect(try await visit(try url(text, at: sandbox)).value("code") != nil)
    await sandbox.stop()
  }

  @Test
  func `a signed request without a registered redirect URI ends on an error page of the server`()
    async throws
  {
    let (sandbox, _) = try await start()
    let foreign = object(sandbox) { jwt in
      jwt.claims["redirect_uri"] = "https://evil.example/"
      jwt.claims["aud"] = nil
    }
    for text in [foreign, "not-a-jwt", "a.b.c"] {
      let address = try url(text, at: sandbox)
      let error = await #expect(throws: SandboxError.self) {
        try await SandboxVisitor().visit(address)
      }
      guard case .endedOnPage(let heading, _)? = error else { throw try #require(error) }
      #expect(heading == "This link is not valid")
    }
    await sandbox.stop()
  }

  @Test func `a signed request can be pushed, but not together with unsigned parameters`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let form = [("client_id", "signer"), ("request", object(sandbox))]
    let mixed = try await peer.post("/par", form + [("scope", "files")])
    #expect(mixed.error == "invalid_request")
    let reference = try await peer.post("/par", form).json()["request_uri"]?.string
    let address = try url(nil, at: sandbox, [("request_uri", try #require(reference))])
    let redirect = try await visit(address)
    #expect(redirect.value("code") != nil && redirect.value("state") == "inside")
    await sandbox.stop()
  }

  @Test func `the sandbox can require signed requests of all clients or of one client`()
    async throws
  {
    for all in [true, false] {
      let (sandbox, peer) = try await start { options in
        options.requiresSignedRequests = all
        options.clients[2].requiresSignedRequests = !all
      }
      let plain = try await visit(try peer.authorizationURL(["client_id": "signer"]))
      #expect(plain.value("error") == "invalid_request")
      let other = try await peer.redirect()
      #expect((other.value("error") == "invalid_request") == all)
      let pushed = try await peer.post("/par", BoundTokenTests.signIn)
      #expect((pushed.error == "invalid_request") == all)
      #expect(try await visit(try url(object(sandbox), at: sandbox)).value("code") != nil)
      await sandbox.stop()
    }
  }

  @Test func `a server can require nbf in signed requests`() async throws {
    let (sandbox, _) = try await start { $0.requestObjectsNeedStart = true }
    let text = object(sandbox) { $0.claims["nbf"] = nil }
    let redirect = try await visit(try url(text, at: sandbox))
    #expect(redirect.value("error") == "invalid_request_object")
    await sandbox.stop()
  }

  @Test func `the metadata lists signed requests, and a client can register that it requires them`()
    async throws
  {
    let path = "/.well-known/openid-configuration"
    let (sandbox, peer) = try await start { $0.requiresSignedRequests = true }
    let metadata = try await peer.get(path).json()
    #expect(metadata["request_parameter_supported"] == true)
    #expect(metadata["require_signed_request_object"] == true)
    #expect(metadata["request_object_signing_alg_values_supported"] == ["ES256"])
    let description =
      #"{"redirect_uris":["https://a.example/"],"require_signed_request_object":true}"#
    _ = try await peer.post("/register", body: description, type: "application/json")
    #expect(sandbox.clients.last?.requiresSignedRequests == true)
    await sandbox.stop()
    let plain = try await SandboxServer.start()
    let document = try await SandboxPeer(sandbox: plain).get(path).json()
    #expect(document["request_parameter_supported"] == false)
    #expect(document["require_signed_request_object"] == nil)
    await plain.stop()
  }
}
