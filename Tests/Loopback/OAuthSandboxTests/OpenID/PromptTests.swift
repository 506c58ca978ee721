import OAuthSandbox
import Testing

@testable import LoopbackSupport

/// What an authorization request can demand of the sign-in (OpenID Connect Core, section 3.1.2.1).
@Suite(.timeLimit(.minutes(1))) struct PromptTests {
  @Test func `prompt=none succeeds without a page after a sign-in and a consent`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    let silent: [String: String?] = ["prompt": "none", "scope": "openid"]
    #expect(try await client.refusal(silent, visitor: visitor) == "login_required")
    #expect(try await client.signIn(visitor: visitor).status == 200)
    let visit = try await visitor.visit(try client.authorizationURL(silent))
    #expect(visit.pages.map(\.status) == [303])
    #expect(SandboxPeer.parameters(visit.redirect).value("code") != nil)
    sandbox.advance(by: .seconds(100))
    let recent = silent.merging(["max_age": "50"]) { $1 }
    #expect(try await client.refusal(recent, visitor: visitor) == "login_required")
    let wider: [String: String?] = ["prompt": "none", "scope": "openid email"]
    #expect(try await client.refusal(wider, visitor: visitor) == "consent_required")
    await sandbox.stop()
  }

  @Test func `prompt=none with a stronger essential acr returns interaction_required`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    _ = try await client.signIn(visitor: visitor)
    let claims = #"{"id_token":{"acr":{"essential":true,"values":["urn:sandbox:careful"]}}}"#
    let silent: [String: String?] = ["prompt": "none", "scope": "openid", "claims": claims]
    #expect(try await client.refusal(silent, visitor: visitor) == "interaction_required")
    let again = try await client.signIn(["claims": claims], visitor: visitor).idToken()
    #expect(again.claims["acr"] == "urn:sandbox:careful")
    #expect(try await client.refusal(silent, visitor: visitor) == nil)
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (["prompt": "none login"], "invalid_request"), (["prompt": "magic"], "invalid_request"),
      (["max_age": "soon"], "invalid_request"), (["max_age": "-1"], "invalid_request"),
      (["claims": "[]"], "invalid_request"), (["claims": #"{"id_token":1}"#], "invalid_request"),
      (["id_token_hint": "forged"], "invalid_request"),
      (
        ["claims": #"{"id_token":{"acr":{"essential":true,"value":"urn:other"}}}"#],
        "unmet_authentication_requirements"
      ),
    ] as [([String: String?], String)])
  func `a request with an invalid parameter is redirected to the app with an error`(
    changes: [String: String?], error: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    #expect(try await client.refusal(changes, visitor: SandboxVisitor()) == error)
    await sandbox.stop()
  }

  @Test func `acr_values determine the acr, and unknown values are ignored`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let known = try await client.signIn(["acr_values": "urn:x urn:sandbox:careful"]).idToken()
    #expect(known.claims["acr"] == "urn:sandbox:careful")
    let unknown = try await client.signIn(["acr_values": "urn:x"]).idToken()
    #expect(unknown.claims["acr"] == "urn:sandbox:password")
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (["prompt": "login"], true), (["max_age": "0"], true), (["max_age": "50"], true),
      (["max_age": "3600"], false), (["prompt": "consent"], false), ([:], false),
    ] as [([String: String?], Bool)])
  func `a signed-in user logs in again only if the app demands a new login`(
    changes: [String: String?], sawLogin: Bool
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    let always: [String: String?] = [
      "scope": "openid", "claims": #"{"id_token":{"auth_time":null}}"#,
    ]
    let first = try await client.signIn(always, visitor: visitor).idToken()
    sandbox.advance(by: .seconds(100))
    let changed = changes.merging(always) { $1 }
    let visit = try await visitor.visit(try client.authorizationURL(changed))
    #expect(visit.sawLogin == sawLogin)
    let code = try #require(SandboxPeer.parameters(visit.redirect).value("code"))
    let second = try await client.redeem(code).idToken()
    let times = try [first, second].map { try #require($0.claims["auth_time"]?.integer) }
    #expect((times[1] - times[0] >= 100) == sawLogin)
    #expect(second.claims["sid"] == first.claims["sid"], "the same user's session goes on")
    await sandbox.stop()
  }

  @Test func `an ID token hint names the only user who may sign in`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let (alice, bob) = (SandboxVisitor(), SandboxVisitor(user: .bob))
    let hint = try await client.signIn(visitor: alice).idToken().text
    _ = try await client.signIn(visitor: bob)
    let hinted: [String: String?] = ["id_token_hint": hint, "scope": "openid"]
    let silent = hinted.merging(["prompt": "none"]) { $1 }
    #expect(try await client.refusal(silent, visitor: alice) == nil)
    #expect(try await client.refusal(silent, visitor: bob) == "login_required")
    #expect(try await client.refusal(hinted, visitor: bob) == "login_required")
    let wrong = try await bob.visit(try client.authorizationURL(hinted))
    #expect(!wrong.pages.contains { $0.body.contains("Allow Sandbox App?") })
    let subject: [String: String?] = [
      "claims": #"{"id_token":{"sub":{"value":"alice"}}}"#, "scope": "openid",
    ]
    let error = try await client.refusal(subject, visitor: SandboxVisitor(user: .bob))
    #expect(error == "login_required")
    #expect(try await client.refusal(subject, visitor: alice) == nil)
    await sandbox.stop()
  }

  @Test func `a login hint fills in the user name`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL(["login_hint": "<bob>"]))
    #expect(page.text.contains(#"value="&lt;bob&gt;""#))
    await sandbox.stop()
  }

  @Test func `select_account asks which account to continue with`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    _ = try await client.signIn(visitor: visitor)
    let url = try client.authorizationURL(["prompt": "select_account"])
    let visit = try await visitor.visit(url)
    #expect(visit.pages[0].body.contains("Continue as Alice Liddell"))
    #expect(!visit.sawLogin)
    #expect(SandboxPeer.parameters(visit.redirect).value("code") != nil)
    await sandbox.stop()
  }
}
