import FoundationEssentials
import OAuthSandbox
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct AuthorizationTests {
  @Test func `a user who allows access is sent back with code, state and issuer`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visit = try await SandboxVisitor().visit(try client.authorizationURL())
    let redirect = visit.redirect
    #expect(redirect.hasPrefix(SandboxPeer.redirectURI + "?"))
    let parameters = SandboxPeer.parameters(redirect)
    #expect(parameters.map(\.name) == ["code", "state", "iss"])
    #expect(parameters.value("state") == "a state+&=%")
    #expect(parameters.value("iss") == sandbox.issuer.absoluteString)
    #expect(visit.pages.map(\.status) == [200, 303, 200, 303])
    let consent = visit.pages[2].body
    #expect(consent.contains("Allow Sandbox App?"))
    #expect(consent.contains("Alice Liddell"))
    #expect(consent.contains("List the sample genome files"))
    #expect(!consent.contains("own files"), "only the requested scopes are shown")
    await sandbox.stop()
  }

  @Test(arguments: [SandboxVisitor.Decision.deny, .cancel])
  func `a user who denies access is sent back with access_denied`(
    decision: SandboxVisitor.Decision
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let parameters = try await SandboxPeer(sandbox: sandbox).redirect(
      visitor: SandboxVisitor(decision: decision))
    #expect(parameters.value("error") == "access_denied")
    #expect(parameters.value("code") == nil)
    #expect(parameters.value("state") == "a state+&=%")
    #expect(parameters.value("iss") == sandbox.issuer.absoluteString)
    await sandbox.stop()
  }

  @Test func `a loopback redirect URI matches with any port`() async throws {
    let sandbox = try await SandboxServer.start()
    let received = Locked<[String]>([])
    let app = try LoopbackServer { request in
      received.withLock { $0.append(request.target) }
      return .response(LoopbackResponse(status: 200, body: Data("thank you".utf8)))
    }
    let client = SandboxPeer(sandbox: sandbox)
    let url = try client.authorizationURL([
      "redirect_uri": "http://\(app.authority)/callback"
    ])
    let visit = try await SandboxVisitor().visit(url)
    #expect(visit.pages.last?.body == "thank you")
    let target = try #require(received.withLock { $0 }.first)
    #expect(visit.redirect == "http://\(app.authority)\(target)")
    #expect(target.hasPrefix("/callback?code="))
    await app.stop()
    await sandbox.stop()
  }

  @Test(arguments: [
    "https://evil.example/callback", "com.example.sandbox:/callback/../x",
    "com.example.sandbox:/callback?x=y", "COM.example.sandbox:/callback",
    "com.example.sandbox:/callbackx", "com.example.sandbox:/callback#", "",
    "http://127.0.0.1:8080/other", "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1:80@evil.example/callback", "http://user@127.0.0.1/callback",
    "http://127.0.0.1:99999/callback", "http://127.0.0.1:/callback", "http://127.0.0.2/callback",
    "https://127.0.0.1:8080/callback", "http://127.0.0.1:80callback", "http://[::1]:1/callbac%6B",
    "javascript:alert(1)", "http://127.0.0.1:8080/callback\r\nSet-Cookie: a=b",
  ])
  func `an unregistered redirect URI gets an error page and no redirect`(uri: String) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.get(try client.authorizationURL(["redirect_uri": uri]))
    #expect(answer.status == 400)
    #expect(answer.header("location") == nil)
    #expect(answer.text.contains("leads to the wrong place"))
    await sandbox.stop()
  }

  @Test(arguments: ["", "unknown", "sandbox-app\u{0}"])
  func `an unknown client gets an error page and no redirect`(id: String) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.get(try client.authorizationURL(["client_id": id]))
    #expect(answer.status == 400)
    #expect(answer.header("location") == nil)
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (["response_type": nil], "invalid_request"),
      (["response_type": "token"], "unsupported_response_type"),
      (["response_type": "code token"], "unsupported_response_type"),
      (["response_mode": "fragment"], "invalid_request"),
      (["scope": "profile everything"], "invalid_scope"),
      (["code_challenge": nil, "code_challenge_method": nil], "invalid_request"),
      (["code_challenge_method": "plain"], "invalid_request"),
      (["code_challenge_method": nil], "invalid_request"),
      (["code_challenge": "short"], "invalid_request"),
      (["request": "jwt"], "request_not_supported"),
      (["request_uri": "https://app.example/r"], "request_uri_not_supported"),
      (["prompt": "none"], "login_required"),
    ] as [([String: String?], String)])
  func `a refused authorization request is redirected to the app with an error`(
    changes: [String: String?], error: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.get(try client.authorizationURL(changes))
    #expect(answer.status == 303)
    let parameters = SandboxPeer.parameters(try #require(answer.header("location")))
    #expect(parameters.value("error") == error)
    #expect(parameters.value("state") == "a state+&=%")
    #expect(parameters.value("iss") == sandbox.issuer.absoluteString)
    await sandbox.stop()
  }

  @Test func `an authorization request can be posted as a form`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    func post(_ changes: [String: String?] = [:]) async throws -> LoopbackAnswer {
      let form = try client.authorizationURL(changes).query(percentEncoded: true)
      return try await client.post("/authorize", body: try #require(form))
    }
    let page = try await post()
    #expect(page.status == 200 && page.text.contains("Sandbox App"))
    let typed = [("username", "alice"), ("password", "alice-password")]
    let login = try await client.post(
      "/login", SandboxPeer.hiddenFields(page.text) + typed,
      headers: [try SandboxPeer.cookie(of: page)])
    #expect(login.status == 303)
    let location = try #require(try await post(["prompt": "none"]).header("location"))
    #expect(SandboxPeer.parameters(location).value("error") == "login_required")
    #expect(try await post(["client_id": "unknown"]).status == 400)
    let url = try #require(LoopbackURL(sandbox.authorizationEndpoint.absoluteString))
    let put = try await LoopbackClient.send("PUT", url)
    #expect(put.status == 405 && put.header("allow") == "GET, POST")
    await sandbox.stop()
  }

  @Test func `a repeated parameter is rejected`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let url = try client.authorizationURL().absoluteString
    let twice = try await client.get(try #require(URL(string: url + "&scope=demo")))
    let location = try #require(twice.header("location"))
    #expect(SandboxPeer.parameters(location).value("error") == "invalid_request")
    let elsewhere = try await client.get(
      try #require(URL(string: url + "&redirect_uri=http%3A%2F%2F127.0.0.1%2F")))
    #expect(elsewhere.status == 400)
    await sandbox.stop()
  }

  @Test func `a client with a secret may omit PKCE unless the server requires it`() async throws {
    var options = SandboxOptions()
    options.clients[1].redirectURIs.append(SandboxPeer.redirectURI)
    let changes: [String: String?] = [
      "client_id": "sandbox-service", "code_challenge": nil, "code_challenge_method": nil,
    ]
    let lax = try await SandboxServer.start(options)
    let code = try await SandboxPeer(sandbox: lax).redirect(changes).value("code")
    #expect(code != nil)
    await lax.stop()
    options.requiresPKCEOfAll = true
    let strict = try await SandboxServer.start(options)
    let error = try await SandboxPeer(sandbox: strict).redirect(changes).value("error")
    #expect(error == "invalid_request")
    await strict.stop()
  }
}
