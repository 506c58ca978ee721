import FoundationEssentials
import Glibc
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct MisbehaviourTests {
  @Test func `misbehaviours happen in order and as often as set, then stop`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    sandbox.misbehave(
      at: .token, .status(503, headers: ["Retry-After": "7"], body: "busy"), times: 2)
    sandbox.misbehave(at: .token, .error("temporarily_unavailable", status: 200))
    let token = sandbox.issueTokens().refreshToken
    for _ in 0..<2 {
      let answer = try await client.refresh(token)
      #expect(answer.status == 503)
      #expect(answer.header("retry-after") == "7")
      #expect(answer.text == "busy")
    }
    let error = try await client.refresh(token)
    #expect(error.status == 200)
    #expect(error.error == "temporarily_unavailable")
    #expect(try await client.get("/.well-known/openid-configuration").status == 200)
    #expect(try await client.refresh(token).status == 200, "nothing was rotated before")
    sandbox.misbehave(at: .metadata, .html, times: nil)
    for _ in 0..<3 {
      let page = try await client.get("/.well-known/openid-configuration")
      #expect(page.header("content-type") == "text/html; charset=utf-8")
    }
    sandbox.behave()
    let metadata = try await client.get("/.well-known/openid-configuration")
    #expect(metadata.header("content-type") == "application/json")
    await sandbox.stop()
  }

  @Test func `a connection can be cut before or after the tokens are issued`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    for (cut, isIssued) in [
      (SandboxMisbehaviour.Cut.beforeProcessing, false), (.afterProcessing, true),
      (.duringAnswer, true),
    ] {
      for reset in [false, true] {
        let token = sandbox.issueTokens().refreshToken
        sandbox.misbehave(at: .token, .cut(cut, reset: reset))
        let error: LoopbackError = reset ? .system(errno: ECONNRESET) : .malformedAnswer
        await #expect(throws: error) { try await client.refresh(token) }
        #expect(sandbox.isActive(token) != isIssued)
        #expect((sandbox.latestRefreshToken != token) == isIssued)
      }
    }
    await sandbox.stop()
  }

  @Test(arguments: [
    (SandboxMisbehaviour.missingTokenType, #""token_type""#, false),
    (.noRefreshToken, #""refresh_token""#, false),
    (.emptyRefreshToken, #""refresh_token":"""#, true),
    (.expiresIn("3600"), #""expires_in":"3600""#, true),
    (.expiresIn(-1), #""expires_in":-1"#, true),
    (.expiresIn(.literal("1e999")), #""expires_in":1e999"#, true),
    (.expiresIn(nil), #""expires_in""#, false),
    (.member("access_token", ["a", 1, true, .null]), #""access_token":["a",1,true,null]"#, true),
    (.member("more", ["x": "\"\\\n\u{1}"]), #""more":{"x":"\"\\\n\u0001"}"#, true),
    (.truncatedJSON, "}", false),
    (.notJSON, "{", false),
  ])
  func `a token response can be altered`(
    misbehaviour: SandboxMisbehaviour, text: String, isThere: Bool
  ) async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .token, misbehaviour)
    let answer = try await SandboxPeer(sandbox: sandbox).refresh(sandbox.issueTokens().refreshToken)
    #expect(answer.status == 200)
    #expect(answer.text.contains(text) == isThere)
    await sandbox.stop()
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `the token endpoint can be set to redirect`(status: Int) async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .token, .redirect(status, to: "https://evil.example/token"))
    let answer = try await SandboxPeer(sandbox: sandbox).refresh("x")
    #expect(answer.status == status)
    #expect(answer.header("location") == "https://evil.example/token")
    await sandbox.stop()
  }

  @Test func `the sandbox can send a very large or an endless response body`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    sandbox.misbehave(at: .token, .oversize(3_000_000))
    let large = try await client.refresh(sandbox.issueTokens().refreshToken)
    #expect(large.body.count == 3_000_000)
    #expect(try large.tokens().tokenType == "Bearer")
    sandbox.misbehave(at: .token, .endless)
    // The reader stops at 16 MiB.
    await #expect(throws: LoopbackError.system(errno: EMSGSIZE)) {
      try await client.refresh(sandbox.issueTokens().refreshToken)
    }
    await sandbox.stop()
  }

  @Test func `an answer can be delayed or sent byte by byte`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    sandbox.misbehave(at: .token, .delay(.milliseconds(20)))
    #expect(try await client.refresh(sandbox.issueTokens().refreshToken).status == 200)
    sandbox.misbehave(at: .token, .delay(.milliseconds(20), then: .tooManyRequests(retryAfter: 3)))
    #expect(try await client.refresh("x").header("retry-after") == "3")
    sandbox.misbehave(at: .metadata, .drip(every: .zero))
    #expect(try await client.get("/.well-known/openid-configuration").text.hasSuffix("}"))
    await sandbox.stop()
  }

  @Test func `a misbehaviour that changes part of an answer can also be delayed or held`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    func subject() async throws -> String? {
      try await client.signIn().idToken().claims["sub"]?.string
    }
    func userInfo() async throws -> SandboxJSON {
      let token = sandbox.issueTokens(scopes: ["openid"]).accessToken
      return try await client.api("/userinfo", token: token).json()
    }
    let postponements: [(SandboxMisbehaviour) -> SandboxMisbehaviour] = [
      { .delay(.zero, then: $0) }, { .hold(until: {}, then: $0) },
      { .delay(.zero, then: .hold(until: {}, then: $0)) },
    ]
    for postponed in postponements {
      sandbox.misbehave(at: .authorization, postponed(.state(.missing)))
      #expect(try await client.redirect().map(\.name) == ["code", "iss"])
      sandbox.misbehave(at: .authorization, postponed(.errorRedirect("server_error")))
      #expect(try await client.redirect().value("error") == "server_error")
      #expect(try await client.redirect().map(\.name) == ["code", "state", "iss"])
      sandbox.misbehave(at: .token, postponed(.idToken(.otherSubject)))
      #expect(try await subject() == "another-user")
      #expect(try await subject() == "alice")
      sandbox.misbehave(at: .keys, postponed(.keySet(.empty)))
      #expect(try await client.keys().isEmpty)
      #expect(try await !client.keys().isEmpty)
      sandbox.misbehave(at: .userInfo, postponed(.userInfo(.subjectMissing)))
      #expect(try await userInfo()["sub"] == nil)
      #expect(try await userInfo()["sub"] == "alice")
    }
    sandbox.misbehave(at: .keys, .unread(.keySet(.empty)))
    #expect(try await client.keys().isEmpty)
    await sandbox.stop()
  }

  @Test func `a delayed request has no effect if the sandbox stops before the answer`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let token = sandbox.issueTokens().refreshToken
    sandbox.misbehave(at: .token, .delay(.seconds(3600)))
    let task = Task { try await SandboxPeer(sandbox: sandbox).refresh(token) }
    _ = try await sandbox.requests(to: .token, atLeast: 1)
    await sandbox.stop()
    await #expect(throws: LoopbackError.self) { try await task.value }
    #expect(sandbox.isActive(token))
  }

  @Test(
    arguments: [
      (SandboxMisbehaviour.state(.missing), "state", []),
      (.state(.empty), "state", [""]),
      (.state(.wrong), "state", ["a state+&=1"]),
      (.state(.value("other")), "state", ["other"]),
      (.state(.doubled), "state", ["a state+&=%", "a state+&=%"]),
      (.issuer(.missing), "iss", []),
      (.issuer(.value("https://evil.example")), "iss", ["https://evil.example"]),
      (.code(.missing), "code", []),
      (.code(.empty), "code", [""]),
      (.tokenInRedirect, "access_token", ["an-injected-token"]),
      (.errorRedirect("server_error"), "error", ["server_error"]),
      (.errorRedirect("x", description: "<b>"), "error_description", ["<b>"]),
    ] as [(SandboxMisbehaviour, String, [String])])
  func `the redirect can be altered`(
    misbehaviour: SandboxMisbehaviour, name: String, values: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    sandbox.misbehave(at: .authorization, misbehaviour)
    let spoilt = try await client.redirect()
    #expect(spoilt.filter { $0.name == name }.map(\.value) == values)
    #expect(try await client.redirect().map(\.name) == ["code", "state", "iss"])
    await sandbox.stop()
  }

  @Test
  func `an authorization response can contain a wrong issuer or two issuers`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let issuer = sandbox.issuer.absoluteString
    sandbox.misbehave(at: .authorization, .issuer(.wrong))
    let wrong = try await client.redirect().filter { $0.name == "iss" }
    #expect(wrong.count == 1 && wrong[0].value != issuer)
    sandbox.misbehave(at: .authorization, .issuer(.doubled))
    let doubled = try await client.redirect().filter { $0.name == "iss" }
    #expect(doubled.map(\.value) == [issuer, issuer])
    await sandbox.stop()
  }
}
