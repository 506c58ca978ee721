import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

/// The resources that requests name in `resource` (RFC 8707).
@Suite(.timeLimit(.minutes(1))) struct ResourceIndicatorTests {
  private static let one = "https://one.example.com/api"
  private static let two = "https://two.example.com/api"

  private func start(
    _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> (SandboxServer, SandboxPeer) {
    var options = SandboxOptions()
    options.accessTokenFormat = .jwt(.es256)
    options.audiences = [Self.one, Self.two]
    options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  private func resources(_ names: [String]) -> [(String, String)] { names.map { ("resource", $0) } }

  /// Signs in for some resources, and returns the parameters of the redirect.
  private func signIn(
    for names: [String], _ peer: SandboxPeer
  ) async throws -> [(name: String, value: String)] {
    let url = try peer.authorizationURL().absoluteString
    let query = names.isEmpty ? "" : "&" + SandboxPeer.form(resources(names))
    let visit = try await SandboxVisitor().visit(try #require(URL(string: url + query)))
    return SandboxPeer.parameters(visit.redirect)
  }

  private func redeem(
    _ code: String, for names: [String] = [], _ peer: SandboxPeer
  ) async throws -> LoopbackAnswer {
    try await peer.redeem(code, adding: resources(names))
  }

  private func refresh(
    _ token: String?, for names: [String], _ peer: SandboxPeer
  ) async throws -> LoopbackAnswer {
    try await peer.refresh(try #require(token), adding: resources(names))
  }

  /// Returns the audiences of the JWT in a token response.
  private func audiences(_ answer: LoopbackAnswer) throws -> [String] {
    let claim = try ReadJWT(try answer.tokens().accessToken).claims["aud"]
    return claim?.string.map { [$0] } ?? claim?.array.compactMap(\.string) ?? []
  }

  @Test func `a code exchange or a refresh can narrow the resources, and a refresh cannot add one`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let code = try #require(try await signIn(for: [Self.one, Self.two], peer).value("code"))
    let first = try await redeem(code, for: [Self.one], peer)
    #expect(try audiences(first) == [Self.one])
    let second = try await refresh(first.tokens().refreshToken, for: [Self.two], peer)
    #expect(try audiences(second) == [Self.two])
    let third = try await refresh(second.tokens().refreshToken, for: [], peer)
    #expect(try audiences(third) == [Self.one, Self.two], "the grant still has both")
    let wider = try await refresh(
      third.tokens().refreshToken, for: [sandbox.issuer.absoluteString], peer)
    #expect(wider.status == 400 && wider.error == "invalid_target")
    let again = try await refresh(third.tokens().refreshToken, for: [Self.one], peer)
    #expect(try audiences(again) == [Self.one], "the refusal did not use up the token")
    await sandbox.stop()
  }

  @Test
  func `without a resource a token is for the issuer, and introspection shows aud and auth_time`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let plain = try #require(try await signIn(for: [], peer).value("code"))
    let answer = try await redeem(plain, peer)
    #expect(try audiences(answer) == [sandbox.issuer.absoluteString])
    let code = try #require(try await signIn(for: [Self.two], peer).value("code"))
    let token = try await redeem(code, peer).tokens().accessToken
    let described = try await peer.post(
      "/introspect",
      [("token", token), ("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
    ).json()
    #expect(described["aud"]?.string == Self.two)
    #expect(described["acr"]?.string == "urn:sandbox:password")
    #expect(described["auth_time"]?.integer == 1_700_000_000)
    await sandbox.stop()
  }

  @Test(arguments: [
    "https://three.example.com/", "https://one.example.com/api#part", "api", "//one.example.com",
  ])
  func `every endpoint refuses an unknown or relative resource and a resource with a fragment`(
    name: String
  ) async throws {
    let (sandbox, peer) = try await start()
    let redirect = try await signIn(for: [Self.one, name], peer)
    #expect(redirect.value("error") == "invalid_target" && redirect.value("code") == nil)
    let pushed = try await peer.post("/par", SandboxPeer.signInForm + [("resource", name)])
    #expect(pushed.error == "invalid_target")
    let device = try await peer.post(
      "/device_authorization", [("client_id", "sandbox-app"), ("resource", name)])
    #expect(device.error == "invalid_target")
    let machine = try await peer.post(
      "/token",
      [
        ("grant_type", "client_credentials"), ("client_id", "sandbox-service"),
        ("client_secret", "sandbox-secret"), ("resource", name),
      ])
    #expect(machine.error == "invalid_target")
    await sandbox.stop()
  }

  @Test func `tokens of pushed and device sign-ins are for the resources in their requests`()
    async throws
  {
    let (sandbox, peer) = try await start()
    let pushed = try await peer.post(
      "/par", SandboxPeer.signInForm + [("state", "s")] + resources([Self.one, Self.two])
    ).json()
    let query = SandboxPeer.form([
      ("client_id", "sandbox-app"), ("request_uri", try #require(pushed["request_uri"]?.string)),
    ])
    let url = "\(sandbox.authorizationEndpoint.absoluteString)?\(query)"
    let visit = try await SandboxVisitor().visit(try #require(URL(string: url)))
    let code = try #require(SandboxPeer.parameters(visit.redirect).value("code"))
    #expect(try audiences(try await redeem(code, peer)) == [Self.one, Self.two])

    let begun = try await peer.post(
      "/device_authorization", [("client_id", "sandbox-app")] + resources([Self.two])
    ).json()
    try await SandboxVisitor().enterCode(
      try #require(begun["user_code"]?.string), at: sandbox.url(.device))
    let form = [
      ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
      ("device_code", try #require(begun["device_code"]?.string)), ("client_id", "sandbox-app"),
    ]
    let other = try await peer.post("/token", form + resources([Self.one]))
    #expect(other.error == "invalid_target")
    #expect(try audiences(try await peer.post("/token", form)) == [Self.two])
    await sandbox.stop()
  }

  @Test(arguments: [
    (SandboxResourceOptions.AudienceRule.any, [200, 200, 200]),
    (.notForOthers, [200, 401, 200]), (.named, [401, 401, 200]),
  ])
  func `the audience rule in the options determines which tokens the API accepts`(
    rule: SandboxResourceOptions.AudienceRule, statuses: [Int]
  ) async throws {
    let (sandbox, peer) = try await start { $0.resources.audienceRule = rule }
    let own = sandbox.issuer.absoluteString
    for (audiences, status) in zip([[], [Self.one], [Self.one, own]], statuses) {
      let token = sandbox.issueTokens(audiences: audiences).accessToken
      let answer = try await peer.api("/api/me", token: token)
      #expect(answer.status == status, "\(audiences)")
      guard status == 401 else { continue }
      let challenge = answer.header("www-authenticate")
      #expect(challenge?.contains("error=\"invalid_token\"") == true)
    }
    await sandbox.stop()
  }

  @Test
  func `if each path of the API is a resource, a token for one path is refused at another path`()
    async throws
  {
    let (sandbox, peer) = try await start { $0.resources.extent = .path }
    let token = sandbox.issueTokens(audiences: [sandbox.url(.me).absoluteString]).accessToken
    #expect(try await peer.api("/api/me", token: token).status == 200)
    #expect(try await peer.api("/api/DataSourceList", token: token).status == 401)
    await sandbox.stop()
  }

  @Test func `the consent page names the resources`() async throws {
    let (sandbox, peer) = try await start()
    let pages = try await SandboxVisitor().visit(
      try peer.authorizationURL(["resource": Self.one])
    ).pages
    #expect(pages.contains { $0.body.contains("<code>\(Self.one)</code>. It will be able to") })
    await sandbox.stop()
  }
}
