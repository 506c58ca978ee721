import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

/// The API's description of itself (RFC 9728).
@Suite(.timeLimit(.minutes(1))) struct ResourceMetadataTests {
  private static let wellKnown = "/.well-known/oauth-protected-resource"

  private func start(
    _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> (SandboxServer, SandboxPeer) {
    var options = SandboxOptions()
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  @Test
  func `the origin has resource metadata, and each challenge of the API names the metadata URL`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let origin = sandbox.issuer.absoluteString
    let upload = try await peer.post("/upload/drive/v2/files", body: "x", type: "text/plain")
    var challenges = [upload.header("www-authenticate")]
    for path in ["/api/me", "/api/DataSourceList", "/drive/v2/about"] {
      challenges.append(try await peer.get(path).header("www-authenticate"))
    }
    let expected = "Bearer realm=\"sandbox\", resource_metadata=\"\(origin)\(Self.wellKnown)\""
    #expect(challenges == Array(repeating: expected, count: 4))
    let answer = try await peer.get(Self.wellKnown)
    #expect(answer.status == 200 && answer.header("content-type") == "application/json")
    let document = try answer.json()
    #expect(document["resource"]?.string == origin)
    #expect(document["authorization_servers"]?.array == [.string(origin)])
    #expect(document["scopes_supported"]?.array == ["profile", "demo", "files"])
    #expect(document["bearer_methods_supported"]?.array == ["header"])
    #expect(document["dpop_signing_alg_values_supported"] == nil)
    #expect(try await peer.get(Self.wellKnown + "/api/me").status == 404)
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["protected_resources"]?.array == [.string(origin)])
    #expect(sandbox.requests(to: .resourceMetadata).count == 2)
    await sandbox.stop()
  }

  @Test func `each path of the API can have its own resource metadata`() async throws {
    let (sandbox, peer) = try await start { $0.resources.extent = .path }
    let origin = sandbox.issuer.absoluteString
    let address = "\(origin)\(Self.wellKnown)/api/me"
    let challenge = try await peer.get("/api/me").header("www-authenticate")
    #expect(challenge == "Bearer realm=\"sandbox\", resource_metadata=\"\(address)\"")
    let document = try await peer.get(Self.wellKnown + "/api/me").json()
    #expect(document["resource"]?.string == origin + "/api/me")
    #expect(try await peer.get(Self.wellKnown).status == 404)
    #expect(try await peer.get(Self.wellKnown + "/token").status == 404)
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["protected_resources"]?.array.contains(.string(origin + "/api/me")) == true)
    await sandbox.stop()
  }

  @Test
  func `if each path has its own resource metadata, all files of the drive share one document`()
    async throws
  {
    let (sandbox, peer) = try await start { $0.resources.extent = .path }
    let resource = sandbox.url(.driveFiles).absoluteString
    let address = "\(sandbox.issuer.absoluteString)\(Self.wellKnown)/drive/v2/files"
    let file = "/drive/v2/files/\(try #require(sandbox.files().first).id)"
    for path in ["/drive/v2/files", file, file + "?alt=media"] {
      let challenge = try await peer.get(path).header("www-authenticate")
      #expect(challenge == "Bearer realm=\"sandbox\", resource_metadata=\"\(address)\"")
    }
    let document = try await peer.get(Self.wellKnown + "/drive/v2/files").json()
    #expect(document["resource"]?.string == resource)
    let token = sandbox.issueTokens(audiences: [resource]).accessToken
    #expect(try await peer.api(file, token: token).status == 200)
    #expect(try await peer.api("/drive/v2/about", token: token).status == 401)
    await sandbox.stop()
  }

  @Test func `an insufficient_scope challenge also names the address of the resource metadata`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let token = sandbox.issueTokens(scopes: ["profile"]).accessToken
    let answer = try await peer.api("/api/DataSourceList", token: token)
    #expect(answer.status == 403)
    #expect(
      answer.header("www-authenticate")?.hasSuffix(
        "scope=\"demo\", resource_metadata=\"\(sandbox.issuer.absoluteString)\(Self.wellKnown)\"")
        == true)
    let userInfo = try await peer.get("/userinfo").header("www-authenticate")
    #expect(userInfo == "Bearer realm=\"sandbox\"", "UserInfo belongs to the server")
    await sandbox.stop()
  }

  @Test func `the sandbox can omit resource metadata and its address in challenges`() async throws {
    let (sandbox, peer) = try await start { $0.resources.describesItself = false }
    #expect(try await peer.get(Self.wellKnown).status == 404)
    let challenge = try await peer.get("/api/me").header("www-authenticate")
    #expect(challenge == "Bearer realm=\"sandbox\"")
    let metadata = try await peer.get(sandbox.url(.metadata)).json()
    #expect(metadata["protected_resources"] == nil)
    await sandbox.stop()
  }

  @Test func `the resource metadata has the servers, scopes and DPoP settings of the options`()
    async throws
  {
    let (sandbox, peer) = try await start { options in
      options.resources.authorizationServers = ["https://a.example.com", "https://b.example.com"]
      options.resources.scopes = ["profile"]
      options.dpop = SandboxDPoPOptions(.required)
    }
    let document = try await peer.get(Self.wellKnown).json()
    #expect(
      document["authorization_servers"]?.array
        == ["https://a.example.com", "https://b.example.com"])
    #expect(document["scopes_supported"]?.array == ["profile"])
    #expect(document["dpop_bound_access_tokens_required"] == .bool(true))
    #expect(document["dpop_signing_alg_values_supported"]?.array == ["ES256", "PS256", "EdDSA"])
    await sandbox.stop()
  }

  @Test(arguments: SandboxResourceFault.allCases)
  func `each fault changes one resource metadata response`(fault: SandboxResourceFault) async throws
  {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .resourceMetadata, .resourceMetadata(fault))
    let answer = try await peer.get(Self.wellKnown)
    let document = SandboxJSON(parsing: answer.text)
    switch fault {
    case .otherResource:
      #expect(document?["resource"]?.string == "https://other.example.com/api")
    case .noResource: #expect(document?.names.contains("resource") == false)
    case .redirect:
      #expect(answer.status == 302 && answer.header("location") == Self.wellKnown + "?moved")
    case .html:
      #expect(answer.status == 200 && answer.header("content-type")?.contains("html") == true)
    case .large: #expect(answer.body.count > 5_000_000 && document?["resource"] != nil)
    case .noServers: #expect(document?["authorization_servers"]?.array == [])
    case .manyServers: #expect(document?["authorization_servers"]?.array.count == 100)
    case .insecureServer:
      #expect(document?["authorization_servers"]?.array == ["http://id.example.com"])
    case .notFound: #expect(answer.status == 404)
    case .unavailable: #expect(answer.status == 503)
    }
    let next = try await peer.get(Self.wellKnown).json()
    #expect(next["resource"]?.string == sandbox.issuer.absoluteString)
    #expect(next["authorization_servers"]?.array.count == 1)
    await sandbox.stop()
  }

  @Test func `a challenge can name resource metadata at another server`() async throws {
    let (sandbox, peer) = try await start()
    let token = sandbox.issueTokens().accessToken
    sandbox.misbehave(at: .me, .challenge(naming: "https://other.example.com/x"))
    let answer = try await peer.api("/api/me", token: token)
    #expect(answer.status == 401)
    #expect(
      answer.header("www-authenticate")
        == "Bearer realm=\"sandbox\", resource_metadata=\"https://other.example.com/x\"")
    #expect(try await peer.api("/api/me", token: token).status == 200)
    await sandbox.stop()
  }
}
