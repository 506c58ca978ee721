import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct AuthorizationDetailsTests {
  private static let payment = #"""
    {"type":"payment_initiation","instructedAmount":{"currency":"EUR","amount":"123.50"},
    "creditorName":"Merchant <A>"}
    """#
  private static let file = #"{"type":"genome_file","identifier":"7","actions":["read","delete"]}"#
  private static let both = "[\(payment),\(file)]"

  private func start(_ change: (inout SandboxOptions) -> Void = { _ in }) async throws
    -> (SandboxServer, SandboxPeer)
  {
    var options = SandboxOptions()
    options.authorizationDetailsTypes = [.payment, .genomeFile]
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  private func json(_ text: String) throws -> SandboxJSON {
    try #require(SandboxJSON(parsing: text))
  }

  private func introspect(_ token: String, _ peer: SandboxPeer) async throws -> SandboxJSON {
    let service = [("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
    return try await peer.post("/introspect", [("token", token)] + service).json()
  }

  @Test func `requested details appear on the consent page, in tokens and in introspection`()
    async throws
  {
    let (sandbox, peer) = try await start { $0.accessTokenFormat = .jwt(.es256) }
    let visit = try await SandboxVisitor().visit(
      try peer.authorizationURL(["authorization_details": Self.both, "scope": nil]))
    let page = try #require(visit.pages.first { $0.body.contains("It will be able to") })
    #expect(
      page.body.contains(
        "Make a payment (creditorName: Merchant &lt;A&gt;; "
          + "instructedAmount: amount: 123.50; currency: EUR)"))
    #expect(page.body.contains("Use one genome file (actions: read, delete; identifier: 7)"))
    #expect(!page.body.contains("See your name"), "no scope was asked for")
    let code = try #require(SandboxPeer.parameters(visit.redirect).value("code"))
    let answer = try await peer.redeem(code).json()
    let granted = try json(Self.both)
    #expect(answer["authorization_details"] == granted && answer["scope"] == nil)
    let token = try #require(answer["access_token"]?.string)
    #expect(try ReadJWT(token).claims["authorization_details"] == granted)
    #expect(try await introspect(token, peer)["authorization_details"] == granted)
    let refresh = try #require(answer["refresh_token"]?.string)
    #expect(try await introspect(refresh, peer)["authorization_details"] == granted)
    #expect(try await peer.refresh(refresh).json()["authorization_details"] == granted)
    await sandbox.stop()
  }

  @Test func `a token response without details has no authorization_details`() async throws {
    let (sandbox, peer) = try await start()
    let answer = try await peer.redeem(try await peer.code()).json()
    #expect(answer["authorization_details"] == nil && answer["scope"] == "profile demo")
    await sandbox.stop()
  }

  @Test(arguments: [
    "", "x", "{}", "[]", "[1]", "[{}]", #"[{"type":1}]"#, #"[{"type":"unknown"}]"#,
    #"[{"type":"payment_initiation","creditorName":"Merchant"}]"#,
    #"[{"type":"genome_file","identifier":"7","more":1}]"#,
    #"[{"type":"genome_file","identifier":"7"},{"type":"unknown"}]"#,
  ])
  func `each endpoint refuses wrong authorization details`(text: String) async throws {
    let (sandbox, peer) = try await start()
    let error = "invalid_authorization_details"
    #expect(try await peer.redirect(["authorization_details": text]).value("error") == error)
    let details = ("authorization_details", text)
    let pushed = try await peer.post("/par", BoundTokenTests.signIn + [details])
    #expect(pushed.status == 400 && pushed.error == error)
    let token = try await peer.post("/token", ProvingPeer.passwordForm + [details])
    #expect(token.status == 400 && token.error == error)
    let device = try await peer.post(
      "/device_authorization", [("client_id", "sandbox-app"), details])
    #expect(device.status == 400 && device.error == error)
    await sandbox.stop()
  }

  @Test func `a client can be limited to some types of authorization details`() async throws {
    let (sandbox, peer) = try await start {
      $0.clients[0].authorizationDetailsTypes = ["genome_file"]
    }
    let refused = try await peer.redirect(["authorization_details": "[\(Self.payment)]"])
    #expect(refused.value("error") == "invalid_authorization_details")
    let right = try await peer.redirect(["authorization_details": "[\(Self.file)]"])
    #expect(right.value("code") != nil)
    let description =
      #"{"redirect_uris":["https://app.example/"],"authorization_details_types":["genome_file"]}"#
    _ = try await peer.post("/register", body: description, type: "application/json")
    #expect(sandbox.clients.last?.authorizationDetailsTypes == ["genome_file"])
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (#"[{"type":"genome_file","identifier":"7","actions":["read"]}]"#, true),
      ("[\(file)]", true),
      (#"[{"type":"genome_file","identifier":"8","actions":["read"]}]"#, false),
      (#"[{"type":"genome_file","identifier":"7","actions":["write"]}]"#, false),
      (#"[{"type":"genome_file","identifier":"7","acts":["read"]}]"#, false),
      (#"[{"type":"genome_file","identifier":"7"}]"#, false), ("[]", false), ("x", false),
    ] as [(String, Bool)])
  func `a token request may ask for fewer details than were granted but not for others`(
    text: String, isAllowed: Bool
  ) async throws {
    let (sandbox, peer) = try await start()
    let error = "invalid_authorization_details"
    let code = try await peer.code(["authorization_details": Self.both])
    let first = try await peer.redeem(code, ["authorization_details": text])
    #expect(first.error == (isAllowed ? nil : error))
    if isAllowed { #expect(try first.json()["authorization_details"] == json(text)) }
    let second = try await peer.redeem(
      try await peer.code(["authorization_details": Self.both]))
    let form = [
      ("grant_type", "refresh_token"), ("client_id", "sandbox-app"),
      ("refresh_token", try #require(try second.json()["refresh_token"]?.string)),
      ("authorization_details", text),
    ]
    let refreshed = try await peer.post("/token", form)
    #expect(refreshed.error == (isAllowed ? nil : error))
    if isAllowed {
      let answer = try refreshed.json()
      #expect(try answer["authorization_details"] == json(text))
      let next = try await peer.refresh(try #require(answer["refresh_token"]?.string))
      #expect(try next.json()["authorization_details"] == json(Self.both), "the grant keeps both")
    }
    await sandbox.stop()
  }

  @Test func `the password grant and device sign-ins also get authorization details`() async throws
  {
    let (sandbox, peer) = try await start()
    let details = ("authorization_details", "[\(Self.file)]")
    let answer = try await peer.post("/token", ProvingPeer.passwordForm + [details]).json()
    #expect(try answer["authorization_details"] == json("[\(Self.file)]"))
    #expect(answer["scope"] == nil)
    let device = try await peer.post(
      "/device_authorization", [("client_id", "sandbox-app"), details]
    ).json()
    let pages = try await SandboxVisitor().enterCode(
      try #require(device["user_code"]?.string), at: sandbox.url(.device))
    #expect(pages.contains { $0.body.contains("Use one genome file") })
    let token = try await peer.post(
      "/token",
      [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", try #require(device["device_code"]?.string)),
        ("client_id", "sandbox-app"),
      ])
    #expect(try token.json()["authorization_details"] == json("[\(Self.file)]"))
    await sandbox.stop()
  }

  @Test func `the user must consent to authorization details at each sign-in`() async throws {
    let (sandbox, peer) = try await start()
    let visitor = SandboxVisitor()
    _ = try await peer.redirect(["authorization_details": Self.both], visitor: visitor)
    let silent = ["prompt": "none", "scope": "demo"]
    let plain = try await peer.redirect(
      silent.merging(["authorization_details": Self.both]) { $1 }, visitor: visitor)
    #expect(plain.value("error") == "consent_required")
    #expect(try await peer.redirect(silent, visitor: visitor).value("code") != nil)
    await sandbox.stop()
  }

  @Test func `metadata lists the types, and a sandbox without types ignores details`() async throws
  {
    let (sandbox, peer) = try await start()
    let name = "authorization_details_types_supported"
    let path = "/.well-known/oauth-authorization-server"
    #expect(try await peer.get(path).json()[name] == ["payment_initiation", "genome_file"])
    await sandbox.stop()
    let plain = try await SandboxServer.start()
    let other = SandboxPeer(sandbox: plain)
    #expect(try await other.get(path).json()[name] == nil)
    let code = try await other.code(["authorization_details": "x"])
    #expect(try await other.redeem(code).json()["authorization_details"] == nil)
    await plain.stop()
  }

  @Test(
    arguments: [
      (.fewerAuthorizationDetails, ["payment_initiation"]),
      (.otherAuthorizationDetails, ["another-type", "another-type"]),
      (.moreAuthorizationDetails, ["payment_initiation", "genome_file", "another-type"]),
      (.authorizationDetails { _ in [] }, []),
    ] as [(SandboxMisbehaviour, [String])])
  func `the sandbox can grant other details than requested, in one response only`(
    misbehaviour: SandboxMisbehaviour, types: [String]
  ) async throws {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .token, misbehaviour)
    _ = try await peer.redeem(try await peer.code())
    let code = try await peer.code(["authorization_details": Self.both])
    let answer = try await peer.redeem(code).json()
    #expect((answer["authorization_details"]?.array ?? []).map { $0["type"]?.string } == types)
    let token = try #require(answer["access_token"]?.string)
    let told = try await introspect(token, peer)["authorization_details"]
    #expect(told == answer["authorization_details"])
    let refresh = try #require(answer["refresh_token"]?.string)
    let next = try await peer.refresh(refresh).json()
    #expect(try next["authorization_details"] == json(Self.both))
    await sandbox.stop()
  }
}
