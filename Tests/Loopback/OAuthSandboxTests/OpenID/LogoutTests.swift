import FoundationEssentials
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct LogoutTests {
  private static let target = "com.example.sandbox:/signed-out"

  private func logoutURL(_ parameters: [(String, String)], _ sandbox: SandboxServer) throws -> URL {
    let query = SandboxPeer.form(parameters)
    return try #require(URL(string: sandbox.endSessionEndpoint.absoluteString + "?" + query))
  }

  @Test func `a logout with the session's ID token shows no page`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    let hint = try await client.signIn(visitor: visitor).idToken().text
    let url = try logoutURL(
      [("id_token_hint", hint), ("post_logout_redirect_uri", Self.target), ("state", "a &=%")],
      sandbox)
    let visit = try await visitor.visit(url)
    #expect(visit.pages.map(\.status) == [303])
    #expect(visit.redirect.hasPrefix(Self.target + "?"))
    #expect(SandboxPeer.parameters(visit.redirect).map(\.name) == ["state"])
    #expect(SandboxPeer.parameters(visit.redirect).value("state") == "a &=%")
    let silent: [String: String?] = ["prompt": "none", "scope": "openid"]
    #expect(try await client.refusal(silent, visitor: visitor) == "login_required")
    // The session has already ended, so there is nothing to confirm.
    #expect(try await visitor.visit(url).pages.map(\.status) == [303])
    await sandbox.stop()
  }

  @Test func `a logout without an ID token asks the user to confirm`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    _ = try await client.signIn(visitor: visitor)
    let parameters = [("client_id", "sandbox-app"), ("post_logout_redirect_uri", Self.target)]
    let url = try logoutURL(parameters, sandbox)
    let elsewhere = try await client.get(url)
    #expect(elsewhere.header("location") == Self.target, "another browser has no session")
    let visit = try await visitor.visit(url)
    #expect(visit.pages[0].body.contains("Sign out?"))
    #expect(visit.pages[0].body.contains("Sandbox App"))
    #expect(visit.redirect == Self.target, "without a state there is no parameter")
    let silent: [String: String?] = ["prompt": "none", "scope": "openid"]
    #expect(try await client.refusal(silent, visitor: visitor) == "login_required")
    await sandbox.stop()
  }

  @Test func `a logout form signs the user out only if its token is valid and the user confirms`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = try await client.get(try client.authorizationURL())
    let login = SandboxPeer.hiddenFields(first.text)
    let signedIn = try await client.post(
      "/login", login + [("username", "alice"), ("password", "alice-password")],
      headers: [try SandboxPeer.cookie(of: first)])
    let cookie = try SandboxPeer.cookie(of: signedIn)
    let form = SandboxPeer.hiddenFields(try await client.get("/logout", headers: [cookie]).text)
    func answer(_ fields: [(String, String)], _ decision: String) async throws -> String {
      try await client.post("/logout", fields + [("decision", decision)], headers: [cookie]).text
    }
    #expect(try await answer([("form_token", "forged")], "sign-out").contains("Sign out?"))
    #expect(try await answer(form, "stay").contains("You are still signed in"))
    #expect(try await answer(form, "sign-out").contains("You are signed out"))
    #expect(try await client.get("/logout", headers: [cookie]).text.contains("You are signed out"))
    await sandbox.stop()
  }

  @Test func `a logout with an ID token of another session asks the user to confirm`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    _ = try await client.signIn(visitor: visitor)
    let other = try await client.signIn(visitor: SandboxVisitor(user: .bob)).idToken().text
    let url = try logoutURL([("id_token_hint", other)], sandbox)
    await #expect(
      throws: SandboxError.endedOnPage(
        heading: "You are signed out", detail: "You can close this page.")
    ) { try await visitor.visit(url) }
    // The GET got the page that asks the user to confirm, and the visitor's POST confirmed.
    #expect(sandbox.requests(to: .endSession).map(\.method) == ["GET", "POST"])
    await sandbox.stop()
  }

  @Test(
    arguments: [
      ([("post_logout_redirect_uri", target)], "leads to the wrong place"),
      (
        [
          ("client_id", "sandbox-app"),
          ("post_logout_redirect_uri", "com.example.sandbox:/signed-out/"),
        ], "leads to the wrong place"
      ),
      (
        [
          ("client_id", "sandbox-app"),
          ("post_logout_redirect_uri", "http://127.0.0.1:8081/signed-out"),
        ], "leads to the wrong place"
      ),
      ([("client_id", "unknown")], "not known here"),
      ([("id_token_hint", "forged")], "not valid"),
      ([("client_id", "sandbox-app"), ("client_id", "sandbox-app")], "came more than once"),
      ([("client_id", "sandbox-app"), ("state", "a"), ("state", "b")], "came more than once"),
    ] as [([(String, String)], String)])
  func `an invalid logout request gets an error page and no redirect`(
    parameters: [(String, String)], text: String
  ) async throws {
    var options = SandboxOptions()
    options.clients[0].postLogoutRedirectURIs.append("http://127.0.0.1:8080/signed-out")
    let sandbox = try await SandboxServer.start(options)
    let answer = try await SandboxPeer(sandbox: sandbox).get(try logoutURL(parameters, sandbox))
    #expect(answer.status == 400 && answer.header("location") == nil)
    #expect(answer.text.contains(text) && !answer.text.contains("not signed in"))
    await sandbox.stop()
  }

  @Test func `an ID token hint that was issued to another client is rejected`() async throws {
    let sandbox = try await SandboxServer.start()
    let hint = try #require(sandbox.issueTokens(scopes: ["openid"]).idToken)
    let url = try logoutURL([("id_token_hint", hint), ("client_id", "sandbox-service")], sandbox)
    #expect(try await SandboxPeer(sandbox: sandbox).get(url).status == 400)
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (.state(.missing), []), (.state(.wrong), ["right1"]), (.state(.value("x")), ["x"]),
    ] as [(SandboxMisbehaviour, [String])])
  func `the sandbox can send a logout redirect with a wrong state or without a state`(
    misbehaviour: SandboxMisbehaviour, values: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .endSession, misbehaviour)
    let url = try logoutURL(
      [
        ("client_id", "sandbox-app"), ("post_logout_redirect_uri", Self.target),
        ("state", "right0"),
      ], sandbox)
    for expected in [values, ["right0"]] {
      let redirect = try await SandboxVisitor().visit(url).redirect
      #expect(SandboxPeer.parameters(redirect).map(\.value) == expected)
    }
    await sandbox.stop()
  }

  @Test func `a logout redirect to a loopback port is refused until that port is registered`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let app = try LoopbackServer { _ in .response(LoopbackResponse(status: 200)) }
    let target = "http://\(app.authority)/signed-out"
    let url = try logoutURL(
      [("client_id", "sandbox-app"), ("post_logout_redirect_uri", target)], sandbox)
    #expect(try await SandboxPeer(sandbox: sandbox).get(url).status == 400)
    var client = SandboxClient.app
    client.postLogoutRedirectURIs = [target]
    sandbox.register(client)
    #expect(try await SandboxVisitor().visit(url).redirect == target)
    #expect(sandbox.clients.map(\.id) == ["sandbox-app", "sandbox-service"])
    await app.stop()
    await sandbox.stop()
  }

  @Test func `only a client of the session gets a logout token when the session ends`() async throws
  {
    let received = Locked<[String]>([])
    let backend = try LoopbackServer { request in
      received.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
      return .response(LoopbackResponse(status: 200))
    }
    var options = SandboxOptions()
    options.clients[0].idTokenAlgorithm = .es256
    options.clients[0].backchannelLogoutURI = "http://\(backend.authority)/logout"
    options.clients[1].backchannelLogoutURI = "http://\(backend.authority)/other"
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let idToken = try await client.signIn().idToken()
    await sandbox.signOut("bob")
    #expect(received.withLock { $0 }.isEmpty)
    // The visitor ends one session, and the test ends another one.
    let visitor = SandboxVisitor()
    let hint = try await client.signIn(visitor: visitor).idToken().text
    let url = try logoutURL(
      [("id_token_hint", hint), ("post_logout_redirect_uri", Self.target)], sandbox)
    _ = try await visitor.visit(url)
    #expect(received.withLock { $0 }.count == 1, "the token comes before the redirect")
    await sandbox.signOut()
    let bodies = received.withLock { $0 }.dropFirst()
    #expect(bodies.count == 1)
    let token = try ReadJWT(String(try #require(bodies.first).dropFirst("logout_token=".count)))
    #expect(token.header["typ"] == "logout+jwt" && token.header["alg"] == "ES256")
    for claim in ["iss", "sub", "sid"] { #expect(token.claims[claim] == idToken.claims[claim]) }
    #expect(token.claims["aud"] == "sandbox-app")
    #expect(token.claims.names == ["aud", "events", "exp", "iat", "iss", "jti", "sid", "sub"])
    await backend.stop()
    await sandbox.stop()
  }

  @Test func `a test can omit the user or the session from a logout token`() async throws {
    let sandbox = try await SandboxServer.start()
    let idToken = try ReadJWT(try #require(sandbox.issueTokens(scopes: ["openid"]).idToken))
    let full = try ReadJWT(try #require(sandbox.logoutToken()))
    #expect(full.claims["sid"] == idToken.claims["sid"])
    #expect(full.claims["sub"] == "alice")
    let event = "http://schemas.openid.net/event/backchannel-logout"
    #expect(full.claims["events"] == .object([.init(event, [:])]))
    let session = try ReadJWT(try #require(sandbox.logoutToken(namesUser: false)))
    #expect(session.claims["sub"] == nil && session.claims["sid"] != nil)
    #expect(session.claims["jti"] != full.claims["jti"])
    let user = try ReadJWT(try #require(sandbox.logoutToken(namesSession: false)))
    #expect(user.claims["sub"] != nil && user.claims["sid"] == nil)
    #expect(sandbox.logoutToken(client: "unknown") == nil)
    await sandbox.stop()
  }

  /// Returns the header's members and the claims of a token.
  private func members(_ token: ReadJWT) -> [String: SandboxJSON] {
    var members: [String: SandboxJSON] = [:]
    for part in [token.header, token.claims] {
      for name in part.names { members[name] = part[name] }
    }
    return members
  }

  @Test(arguments: SandboxLogoutTokenFault.allCases)
  func `a logout token fault changes only the claim, header or signature that the fault names`(
    fault: SandboxLogoutTokenFault
  ) async throws {
    var options = SandboxOptions()
    options.clients[0].idTokenAlgorithm = .edDSA
    // The clock stands still, so both tokens have the same times.
    let now = Date()
    options.now = { now }
    let sandbox = try await SandboxServer.start(options)
    _ = sandbox.issueTokens(scopes: ["openid"])
    let right = try ReadJWT(try #require(sandbox.logoutToken()))
    let wrong = try ReadJWT(try #require(sandbox.logoutToken(fault: fault)))
    let found = members(wrong)
    var expected = members(right)
    // Each token has its own ID.
    #expect(found["jti"] != expected["jti"] && (found["jti"] == nil) == (fault == .idMissing))
    expected["jti"] = found["jti"]
    let issued = try #require(right.claims["iat"]?.integer)
    switch fault {
    case .wrongSignature, .idMissing: break
    case .unsigned:
      expected["alg"] = "none"
      expected["kid"] = nil
    case .otherType: expected["typ"] = "JWT"
    case .issuerWrong: expected["iss"] = "https://other.example"
    case .issuerMissing: expected["iss"] = nil
    case .audienceWrong: expected["aud"] = "another-client"
    case .audienceMissing: expected["aud"] = nil
    case .issueDateMissing: expected["iat"] = nil
    case .issuedInFuture: expected["iat"] = .integer(issued + 3600)
    case .expired: expected["exp"] = .integer(issued - 3600)
    case .expiryMissing: expected["exp"] = nil
    case .eventsMissing: expected["events"] = nil
    case .otherEvent: expected["events"] = ["https://other.example/event": [:]]
    case .eventNotAnObject:
      expected["events"] = ["http://schemas.openid.net/event/backchannel-logout": true]
    case .subjectAndSessionMissing:
      expected["sub"] = nil
      expected["sid"] = nil
    case .nonce: expected["nonce"] = "a-nonce"
    }
    #expect(found == expected)
    let keys = try await SandboxPeer(sandbox: sandbox).keys()
    func isSigned(_ token: ReadJWT) throws -> Bool {
      let received = try #require(ReceivedJWT(token.text))
      return keys.contains(where: received.isSigned(byRegistered:))
    }
    #expect(try isSigned(right))
    #expect(try isSigned(wrong) == ![.unsigned, .wrongSignature].contains(fault))
    #expect(wrong.text.hasSuffix(".") == (fault == .unsigned))
    await sandbox.stop()
  }
}
