import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Signs users in on the sandbox's own pages in a real browser, and checks each page.
@Suite(.requires(.chromium), .timeLimit(.minutes(15)))
struct SandboxPageTests {
  @Test func `alice signs in after a wrong password`() async throws {
    try await withSignIn { browser, screen, oauth in
      try await browser.reach("Sign in")
      try await Look.over(browser, named: "sandbox-login")
      try await browser.logInToSandbox(as: SandboxUser(name: "alice", password: "no-such-password"))
      try await browser.wait(for: "[role=alert]")
      try await Look.over(browser, named: "sandbox-login-failed")
      #expect(try await !browser.source.contains("no-such-password"))

      try await browser.logInToSandbox(as: .alice)
      try await browser.reach("Allow Sandbox App?")
      #expect(try await browser.text(of: "main").contains("Alice Liddell"))
      try await Look.over(browser, named: "sandbox-consent")
      try await browser.decide("allow")
      try await browser.reach("You are signed in")

      guard case .authorized(let token) = try await screen.event() else {
        Issue.record("not signed in: \(screen.events)")
        return
      }
      #expect(screen.events.count == 1)
      #expect(oauth.result.token == token)
      #expect(token.scopes == ["profile", "demo"])
    }
  }

  /// A page that is enlarged to 200 %, or above a telephone's keyboard, shows little at once.
  @Test(arguments: [(640, 360), (320, 400)])
  func `in a small window a login field has the focus, and the error or heading is visible`(
    width: Int, height: Int
  ) async throws {
    try await withSignIn { browser, _, oauth in
      try await browser.reach("Sign in")
      try await browser.resize(width: width, height: height)
      func areOutOfSight(_ selector: String) async throws -> [String] {
        try await browser.run(
          """
          return [...document.querySelectorAll("\(selector)"), document.activeElement]
            .filter((element) => {
              const place = element.getBoundingClientRect();
              return place.top < 0 || place.bottom > innerHeight || element === document.body;
            }).map((element) => `${element.tagName} ${element.id}`)
          """, as: [String].self)
      }
      func hasFocus(_ id: String) async throws {
        try await eventually("the field has the focus") {
          try await browser.run("return document.activeElement.id === '\(id)'", as: Bool.self)
        }
      }
      try await browser.go(to: browser.url)
      try await hasFocus("username")
      try await browser.screenshot("sandbox-login-small-\(width)")
      #expect(try await areOutOfSight("h1") == [])
      try await browser.logInToSandbox(as: SandboxUser(name: "alice", password: "wrong"))
      try await browser.wait(for: "[role=alert]")
      try await hasFocus("password")
      try await browser.screenshot("sandbox-login-failed-small-\(width)")
      #expect(try await areOutOfSight("#problem") == [])
      oauth.cancelSignIn()
    }
  }

  /// The test uses w3m, a terminal browser without style sheets.
  @Test(.requires(.textBrowser))
  func `without a style sheet each field has its own line, and no line has only one letter`()
    async throws
  {
    let folder = try TemporaryFolder()
    let sandbox = try await SandboxServer.start()
    let address =
      sandbox.authorizationEndpoint.absoluteString
      + "?client_id=sandbox-app&response_type=code&redirect_uri=com.example.sandbox:/callback"
      + "&code_challenge_method=S256&code_challenge=" + String(repeating: "a", count: 43)
    let visit = try await SandboxVisitor().visit(try #require(URL(string: address)))
    var texts: [String] = []
    for page in visit.pages where page.body.contains("<form") {
      try folder.write(page.body, to: "page.html")
      let result = try await ChildProcess.run([
        "w3m", "-dump", "-cols", "78", folder.file("page.html"),
      ])
      try #require(result.status == 0, "\(result.errors)")
      texts.append(result.output)
    }
    let pages = texts.map { $0.split(separator: "\n").map { $0.split(separator: " ") } }
    #expect(pages.count == 2)
    #expect(texts.first?.contains("Password") == true, "\(texts)")
    #expect(texts.last?.contains("Allow Sandbox App?") == true, "\(texts)")
    for line in pages.joined() {
      #expect(!(line.contains("name") && line.contains("Password")), "\(texts)")
      #expect(!(line.contains("Password") && line.contains("Sign")), "\(texts)")
      #expect(line != ["A"], "\(texts)")
    }
    await sandbox.stop()
  }

  @Test func `a user who denies is sent back, and the app is notified once`() async throws {
    try await withSignIn { browser, screen, oauth in
      try await browser.logInToSandbox(as: .alice)
      try await browser.decide("deny")
      try await browser.reach("You were not signed in")
      guard case .cancelled = try await screen.event() else {
        Issue.record("not told of the denial: \(screen.events)")
        return
      }
      #expect(screen.events.count == 1)
      #expect(oauth.result.token == nil)
    }
  }

  @Test func `a user who cancels before the login is not signed in`() async throws {
    try await withSignIn { browser, screen, _ in
      try await browser.decide("cancel")
      try await browser.reach("You were not signed in")
      guard case .cancelled = try await screen.event() else {
        Issue.record("not told of the cancellation: \(screen.events)")
        return
      }
    }
  }

  @Test func `on the consent page the user can switch to another account`() async throws {
    try await withSignIn { browser, screen, _ in
      try await browser.logInToSandbox(as: .alice)
      try await browser.decide("switch")
      try await browser.reach("Sign in")
      try await browser.logInToSandbox(as: .bob)
      try await browser.reach("Allow Sandbox App?")
      #expect(try await browser.text(of: "main").contains("Bob Cratchit"))
      try await browser.decide("allow")
      try await browser.reach("You are signed in")
      guard case .authorized = try await screen.event() else {
        Issue.record("not signed in: \(screen.events)")
        return
      }
    }
  }

  @Test func `going back, or allowing again in another tab, shows that the sign-in is over`()
    async throws
  {
    try await withSignIn { browser, screen, _ in
      try await browser.logInToSandbox(as: .alice)
      try await browser.reach("Allow Sandbox App?")
      try await browser.inAnotherTab(at: browser.url) {
        try await browser.decide("allow")
        try await browser.reach("You are signed in")
        _ = try await screen.event()
        try await browser.goBack()
        try await browser.reach("This sign-in is over")
      }
      try await browser.decide("allow")
      try await browser.reach("This sign-in is over")
      try await Look.over(browser, named: "sandbox-over")
      #expect(screen.events.count == 1)
    }
  }

  @Test func `the pages for developers pass the same checks as those for users`() async throws {
    let sandbox = try await SandboxServer.start()
    let authorize = sandbox.authorizationEndpoint.absoluteString
    let pages = [
      ("home", sandbox.issuer.absoluteString, "The sandbox is running"),
      ("nothing", sandbox.issuer.absoluteString + "/nothing", "There is nothing here"),
      (
        "no-client", authorize + "?client_id=%3Cscript%3Ealert(1)%3C/script%3E",
        "This app is not known here"
      ),
      (
        "no-redirect",
        authorize + "?client_id=sandbox-app&response_type=code&redirect_uri=https://a.example/"
          + String(repeating: "long", count: 30),
        "This link leads to the wrong place"
      ),
    ]
    try await Browser.open { browser in
      for (name, url, heading) in pages {
        try await browser.go(to: url)
        #expect(try await browser.text(of: "h1") == heading)
        try await Look.over(browser, named: "sandbox-\(name)")
      }
    }
    await sandbox.stop()
  }

  /// Starts a sandbox and a sign-in there.
  private func withSignIn(_ test: (Browser, Screen, SQOAuth) async throws -> Void) async throws {
    let sandbox = try await SandboxServer.start()
    try await Browser.open { browser in
      let screen = Screen()
      let oauth = browser.startSignIn(
        telling: screen,
        try ClientConfiguration(
          clientID: SandboxClient.app.id, redirectURI: "http://127.0.0.1/callback",
          scope: "profile demo",
          provider: .issuer(sandbox.issuer.absoluteString)))
      try await test(browser, screen, oauth)
    }
    await sandbox.stop()
  }
}
