import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct BoundTokenTests {
  /// The form of a pushed request.
  static let signIn = SandboxPeer.signInForm + [("scope", "demo")]

  @Test func `the API accepts a bound token only with a proof by its key`() async throws {
    let sandbox = try await ProvingPeer.start()
    let (client, thief) = (ProvingPeer(sandbox), ProvingPeer(sandbox))
    let code = try await client.peer.code()
    let tokens = try await client.peer.redeem(code, headers: [("DPoP", client.proof())]).tokens()
    #expect(tokens.tokenType == "DPoP")
    let token = tokens.accessToken
    func call(_ peer: ProvingPeer, _ scheme: String = "DPoP", proves: Bool = true) async throws
      -> LoopbackAnswer
    {
      try await peer.api(
        token: token, scheme: scheme,
        proof: proves ? peer.proof("GET", "/api/me", token: token) : nil)
    }
    #expect(try await call(client).status == 200)
    #expect(try await call(client, "dpop").status == 200)
    let refusals = [
      (try await call(thief), "invalid_token"),
      (try await call(client, proves: false), "invalid_dpop_proof"),
      (try await call(client, "Bearer"), "invalid_token"),
      (try await call(client, "Bearer", proves: false), "invalid_token"),
    ]
    for (answer, error) in refusals {
      #expect(answer.status == 401 && answer.error == error)
      #expect(answer.header("www-authenticate")?.hasPrefix("DPoP ") == true)
    }
    await sandbox.stop()
  }

  @Test func `the API accepts a Bearer token with the scheme Bearer but not with DPoP`()
    async throws
  {
    let sandbox = try await ProvingPeer.start { $0.resources.describesItself = false }
    let client = ProvingPeer(sandbox)
    let tokens = try await client.post(ProvingPeer.passwordForm).tokens()
    #expect(tokens.tokenType == "Bearer")
    let token = tokens.accessToken
    #expect(try await client.peer.api("/api/me", token: token).status == 200)
    let proof = client.proof("GET", "/api/me", token: token)
    #expect(try await client.api(token: token, proof: proof).error == "invalid_token")
    let none = try await client.peer.get("/api/me").header("www-authenticate")
    #expect(none == #"Bearer realm="sandbox", DPoP algs="ES256 PS256 EdDSA""#)
    await sandbox.stop()
  }

  @Test func `all protected GET endpoints check the proof`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let scopes = ["openid", "demo", "files"]
    let token = sandbox.issueTokens(scopes: scopes, boundTo: client.thumbprint).accessToken
    let file = sandbox.addFile("a", content: Data("abc".utf8))
    let paths = [
      "/api/me", "/api/DataSourceList", "/userinfo", "/drive/v2/about", "/drive/v2/files",
      "/drive/v2/files/\(file.id)", "/drive/v2/files/\(file.id)?alt=media",
    ]
    for path in paths {
      let proof = client.proof("GET", path, token: token)
      #expect(try await client.api(path, token: token, proof: proof).status == 200)
      #expect(try await client.api(path, token: token, proof: proof).status == 401, "\(path)")
      #expect(try await client.peer.api(path, token: token).error == "invalid_token")
    }
    await sandbox.stop()
  }

  @Test func `an upload with a proof succeeds, and a second upload with the same proof is refused`()
    async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let path = "/upload/drive/v2/files"
    let fields = [
      (name: "Authorization", value: "DPoP " + token),
      ("DPoP", client.proof("POST", path, token: token)),
    ]
    func upload() async throws -> LoopbackAnswer {
      try await client.peer.post(path, body: "abc", type: "text/plain", headers: fields)
    }
    #expect(try await upload().status == 201)
    #expect(try await upload().status == 401)
    await sandbox.stop()
  }

  // MARK: Codes

  @Test(arguments: [true, false])
  func `a code is bound to the key of its sign-in`(isPushed: Bool) async throws {
    let sandbox = try await ProvingPeer.start()
    let (client, thief) = (ProvingPeer(sandbox), ProvingPeer(sandbox))
    func code() async throws -> String {
      guard isPushed else { return try await client.peer.code(["dpop_jkt": client.thumbprint]) }
      let pushed = try await client.post(Self.signIn, to: "/par", client.proof("POST", "/par"))
      let reference = try #require(try pushed.json()["request_uri"]?.string)
      let query = SandboxPeer.form([("client_id", "sandbox-app"), ("request_uri", reference)])
      let url = try #require(
        URL(string: sandbox.authorizationEndpoint.absoluteString + "?" + query))
      let redirect = try await SandboxVisitor().visit(url).redirect
      return try #require(SandboxPeer.parameters(redirect).value("code"))
    }
    let none = try await client.peer.redeem(try await code())
    #expect(none.status == 400 && none.error == "invalid_dpop_proof")
    let other = try await client.peer.redeem(try await code(), headers: [("DPoP", thief.proof())])
    #expect(other.status == 400 && other.error == "invalid_grant")
    let own = try await client.peer.redeem(try await code(), headers: [("DPoP", client.proof())])
    #expect(try own.tokens().tokenType == "DPoP")
    await sandbox.stop()
  }

  @Test func `a pushed request's proof and dpop_jkt must agree`() async throws {
    let sandbox = try await ProvingPeer.start()
    let (client, thief) = (ProvingPeer(sandbox), ProvingPeer(sandbox))
    let form = Self.signIn + [("dpop_jkt", client.thumbprint)]
    let wrong = try await client.post(form, to: "/par", thief.proof("POST", "/par"))
    #expect(wrong.status == 400 && wrong.error == "invalid_dpop_proof")
    let right = try await client.post(form, to: "/par", client.proof("POST", "/par"))
    #expect(right.status == 201)
    let token = try await client.post(form, to: "/par", client.proof("POST", "/token"))
    #expect(token.error == "invalid_dpop_proof", "htu is /token")
    let short = try await client.post(Self.signIn + [("dpop_jkt", "short")], to: "/par")
    #expect(short.error == "invalid_request")
    await sandbox.stop()
  }

  @Test func `the sandbox can require each sign-in to name a DPoP key`() async throws {
    let sandbox = try await ProvingPeer.start { $0.dpop.requiresKeyOfSignIn = true }
    let client = ProvingPeer(sandbox)
    #expect(try await client.peer.redirect().value("error") == "invalid_request")
    let bound = try await client.peer.redirect(["dpop_jkt": client.thumbprint])
    #expect(bound.value("code") != nil)
    #expect(try await client.post(Self.signIn, to: "/par").error == "invalid_request")
    let proven = try await client.post(Self.signIn, to: "/par", client.proof("POST", "/par"))
    #expect(proven.status == 201)
    await sandbox.stop()
  }

  // MARK: Refresh tokens

  @Test func `a public client's refresh token is bound to its key`() async throws {
    let sandbox = try await ProvingPeer.start()
    let (client, thief) = (ProvingPeer(sandbox), ProvingPeer(sandbox))
    let first = try await client.post(ProvingPeer.passwordForm, client.proof()).tokens()
    let token = try #require(first.refreshToken)
    #expect(try await client.refresh(token, proof: nil).error == "invalid_dpop_proof")
    #expect(try await client.refresh(token, proof: thief.proof()).error == "invalid_grant")
    #expect(sandbox.isActive(token), "the refusals did not use up the token")
    let second = try await client.refresh(token, proof: client.proof()).tokens()
    #expect(second.tokenType == "DPoP")
    let next = try #require(second.refreshToken)
    #expect(try await client.refresh(next, proof: thief.proof()).error == "invalid_grant")
    await sandbox.stop()
  }

  @Test func `a confidential client may refresh with a new key`() async throws {
    let sandbox = try await ProvingPeer.start()
    let (old, new) = (ProvingPeer(sandbox), ProvingPeer(sandbox))
    let service = [("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
    let form = ProvingPeer.passwordForm.dropLast() + service
    let first = try await old.post(Array(form), old.proof()).tokens()
    let refresh = [
      ("grant_type", "refresh_token"), ("refresh_token", try #require(first.refreshToken)),
    ]
    let second = try await new.post(refresh + service, new.proof()).tokens()
    let proof = new.proof("GET", "/api/me", token: second.accessToken)
    #expect(try await new.api(token: second.accessToken, proof: proof).status == 200)
    await sandbox.stop()
  }

  // MARK: Policies

  @Test func `a sandbox can require bound tokens of all clients`() async throws {
    let sandbox = try await ProvingPeer.start {
      $0.dpop.policy = .required
      $0.resources.describesItself = false
    }
    let client = ProvingPeer(sandbox)
    let refused = try await client.post(ProvingPeer.passwordForm)
    #expect(refused.status == 400 && refused.error == "invalid_dpop_proof")
    let right = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(try right.tokens().tokenType == "DPoP")
    let bearer = try await client.peer.api("/api/me", token: sandbox.issueTokens().accessToken)
    #expect(bearer.status == 401 && bearer.error == "invalid_token")
    let none = try await client.peer.get("/api/me").header("www-authenticate")
    #expect(none == #"DPoP realm="sandbox", algs="ES256 PS256 EdDSA""#)
    await sandbox.stop()
  }

  @Test func `a client can require bound tokens for itself`() async throws {
    let sandbox = try await ProvingPeer.start { $0.clients[0].requiresBoundTokens = true }
    let client = ProvingPeer(sandbox)
    #expect(try await client.post(ProvingPeer.passwordForm).error == "invalid_dpop_proof")
    let service = [
      ("grant_type", "client_credentials"), ("client_id", "sandbox-service"),
      ("client_secret", "sandbox-secret"),
    ]
    #expect(try await client.post(service).tokens().tokenType == "Bearer")
    let description = #"{"redirect_uris":["https://app.example/"],"dpop_bound_access_tokens":true}"#
    _ = try await client.peer.post("/register", body: description, type: "application/json")
    #expect(sandbox.clients.last?.requiresBoundTokens == true)
    let wrong = description.replacing("true", with: "1")
    let refused = try await client.peer.post("/register", body: wrong, type: "application/json")
    #expect(refused.error == "invalid_client_metadata")
    await sandbox.stop()
  }

  @Test func `a sandbox with DPoP off ignores proofs`() async throws {
    let sandbox = try await ProvingPeer.start { $0.dpop.policy = .off }
    let client = ProvingPeer(sandbox)
    let tokens = try await client.post(ProvingPeer.passwordForm, "not a proof").tokens()
    #expect(tokens.tokenType == "Bearer")
    let code = try await client.peer.code(["dpop_jkt": client.thumbprint])
    #expect(try await client.peer.redeem(code).tokens().tokenType == "Bearer")
    let bound = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    #expect(try await client.peer.api("/api/me", token: bound).status == 200)
    let metadata = try await client.peer.get("/.well-known/openid-configuration").json()
    #expect(metadata["dpop_signing_alg_values_supported"] == nil)
    await sandbox.stop()
  }

  @Test func `metadata lists only the asymmetric algorithms of proofs`() async throws {
    let sandbox = try await ProvingPeer.start { $0.dpop.algorithms = [.es256, .hs256] }
    let metadata = try await SandboxPeer(sandbox: sandbox)
      .get("/.well-known/oauth-authorization-server").json()
    #expect(metadata["dpop_signing_alg_values_supported"] == ["ES256"])
    await sandbox.stop()
  }

  // MARK: What tokens say

  @Test func `JWT access tokens and introspection responses contain the key's thumbprint`()
    async throws
  {
    let sandbox = try await ProvingPeer.start { $0.accessTokenFormat = .jwt(.es256) }
    let client = ProvingPeer(sandbox)
    func introspect(_ token: String) async throws -> SandboxJSON {
      let service = [("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
      return try await client.peer.post("/introspect", [("token", token)] + service).json()
    }
    let cnf: SandboxJSON = ["jkt": .string(client.thumbprint)]
    let bound = try await client.post(ProvingPeer.passwordForm, client.proof()).tokens()
    #expect(try ReadJWT(bound.accessToken).claims["cnf"] == cnf)
    let description = try await introspect(bound.accessToken)
    #expect(description["cnf"] == cnf && description["token_type"] == "DPoP")
    let plain = try await client.post(ProvingPeer.passwordForm).tokens()
    #expect(try ReadJWT(plain.accessToken).claims["cnf"] == nil)
    let other = try await introspect(plain.accessToken)
    #expect(other["cnf"] == nil && other["token_type"] == "Bearer")
    await sandbox.stop()
  }
}
