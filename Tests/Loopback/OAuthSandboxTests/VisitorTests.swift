import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

/// Where a visit ends: back at the app, or on a page that says why not.
@Suite(.timeLimit(.minutes(1))) struct VisitorTests {
  struct Ending: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var user = SandboxUser.alice
    var changes: [String: String?] = [:]
    var misbehaviour: (SandboxEndpoint, SandboxMisbehaviour)?
    let heading: String
    let detail: String?

    static let wrongPassword = "The user name or the password is wrong."
    static let all = [
      Ending(
        testDescription: "a wrong password",
        user: SandboxUser(name: "alice", password: "wrong"), heading: "Sign in",
        detail: wrongPassword),
      Ending(
        testDescription: "an unknown user", user: SandboxUser(name: "mallory", password: "x"),
        heading: "Sign in", detail: wrongPassword),
      Ending(
        testDescription: "an unknown client", changes: ["client_id": "nobody"],
        heading: "This app is not known here",
        detail: "The link that brought you here names no app that is registered, or it is "
          + "malformed. You were not signed in, and nothing was sent anywhere."),
      Ending(
        testDescription: "an unregistered redirect",
        changes: ["redirect_uri": "https://app.example/other"],
        heading: "This link leads to the wrong place",
        detail: "It names no address that Sandbox App has registered for the way back. You were "
          + "not signed in, and nothing was sent there."),
      Ending(
        testDescription: "a captive portal", misbehaviour: (.authorization, .html),
        heading: "Welcome", detail: "Accept the terms to use this network."),
      Ending(
        testDescription: "a server that fails", misbehaviour: (.login, .unavailable(retryAfter: 5)),
        heading: "status 503", detail: nil),
    ]
  }

  @Test(arguments: Ending.all)
  func `a visit that does not return to the app fails with the text of its last page`(
    ending: Ending
  ) async throws {
    let sandbox = try await SandboxServer.start()
    if let (endpoint, misbehaviour) = ending.misbehaviour {
      sandbox.misbehave(at: endpoint, misbehaviour)
    }
    let url = try SandboxPeer(sandbox: sandbox).authorizationURL(ending.changes)
    let error = await #expect(throws: SandboxError.self) {
      try await SandboxVisitor(user: ending.user).visit(url)
    }
    #expect(error == .endedOnPage(heading: ending.heading, detail: ending.detail))
    #expect("\(try #require(error))".contains(ending.heading))
    await sandbox.stop()
  }

  @Test func `the visitor returns an https redirect to the app without following it`() async throws
  {
    var options = SandboxOptions()
    options.clients[0].redirectURIs.append("https://app.example/callback?from=a")
    let sandbox = try await SandboxServer.start(options)
    let url = try SandboxPeer(sandbox: sandbox).authorizationURL([
      "redirect_uri": "https://app.example/callback?from=a"
    ])
    for decision in [SandboxVisitor.Decision.allow, .deny] {
      let visit = try await SandboxVisitor(decision: decision).visit(url)
      #expect(visit.redirect.hasPrefix("https://app.example/callback?from=a&"))
      let parameters = SandboxPeer.parameters(visit.redirect)
      #expect(parameters.value("state") == "a state+&=%")
      #expect((parameters.value("code") != nil) == (decision == .allow))
      #expect(visit.pages.last?.status == 303, "the app got no request")
    }
    await sandbox.stop()
  }

  /// Addresses that differ from the app's `https` redirect URI in their scheme, host or path.
  @Test(arguments: [
    "https://evil.example/?code=secret-code&state=secret-state",
    "https://app.example.evil.example/callback?code=secret-code&state=secret-state",
    "https://app.example/callbackx?code=secret-code&state=secret-state",
    "http://app.example/callback?code=secret-code&state=secret-state",
    "https://secret-code@evil.example/?state=secret-state",
  ])
  func `a redirect to a foreign address is not followed, and the error contains no code or state`(
    target: String
  ) async throws {
    let server = try LoopbackServer { _ in
      .response(LoopbackResponse(status: 302, headers: [("Location", target)]))
    }
    let start =
      "http://\(server.authority)/?state=secret-state"
      + "&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback"
    try await expect(.notLoopback(""), from: start)
    await server.stop()
  }

  @Test func `a visit of an address on another computer is refused`() async throws {
    try await expect(
      .notLoopback(""), from: "https://sequencing.com/oauth2/authorize?state=secret-state")
  }

  @Test func `an error that quotes a page leaves out the value of the state parameter`()
    async throws
  {
    let server = try LoopbackServer { _ in
      let page = "<h1>Bad secret-state</h1><p>secret-state, secret%2Dstate: <b>no &amp; no</b></p>"
      return .response(LoopbackResponse(status: 400, body: Data(page.utf8)))
    }
    try await expect(
      .endedOnPage(heading: "Bad [removed]", detail: "[removed], secret%2Dstate: no & no"),
      from: "http://\(server.authority)/?state=secret-state")
    await server.stop()
  }

  @Test func `endless redirects make the visit fail`() async throws {
    let server = try LoopbackServer { _ in
      .response(LoopbackResponse(status: 302, headers: [("Location", "/?state=secret-state")]))
    }
    try await expect(.unexpectedAnswer(""), from: "http://\(server.authority)/")
    await server.stop()
  }

  /// Expects a visit to fail with this error and without a secret in any text.
  ///
  /// An expected error with an empty text matches any text.
  private func expect(_ expected: SandboxError, from start: String) async throws {
    let url = try #require(URL(string: start))
    let error = try #require(
      await #expect(throws: SandboxError.self) { try await SandboxVisitor().visit(url) })
    switch (expected, error) {
    case (.notLoopback(""), .notLoopback), (.unexpectedAnswer(""), .unexpectedAnswer): break
    default: #expect(error == expected)
    }
    var text = "\(error)" + String(reflecting: error) + (error.errorDescription ?? "")
    dump(error, to: &text)
    #expect(!text.contains("secret-code") && !text.contains("secret-state"), "\(text)")
  }
}
