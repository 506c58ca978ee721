import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct PageTests {
  @Test func `a wrong password shows an error, and the right one then works`() async throws {
    let sandbox = try await SandboxServer.start()
    let url = try SandboxPeer(sandbox: sandbox).authorizationURL()
    let visit = try await SandboxVisitor(triesWrongPasswordFirst: true).visit(url)
    #expect(visit.pages.map(\.status) == [200, 403, 303, 200, 303])
    #expect(visit.pages[1].body.contains("The user name or the password is wrong."))
    #expect(visit.pages[1].body.contains("value=\"alice\""), "the name need not be typed again")
    #expect(visit.pages[1].url.contains("/login?request="), "its address shows the form again")
    #expect(SandboxPeer.parameters(visit.redirect).value("code") != nil)
    await sandbox.stop()
  }

  /// A user may reload the page, or open the address of the wrong-password page again.
  @Test func `opening the address of the login form again shows the form again`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = try await client.get(try client.authorizationURL(["state": "first"]))
    let cookie = try #require(first.header("set-cookie")?.prefix { $0 != ";" })
    let own = (name: "Cookie", value: String(cookie))
    let address = try client.authorizationURL(["state": "second"]).absoluteString
    let second = try await client.get(
      String(address.dropFirst(sandbox.issuer.absoluteString.count)), headers: [own])
    let wrong = try await client.post(
      "/login", SandboxPeer.hiddenFields(second.text) + [("username", "alice"), ("password", "x")],
      headers: [own])
    #expect(wrong.status == 403)
    let id = try #require(SandboxPeer.hiddenFields(first.text).first { $0.0 == "request" }?.1)
    for (path, page) in [
      ("/login", second), ("/login?request=\(id)", first), ("/consent", second),
    ] {
      let again = try await client.get(path, headers: [own])
      #expect(again.status == 200 && again.text.contains("Password"))
      #expect(!again.text.contains("is wrong"))
      #expect(
        SandboxPeer.hiddenFields(again.text).map(\.1)
          == SandboxPeer.hiddenFields(page.text).map(\.1))
    }
    for headers in [[], [(name: "Cookie", value: own.value + "x")]] {
      let foreign = try await client.get("/login", headers: headers)
      #expect(foreign.status == 400 && foreign.text.contains("This sign-in is over"))
    }
    let url = try #require(LoopbackURL(sandbox.issuer.absoluteString + "/login"))
    let refused = try await LoopbackClient.send("PUT", url, headers: [own])
    #expect(refused.status == 405 && refused.header("allow") == "GET, POST")
    await sandbox.stop()
  }

  @Test func `a second sign-in in the same browser needs no password`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor()
    #expect(try await visitor.visit(try client.authorizationURL()).sawLogin)
    let second = try await visitor.visit(try client.authorizationURL())
    #expect(!second.sawLogin)
    let forced = try await visitor.visit(try client.authorizationURL(["prompt": "login"]))
    #expect(forced.sawLogin)
    #expect(try await SandboxVisitor().visit(try client.authorizationURL()).sawLogin)
    await sandbox.stop()
  }

  @Test func `a form from another browser or without its token has no effect`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL())
    let cookie = try #require(page.header("set-cookie"))
    #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Lax"))
    let own = (name: "Cookie", value: String(cookie.prefix { $0 != ";" }))
    let hidden = SandboxPeer.hiddenFields(page.text)
    let typed = [("username", "alice"), ("password", "alice-password"), ("decision", "sign-in")]
    let other = try await client.get(try client.authorizationURL())
    let foreign = (
      name: "Cookie", value: String(try #require(other.header("set-cookie")).prefix { $0 != ";" })
    )
    for (form, headers) in [
      (hidden + typed, [foreign]), (hidden.filter { $0.0 != "request" } + typed, [own]),
    ] {
      let answer = try await client.post("/login", form, headers: headers)
      #expect(answer.status == 400)
      #expect(answer.text.contains("This sign-in is over"))
    }
    // The server ignores a form without its token, and shows the page that the sign-in needs.
    let unproven = try await client.post(
      "/login", hidden.filter { $0.0 != "form_token" } + typed, headers: [own])
    #expect(unproven.status == 303 && unproven.header("set-cookie") == nil)
    let again = try await client.get(try #require(unproven.header("location")), headers: [own])
    #expect(again.text.contains("Password"))
    let right = try await client.post("/login", hidden + typed, headers: [own])
    #expect(right.status == 303)
    // The cookie from before the sign-in is no longer valid.
    let renewed = try #require(right.header("set-cookie"))
    #expect(renewed.prefix { $0 != ";" } != cookie.prefix { $0 != ";" })
    let consent = try #require(right.header("location"))
    #expect(try await client.get(consent, headers: [own]).status == 400)
    let cookieNow = (name: "Cookie", value: String(renewed.prefix { $0 != ";" }))
    #expect(try await client.get(consent, headers: [cookieNow]).status == 200)
    await sandbox.stop()
  }

  @Test func `the login and consent pages say how much time the user has`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL())
    #expect(page.text.contains("You have 10 minutes to sign in."))
    let cookie = try #require(page.header("set-cookie"))
    sandbox.advance(by: .seconds(545))
    let typed = [("username", "alice"), ("password", "alice-password"), ("decision", "sign-in")]
    let login = try await client.post(
      "/login", SandboxPeer.hiddenFields(page.text) + typed,
      headers: [(name: "Cookie", value: String(cookie.prefix { $0 != ";" }))])
    let renewed = try #require(login.header("set-cookie"))
    let consent = try await client.get(
      try #require(login.header("location")),
      headers: [(name: "Cookie", value: String(renewed.prefix { $0 != ";" }))])
    #expect(
      consent.text.contains("Allow ") && consent.text.contains("You have 1 minute to sign in."))
    await sandbox.stop()
  }

  @Test func `no page or form of a sign-in is accepted after ten minutes`() async throws {
    let now = Date()
    var options = SandboxOptions()
    options.now = { now }
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let typed = [("username", "alice"), ("password", "alice-password"), ("decision", "sign-in")]
    let page = try await client.get(try client.authorizationURL())
    let cookie = try SandboxPeer.cookie(of: page)
    let other = try await client.get(try client.authorizationURL())
    sandbox.advance(by: .seconds(599))
    let login = try await client.post(
      "/login", SandboxPeer.hiddenFields(page.text) + typed, headers: [cookie])
    let renewed = try SandboxPeer.cookie(of: login)
    let consent = try await client.get(try #require(login.header("location")), headers: [renewed])
    sandbox.advance(by: .seconds(1))
    let late = [
      try await client.post(
        "/login", SandboxPeer.hiddenFields(other.text) + typed,
        headers: [try SandboxPeer.cookie(of: other)]),
      try await client.post(
        "/consent", SandboxPeer.hiddenFields(consent.text) + [("decision", "allow")],
        headers: [renewed]),
      try await client.get("/consent", headers: [renewed]),
    ]
    for answer in late {
      #expect(answer.status == 400 && answer.text.contains("This sign-in is over"))
    }
    await sandbox.stop()
  }

  @Test func `consent is not accepted before the sign-in`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL())
    let cookie = try #require(page.header("set-cookie"))
    let own = (name: "Cookie", value: String(cookie.prefix { $0 != ";" }))
    let form = SandboxPeer.hiddenFields(page.text) + [("decision", "allow")]
    let early = try await client.post("/consent", form, headers: [own])
    #expect(early.status == 303)
    let next = try await client.get(try #require(early.header("location")), headers: [own])
    #expect(next.text.contains("Password"))
    await sandbox.stop()
  }

  /// Two programs sign in at one server, and both pages are open in one browser.
  @Test(arguments: ["/login", "/consent"])
  func `after another login, an older form has no effect, but its sign-in can still be finished`(
    path: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = try await client.get(try client.authorizationURL(["state": "first"]))
    var cookie = try #require(first.header("set-cookie")?.prefix { $0 != ";" })
    var own: [(name: String, value: String)] { [("Cookie", String(cookie))] }
    let address = try client.authorizationURL(["state": "second"]).absoluteString
    let second = try await client.get(
      String(address.dropFirst(sandbox.issuer.absoluteString.count)), headers: own)
    func send(
      _ path: String, _ page: LoopbackAnswer, _ more: [(String, String)]
    ) async throws -> LoopbackAnswer {
      let answer = try await client.post(
        path, SandboxPeer.hiddenFields(page.text) + more, headers: own)
      if let new = answer.header("set-cookie") { cookie = new.prefix { $0 != ";" } }
      #expect(answer.status == 303)
      return try await client.get(try #require(answer.header("location")), headers: own)
    }
    func logIn(_ page: LoopbackAnswer, as name: String) async throws -> LoopbackAnswer {
      try await send("/login", page, [("username", name), ("password", name + "-password")])
    }
    let next: LoopbackAnswer
    if path == "/login" {
      #expect(try await logIn(second, as: "alice").text.contains("Alice Liddell"))
      next = try await logIn(first, as: "bob")
      #expect(next.text.contains("Alice Liddell"), "the old form logs nobody in")
    } else {
      let consent = try await logIn(first, as: "alice")
      let login = try await send("/consent", consent, [("decision", "switch")])
      #expect(try await logIn(login, as: "bob").text.contains("Bob Cratchit"))
      next = try await send("/consent", consent, [("decision", "allow")])
      #expect(next.text.contains("Bob Cratchit"), "the old form allows nothing")
    }
    let end = try await client.post(
      "/consent", SandboxPeer.hiddenFields(next.text) + [("decision", "allow")], headers: own)
    let target = SandboxPeer.parameters(try #require(end.header("location")))
    #expect(target.value("code") != nil && target.value("state") == "first")
    await sandbox.stop()
  }

  @Test func `a browser without cookies gets a page that says so`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL())
    for (path, form) in [
      ("/login", SandboxPeer.hiddenFields(page.text)), ("/consent", []),
      ("/device", [("user_code", "BCDF-GHJK")]),
    ] {
      let answer = try await client.post(path, form)
      #expect(answer.status == 400 && answer.text.contains("Your browser keeps no cookie"))
      #expect(answer.text.contains(sandbox.issuer.absoluteString))
    }
    await sandbox.stop()
  }

  /// Screen readers read the title first.
  @Test func `the title of a page that is shown again names the error`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let visit = try await SandboxVisitor(triesWrongPasswordFirst: true).visit(
      try client.authorizationURL())
    func title(_ page: String) throws -> String {
      String(try #require(page.firstMatch(of: #/<title>(.*)</title>/#)?.1))
    }
    #expect(try title(visit.pages[0].body) == "Sign in · OAuth Sandbox")
    #expect(try title(visit.pages[1].body) == "Wrong password · Sign in · OAuth Sandbox")
    let code = try await client.get("/device")
    let cookie = String(try #require(code.header("set-cookie")).prefix { $0 != ";" })
    let wrong = try await client.post(
      "/device", SandboxPeer.hiddenFields(code.text) + [("user_code", "x")],
      headers: [("Cookie", cookie)])
    #expect(try title(code.text) == "Connect a device · OAuth Sandbox")
    #expect(try title(wrong.text) == "Wrong code · Connect a device · OAuth Sandbox")
    await sandbox.stop()
  }

  @Test func `the consent page lets the user switch to another account`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL())
    var cookie = try #require(page.header("set-cookie")?.prefix { $0 != ";" })
    func send(_ path: String, _ page: LoopbackAnswer, _ more: [(String, String)])
      async throws -> LoopbackAnswer
    {
      let answer = try await client.post(
        path, SandboxPeer.hiddenFields(page.text) + more, headers: [("Cookie", String(cookie))])
      if let new = answer.header("set-cookie") { cookie = new.prefix { $0 != ";" } }
      return try await client.get(
        try #require(answer.header("location")), headers: [("Cookie", String(cookie))])
    }
    let alice = try await send(
      "/login", page, [("username", "alice"), ("password", "alice-password")])
    #expect(alice.text.contains("Alice Liddell"))
    let login = try await send("/consent", alice, [("decision", "switch")])
    #expect(login.text.contains("Password"))
    let bob = try await send("/login", login, [("username", "bob"), ("password", "bob-password")])
    #expect(bob.text.contains("Bob Cratchit"))
    await sandbox.stop()
  }

  @Test func `values of requests and options are escaped in the pages of a sign-in`() async throws {
    let attack = "\"><script>alert(1)</script><img src=x onerror=alert(1)>"
    var options = SandboxOptions()
    options.clients = [SandboxClient(id: attack, name: attack, redirectURIs: ["a.b:/c"])]
    options.users = [SandboxUser(name: attack, password: "p", displayName: attack)]
    options.scopes = [SandboxScope("demo", attack)]
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let visitor = SandboxVisitor(user: options.users[0], triesWrongPasswordFirst: true)
    let visit = try await visitor.visit(
      try client.authorizationURL([
        "client_id": attack, "redirect_uri": "a.b:/c", "state": attack, "scope": "demo",
      ]))
    #expect(visit.pages.count == 5)
    let wrong = try await client.get(try client.authorizationURL(["redirect_uri": attack]))
    let unknown = try await client.get(try client.authorizationURL(["client_id": attack + "x"]))
    for body in visit.pages.map(\.body) + [wrong.text, unknown.text] {
      #expect(!body.contains("<script"))
      #expect(!body.contains("<img"))
    }
    #expect(SandboxPeer.parameters(visit.redirect).value("state") == attack)
    await sandbox.stop()
  }

  @Test(arguments: [
    ("com.example.sandbox:/callback", "'self' com.example.sandbox:"),
    ("http://127.0.0.1:8080/callback", "'self' http://127.0.0.1:8080"),
    ("http://localhost/callback", "'self' http://localhost"),
  ])
  func `a form may submit only to the sandbox and back to the app`(
    uri: String, targets: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let page = try await client.get(try client.authorizationURL(["redirect_uri": uri]))
    let policy = try #require(page.header("content-security-policy"))
    #expect(policy.hasPrefix("default-src 'none'; style-src 'nonce-"))
    #expect(policy.hasSuffix("frame-ancestors 'none'; form-action \(targets)"))
    #expect(page.header("cache-control") == "no-store")
    #expect(page.header("x-frame-options") == "DENY")
    await sandbox.stop()
  }

  @Test func `a request with another host name is rejected`() async throws {
    let sandbox = try await SandboxServer.start()
    let connection = try await LoopbackConnection(port: UInt16(try #require(sandbox.issuer.port)))
    try await connection.send(
      Data("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".utf8))
    let answer = try #require(LoopbackAnswer(try await connection.receiveAll()))
    #expect(answer.status == 421)
    #expect(try await SandboxPeer(sandbox: sandbox).get("/").text.contains("is running"))
    #expect(try await SandboxPeer(sandbox: sandbox).get("/nothing").status == 404)
    await sandbox.stop()
  }
}
