import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

/// The sandbox as an authorization server for devices (RFC 8628), tested with plain requests.
@Suite(.timeLimit(.minutes(1))) struct DeviceTests {
  struct Begun: Decodable {
    let deviceCode: String
    let userCode: String
    let verificationUri: String
    let verificationUriComplete: String
    let expiresIn: Int
    let interval: Int
  }

  struct Failure: Decodable {
    let error: String
  }

  let sandbox: SandboxServer
  var client: SandboxPeer { SandboxPeer(sandbox: sandbox) }

  init() async throws {
    var options = SandboxOptions()
    // Only the test moves the clock, so a slow machine changes nothing.
    options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
    sandbox = try await SandboxServer.start(options)
  }

  private func begin(_ form: [(String, String)] = []) async throws -> Begun {
    let answer = try await client.post(
      "/device_authorization", [("client_id", "sandbox-app")] + form)
    #expect(answer.status == 200)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Begun.self, from: answer.body)
  }

  private func poll(_ code: String, client id: String = "sandbox-app") async throws -> String {
    let answer = try await client.post(
      "/token",
      [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code),
        ("client_id", id),
      ])
    if answer.status == 200 { return "token" }
    return try JSONDecoder().decode(Failure.self, from: answer.body).error
  }

  private func page(_ url: String) throws -> URL { try #require(URL(string: url)) }

  @Test func `a device code yields a token exactly once`() async throws {
    let begun = try await begin([("scope", "demo")])
    #expect(begun.expiresIn == 600 && begun.interval == 5)
    #expect(begun.verificationUri == sandbox.url(.device).absoluteString)
    #expect(try await poll(begun.deviceCode) == "authorization_pending")
    let typed = begun.userCode.lowercased().replacing("-", with: " ")
    let pages = try await SandboxVisitor().enterCode(typed, at: page(begun.verificationUri))
    #expect(pages.last?.body.contains("Your device is connected") == true)
    #expect(try await poll(begun.deviceCode) == "token")
    #expect(try await poll(begun.deviceCode) == "invalid_grant")
  }

  @Test func `the complete verification URI contains the user code`() async throws {
    let begun = try await begin()
    let pages = try await SandboxVisitor()
      .enterCode(begun.userCode, at: page(begun.verificationUriComplete))
    #expect(pages.first?.body.contains("Sandbox App") == true)
    #expect(pages.first?.body.contains(begun.userCode) == true)
    #expect(try await poll(begun.deviceCode) == "token")
  }

  @Test func `a device that polls too soon gets slow_down`() async throws {
    let begun = try await begin()
    #expect(try await poll(begun.deviceCode) == "authorization_pending")
    #expect(try await poll(begun.deviceCode) == "slow_down")
    sandbox.advance(by: .seconds(5))
    #expect(try await poll(begun.deviceCode) == "slow_down", "the interval is 10 s now")
    sandbox.advance(by: .seconds(15))
    #expect(try await poll(begun.deviceCode) == "authorization_pending")
  }

  @Test func `a device learns that the user denied access or that its code expired`() async throws {
    let denied = try await begin()
    let pages = try await SandboxVisitor(decision: .deny)
      .enterCode(denied.userCode, at: page(denied.verificationUri))
    #expect(pages.last?.body.contains("not connected") == true)
    #expect(try await poll(denied.deviceCode) == "access_denied")
    let late = try await begin()
    sandbox.advance(by: .seconds(601))
    #expect(try await poll(late.deviceCode) == "expired_token")
    await #expect(throws: SandboxError.self) {
      try await SandboxVisitor().enterCode(late.userCode, at: page(late.verificationUri))
    }
  }

  @Test func `a consent after the device code has expired connects no device`() async throws {
    let begun = try await begin()
    sandbox.advance(by: .seconds(500))
    sandbox.misbehave(
      at: .consent, .hold(until: { [sandbox] in sandbox.advance(by: .seconds(100)) }))
    let pages = try await SandboxVisitor()
      .enterCode(begun.userCode, at: page(begun.verificationUri))
    #expect(pages.last?.body.contains("Your device is not connected") == true)
    #expect(try await poll(begun.deviceCode) == "expired_token")
  }

  @Test func `a device whose user cancels the login gets access_denied`() async throws {
    let begun = try await begin()
    try await SandboxVisitor(decision: .cancel)
      .enterCode(begun.userCode, at: page(begun.verificationUri))
    #expect(try await poll(begun.deviceCode) == "access_denied")
  }

  @Test func `a wrong user code shows an error and connects no device`() async throws {
    let begun = try await begin()
    await #expect(
      throws: SandboxError.endedOnPage(
        heading: "Connect a device",
        detail: "No device waits with this code. It may have expired.")
    ) {
      try await SandboxVisitor().enterCode("AAAA-AAAA", at: page(begun.verificationUri))
    }
    #expect(try await poll(begun.deviceCode) == "authorization_pending")
  }

  @Test func `a device code that was issued to another client gets invalid_grant`() async throws {
    let other = SandboxClient(id: "other")
    sandbox.register(other)
    let begun = try await begin()
    #expect(try await poll(begun.deviceCode, client: "other") == "invalid_grant")
    #expect(try await poll("device-wrong") == "invalid_grant")
  }

  @Test func `an earlier sign-in with a weaker acr does not connect a device`() async throws {
    let visitor = SandboxVisitor()
    let first = try await begin([("scope", "openid")])
    try await visitor.enterCode(first.userCode, at: page(first.verificationUri))
    let claims = #"{"id_token":{"acr":{"essential":true,"values":["urn:sandbox:careful"]}}}"#
    let begun = try await begin([("scope", "openid"), ("claims", claims)])
    sandbox.forgetRequests()
    try await visitor.enterCode(begun.userCode, at: page(begun.verificationUri))
    #expect(sandbox.requests(to: .login).count == 1)
    #expect(try await poll(begun.deviceCode) == "token")
  }

  @Test func `an invalid device authorization request is rejected`() async throws {
    var limited = SandboxClient(id: "limited")
    limited.grantTypes = ["authorization_code"]
    sandbox.register(limited)
    let rows: [([(String, String)], String)] = [
      ([("client_id", "unknown")], "invalid_client"),
      ([("client_id", "limited")], "unauthorized_client"),
      ([("client_id", "sandbox-app"), ("scope", "unknown")], "invalid_scope"),
      ([("client_id", "sandbox-app"), ("prompt", "unknown")], "invalid_request"),
      ([("client_id", "sandbox-service")], "invalid_client"),
    ]
    for (form, error) in rows {
      let answer = try await client.post("/device_authorization", form)
      #expect(try JSONDecoder().decode(Failure.self, from: answer.body).error == error)
    }
    #expect(try await client.get("/device_authorization").status == 405)
  }

  @Test func `a form from another site connects no device`() async throws {
    let begun = try await begin()
    let answer = try await client.post(
      "/device", [("user_code", begun.userCode), ("decision", "connect")])
    // The browser sends no cookie with a form from another site.
    #expect(answer.status == 400 && answer.text.contains("Your browser keeps no cookie"))
    let page = try await client.get("/device")
    let cookie = String(try #require(page.header("set-cookie")).prefix { $0 != ";" })
    let unproven = try await client.post(
      "/device", [("user_code", begun.userCode), ("decision", "connect")],
      headers: [("Cookie", cookie)])
    #expect(unproven.status == 200 && unproven.text.contains("Connect a device"))
    #expect(try await poll(begun.deviceCode) == "authorization_pending")
  }
}
