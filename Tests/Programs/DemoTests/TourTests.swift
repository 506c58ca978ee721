import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The tour on a terminal` {
  private let folder: TemporaryFolder
  private let terminal: PseudoTerminal

  init() throws {
    folder = try TemporaryFolder()
    terminal = try PseudoTerminal()
  }

  /// Waits for a text and returns the frame that shows it.
  @discardableResult
  private func shows(_ text: String) async throws -> String {
    try await eventually("the screen shows: \(text)") { terminal.frame(with: text) }
  }

  private func start(
    _ arguments: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess {
    let demo = try DemoProcess(
      arguments, in: folder, environment: environment, input: terminal.handle,
      output: terminal.handle)
    try await shows("Please sign in.")
    return demo
  }

  @Test func `the tour goes from the login screen to the main screen and back`() async throws {
    let before = terminal.modes
    let demo = try await start()
    #expect(terminal.modes != before)
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    #expect(terminal.frame.contains("scope     openid profile demo"))
    #expect(terminal.frame.contains("expires   in "))
    try terminal.press("o")
    try await shows("Please sign in.")
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
    #expect(terminal.modes == before)
    #expect(terminal.everything.hasPrefix("\u{1B}[?1049h"))
    try await eventually("the tour leaves the alternate screen") {
      terminal.everything.hasSuffix("\u{1B}[?1049l")
    }
    #expect(!terminal.everything.contains("access-"))
  }

  @Test func `the tour refreshes on request and shows each refresh`() async throws {
    let demo = try await start()
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    for count in 1...2 {
      try terminal.press("r")
      try await eventually("\(count) notifications are shown") {
        terminal.frame.components(separatedBy: "Token refreshed").count - 1 == count
      }
    }
    #expect(terminal.frame.contains("Signed in as Alice Liddell"))
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
    #expect(!terminal.everything.contains("access-"))
  }

  @Test func `the tour goes to the login screen when the server has ended the session`()
    async throws
  {
    let demo = try await start()
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    try terminal.press("e")
    try await shows("The server has ended the session.")
    try terminal.press("r")
    try await shows("Your session has ended.")
    #expect(terminal.frame.contains("(invalid_grant)"))
    #expect(terminal.frame.contains("Please sign in."))
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  @Test
  func `the tour shows files, hides them after a revocation, and asks for access to read again`()
    async throws
  {
    let demo = try await start()
    try terminal.press("s")
    try await shows("Family history.md")
    try terminal.press("v")
    try await shows("the tokens were revoked (revoked)")
    #expect(!terminal.frame.contains("Family history.md"))
    try terminal.press("f")
    try await shows("Reading the files needs access")
    try await shows("/authorize?response_type=code&")
    try terminal.press("s")
    try await shows("Family history.md")
    try await shows("Signed in as Alice Liddell")
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  @Test(.requiresGRPCIO)
  func `the tour calls a gRPC server from the main screen, and asks to sign in after signing out`()
    async throws
  {
    try folder.write("", to: "userinfo")
    try await GRPCServer.running(options: ["--userinfo", "@" + folder.file("userinfo")]) { server in
      let demo = try await start(["tour", "--rpc", server.url.absoluteString])
      let issuer = try #require(terminal.frame.firstMatch(of: #/server +(http:[0-9.:/]+)/#)?.1)
      // The gRPC server validates tokens at this sandbox, which the tour has just started.
      try folder.write("\(issuer)/api/me", to: "userinfo")
      #expect(!terminal.frame.contains("c call"))
      try terminal.press("s")
      try await shows("rpc       Used scope: openid profile demo files on behalf of user alice")
      #expect(terminal.frame.contains("c call"))
      #expect(terminal.everything.contains("Waiting for RPC to complete..."))
      try terminal.press("e")
      try await shows("The server has ended the session.")
      // The server rejects the token, and there is no other token.
      try terminal.press("c")
      try await shows("Your session has ended.")
      #expect(terminal.frame.contains("Please sign in."))
      try terminal.press("s")
      try await shows("rpc       Used scope: openid profile demo files on behalf of user alice")
      try terminal.press("o")
      try await shows("Please sign in.")
      #expect(!terminal.frame.contains("rpc "))
      try terminal.press("q")
      #expect(await demo.outcome().status == 0)
      #expect(!terminal.everything.contains("access-"))
    }
  }

  @Test
  func `the tour calls the sandbox's own gRPC server and shows its challenge for a bad token`()
    async throws
  {
    let demo = try await start()
    #expect(!terminal.frame.contains("c call"))
    try terminal.press("s")
    let used = "rpc       Used scope: openid profile demo files on behalf of user alice"
    try await shows(used)
    #expect(terminal.frame.contains("c call"))
    try terminal.press("b")
    try await shows("rpc       Invalid credentials. Server challenge:")
    try await shows("          Bearer realm=\"sandbox\", error=\"invalid_token\",")
    #expect(terminal.frame.contains("Signed in as Alice Liddell"))
    #expect(terminal.frame.contains("Family history.md"))
    #expect(terminal.frame.split(separator: "\r\n").allSatisfy { $0.count <= 80 })
    try terminal.press("c")
    try await shows(used)
    try terminal.press("e")
    try await shows("The server has ended the session.")
    try terminal.press("c")
    try await shows("Your session has ended.")
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
    #expect(!terminal.everything.contains("access-"))
  }

  @Test(.requiresGRPCIO)
  func `the tour shows the challenge of a call that its token does not allow`() async throws {
    try folder.write("", to: "userinfo")
    let options = ["--userinfo", "@" + folder.file("userinfo"), "--scope", "admin"]
    try await GRPCServer.running(options: options) { server in
      let demo = try await start(["tour", "--rpc", server.url.absoluteString])
      let issuer = try #require(terminal.frame.firstMatch(of: #/server +(http:[0-9.:/]+)/#)?.1)
      try folder.write("\(issuer)/api/me", to: "userinfo")
      try terminal.press("s")
      try await shows("rpc       Unexpected RPC error 7: the token does not allow it")
      try await shows("          Bearer error=\"insufficient_scope\", scope=\"admin\"")
      try terminal.press("q")
      #expect(await demo.outcome().status == 0)
    }
  }

  @Test(.requiresGRPCIO)
  func `the tour shows the challenge of a gRPC server that rejects the built-in sandbox's tokens`()
    async throws
  {
    let other = try await SandboxServer.start()
    let userInfo = other.url(.me)
    try await GRPCServer.running(userInfo: userInfo) { server in
      let demo = try await start(["--rpc", server.url.absoluteString])
      try terminal.press("s")
      try await shows("rpc       Invalid credentials. Server challenge:")
      try await shows("          Bearer realm=\"sandbox\", error=\"invalid_token\"")
      #expect(terminal.frame.split(separator: "\r\n").allSatisfy { $0.count <= 80 })
      try terminal.press("q")
      #expect(await demo.outcome().status == 0)
    }
    await other.stop()
  }

  /// A screen reader speaks each written text, and a braille display shows it.
  @Test func `while the tour waits, it writes only the changed lines`() async throws {
    let demo = try await start()
    try terminal.press("\r")
    try await shows("No browser was opened: there is no display")
    let before = (bytes: terminal.everything.utf8.count, frames: terminal.frameCount)
    try await eventually("three seconds are shown") { terminal.frameCount >= before.frames + 3 }
    let text = String(decoding: terminal.everything.utf8.dropFirst(before.bytes), as: UTF8.self)
    #expect(text.contains("Waiting for the browser") && text.contains(" of 300 s"))
    #expect(!text.contains("alice") && !text.contains("SequencingOAuth demo"), "\(text)")
    // After a suspension, the program cannot know what the screen shows, so it redraws everything.
    demo.send(SIGCONT)
    try await eventually("the whole screen is drawn again") {
      String(decoding: terminal.everything.utf8.dropFirst(before.bytes), as: UTF8.self)
        .contains("SequencingOAuth demo")
    }
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  /// Plain mode is for screen readers.
  ///
  /// Only an unknown key prints everything again.
  @Test func `the tour in plain mode prints only changes and reads letters with Enter`()
    async throws
  {
    let before = terminal.modes
    let demo = try DemoProcess(
      ["tour", "--plain"], in: folder, input: terminal.handle, output: terminal.handle)
    func tells(_ text: String) async throws {
      try await eventually("the tour prints: \(text)") { terminal.everything.contains(text) }
    }
    try await tells("Please sign in.")
    try await tells("Type a key and Enter: enter to sign in, s to sign in without a browser,")
    #expect(terminal.modes == before)
    try terminal.press("x\n")
    try await eventually("an unknown key prints everything again") {
      terminal.everything.components(separatedBy: "Please sign in.").count == 3
    }
    try terminal.press("\n")
    try await tells("Waiting for you to sign in in the browser. You have 300 s.")
    try await tells("No browser was opened: there is no display to open a browser on.")
    try await tells("Open this address: http://127.0.0.1:")
    try terminal.press("esc\n")
    try await tells("You did not sign in.")
    try terminal.press("s\n")
    try await tells("Signed in as Alice Liddell.")
    try await tells("file: Family history.md")
    try await tells("rpc: Used scope: openid profile demo files on behalf of user alice")
    try terminal.press("R\n")
    try await tells("Token refreshed at ")
    try terminal.press("q\n")
    #expect(await demo.outcome().status == 0)
    #expect(!terminal.everything.contains("\u{1B}") && !terminal.everything.contains("access-"))
    #expect(terminal.everything.components(separatedBy: "file: Family history.md").count == 2)
  }

  @Test func `the tour in plain mode ends when its input ends`() async throws {
    let demo = try DemoProcess(["tour", "--plain"], in: folder)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && outcome.lines.first == "Please sign in.", "\(outcome.errors)")
  }

  @Test func `the tour shows the address if no browser opens, and can be cancelled`() async throws {
    let demo = try await start()
    try terminal.press("\r")
    try await shows("No browser was opened: there is no display")
    #expect(terminal.frame.contains("/authorize?response_type=code&"))
    try terminal.press("\u{1B}")
    try await shows("You did not sign in.")
    try terminal.press("\r")
    try await shows("No browser was opened")
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    try terminal.press("\u{3}")
    #expect(await demo.outcome().status == 0)
  }

  @Test(arguments: [[], ["tour", "--plain"]])
  func `the tour shows an error redirect without a state and keeps waiting`(arguments: [String])
    async throws
  {
    let demo = try DemoProcess(
      arguments, in: folder, input: terminal.handle, output: terminal.handle)
    try await eventually("the tour begins") { terminal.everything.contains("Please sign in.") }
    try terminal.press(arguments.isEmpty ? "\r" : "\n")
    try await eventually("the address is shown") {
      terminal.everything.contains(/redirect_uri=\S+&\S+/)
    }
    let address = try #require(terminal.everything.firstMatch(of: /redirect_uri=([^&\s]+)&/)?.1)
    let redirect = try #require(String(address).removingPercentEncoding)
    _ = try await CurlTransport.shared.send(
      WebRequest(url: redirect + "?error=access_denied&error_description=Not%20you"))
    try await eventually("the error redirect is shown") {
      terminal.everything.contains("a redirect without a state said: access_denied (Not you)")
    }
    try terminal.press(arguments.isEmpty ? "s" : "s\n")
    try await eventually("the sign-in succeeds") {
      terminal.everything.contains("Signed in as Alice Liddell")
    }
    try terminal.press(arguments.isEmpty ? "q" : "q\n")
    #expect(await demo.outcome().status == 0)
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGABRT, SIGSEGV])
  func `the tour restores the terminal after a signal`(signal: Int32) async throws {
    let before = terminal.modes
    let demo = try await start()
    demo.send(signal)
    let outcome = await demo.outcome()
    #expect(outcome.isKilled == [SIGABRT, SIGSEGV].contains(signal))
    #expect(terminal.modes == before)
    try await eventually("the tour leaves the alternate screen") {
      terminal.everything.contains("\u{1B}[?25h\u{1B}[?1049l")
    }
  }

  @Test func `the tour adapts to a new terminal width at once`() async throws {
    let demo = try await start()
    terminal.resize(columns: 40, rows: 30)
    demo.send(SIGWINCH)
    try await eventually("the screen is narrow") {
      terminal.frame.split(separator: "\r\n").allSatisfy { $0.count <= 40 }
        && terminal.frame.contains("Please sign in.")
    }
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  @Test func `the tour shows the latest event and the login data on a small terminal`()
    async throws
  {
    terminal.resize(columns: 40, rows: 16)
    let demo = try await start()
    try terminal.press("\r")
    try await shows("No browser was opened: there is no")
    #expect(terminal.frame.contains("user      alice"))
    #expect(terminal.frame.contains("password  alice-password"))
    try terminal.press("s")
    try await shows("Signed in as Alice Liddell")
    try await shows(" more")
    try terminal.press("r")
    try await shows("Token refreshed")
    try terminal.press("e")
    let frame = try await shows("The server has ended the session.")
    #expect(frame.contains("Token refreshed"))
    #expect(frame.contains(#/and [1-9] more/#))
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  @Test(arguments: [
    (["NO_COLOR": "1"], false), (["TERM": "vt100"], true), ([:], true),
  ])
  func `the tour has colours unless they are disabled`(
    environment: [String: String], hasColours: Bool
  ) async throws {
    let demo = try await start([], environment)
    let colours = #/\x1B\[[0-9;]*(3[0-7]|38;5;[0-9]+)m/#
    #expect(terminal.everything.contains(colours) == hasColours)
    try terminal.press("q")
    #expect(await demo.outcome().status == 0)
  }

  @Test func `the tour prints plain lines on a terminal that cannot be drawn on`() async throws {
    let demo = try DemoProcess(
      [], in: folder, environment: ["TERM": "dumb"], input: terminal.handle,
      output: terminal.handle)
    #expect(await demo.outcome().status == 0)
    try await eventually("the tour signs out") { terminal.everything.contains("Signed out.") }
    #expect(!terminal.everything.contains("\u{1B}"))
  }
}
