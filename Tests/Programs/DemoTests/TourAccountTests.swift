import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The tour with a stored account at a server outside the program.
@Suite(.timeLimit(.minutes(1))) struct `The tour of an account` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private var kept: [String] { ["--store", "file:" + store.path] }

  private func provider(_ sandbox: SandboxServer) -> [String] {
    [
      "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id, "--browser",
      "sandbox",
    ]
  }

  /// A running tour and its terminal.
  private struct Tour {
    let demo: DemoProcess
    let terminal: PseudoTerminal

    func shows(_ text: String) async throws {
      try await eventually("the screen shows: \(text)") { terminal.frame.contains(text) }
    }

    func quit() async throws {
      try terminal.press("q")
      #expect(await demo.outcome().status == 0)
    }
  }

  private func start(_ words: [String]) throws -> Tour {
    let terminal = try PseudoTerminal()
    let demo = try DemoProcess(
      ["tour"] + words + kept, in: folder, input: terminal.handle, output: terminal.handle)
    return Tour(demo: demo, terminal: terminal)
  }

  @Test func `the tour of an account starts at the main screen if the stored token is valid`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login =
      ["login", "--account", "work", "--scope", "openid files"] + provider(sandbox) + kept
    #expect(try await DemoProcess.run(login, in: folder).status == 0)
    for words in [["--account", "work"], []] {
      let tour = try start(words)
      try await tour.shows("account   work")
      try await tour.shows("Family history.md")
      try await tour.quit()
      #expect(!tour.terminal.everything.contains("Please sign in."))
    }
    #expect(sandbox.requests(to: .authorization).count == 1)
    #expect(sandbox.requests(to: .token).count == 1)
    #expect(try await store.load("work") != nil)
    await sandbox.stop()
  }

  @Test func `the tour of an account first refreshes an expired token`() async throws {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount("work", at: sandbox)
    let tour = try start([])
    try await tour.shows("account   work")
    try await tour.shows("expires   in ")
    try await tour.quit()
    #expect(!tour.terminal.everything.contains("Please sign in."))
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.load("work")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  @Test
  func `the tour of an account shows the login screen after the session's end`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = ["login", "--account", "work"] + provider(sandbox) + kept
    #expect(try await DemoProcess.run(login, in: folder).status == 0)
    sandbox.revokeEverything()
    try await store.expire("work")
    let first = try start([])
    try await first.shows("Your session has ended.")
    #expect(first.terminal.frame.contains("invalid_grant"))
    try await first.quit()
    #expect(try await store.load("work") == nil)
    // The stored data of the account is enough to sign in.
    let second = try start(["--browser", "sandbox"])
    try await second.shows("Please sign in.")
    try second.terminal.press("\r")
    try await second.shows("✓ Signed in")
    try await second.quit()
    #expect(try await store.load("work")?.token.accessToken.isEmpty == false)
    await sandbox.stop()
  }

  @Test
  func `the tour of an account signs in at the provider of the options and stores the account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let tour = try start(["--account", "new", "--scope", "profile files"] + provider(sandbox))
    try await tour.shows("Please sign in.")
    #expect(tour.terminal.frame.contains("account   new"))
    // The options of the built-in sandbox, such as ending the session, are not offered.
    #expect(!tour.terminal.frame.contains("without a browser"))
    try tour.terminal.press("\r")
    try await tour.shows("scope     profile files")
    try tour.terminal.press("e")
    try await tour.quit()
    #expect(try await store.load("new")?.token.scopes == ["profile", "files"])
    let token = try await DemoProcess.run(["token"] + kept, in: folder)
    #expect(token.output.hasPrefix("access-"), "\(token.errors)")
    await sandbox.stop()
  }

  @Test func `the tour of an account enables automatic refreshes even if no account is stored`()
    async
  {
    let oauth = Account.oauth("work", keptIn: .memory(), Console())
    let start = await TourStart.resuming(oauth, Console())
    #expect(start.token == nil, "the tour begins at the login screen")
    #expect(oauth.refreshesAutomatically)
  }

  @Test func `the tour of an account removes the account when the user signs out`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount("work", at: sandbox)
    let tour = try start([])
    try await tour.shows("account   work")
    try await tour.shows("o sign out")
    try tour.terminal.press("o")
    try await tour.shows("Please sign in.")
    try await tour.quit()
    #expect(try await store.load("work") == nil)
    await sandbox.stop()
  }

  @Test func `the tour suggests sq-demo login if it cannot receive the redirect of the account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let tokens = sandbox.issueTokens()
    try await store.save(
      AccountRecord(
        id: "work", clientID: "sandbox-app", issuer: sandbox.issuer.absoluteString,
        token: SQToken(accessToken: tokens.accessToken),
        attributes: ["redirect_uri": "com.example.app:/callback"]))
    let tour = try start([])
    try await tour.shows("account   work")
    try tour.terminal.press("o")
    try await tour.shows("Please sign in.")
    try tour.terminal.press("\r")
    try await tour.shows("✗ the redirect of this account")
    #expect(tour.terminal.frame.contains("sq-demo login --account work"))
    try await tour.quit()
    await sandbox.stop()
  }

  @Test
  func `the tour of an account runs by itself without a terminal and leaves the account signed in`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    for _ in 1...2 {
      let outcome = try await DemoProcess.run(
        ["tour", "--scope", "openid files"] + provider(sandbox) + kept, in: folder)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.lines.contains("  account  default"))
      #expect(outcome.lines.contains("  Family history.md"))
      #expect(outcome.lines.last == "The account stays signed in.")
    }
    #expect(sandbox.requests(to: .authorization).count == 1)
    await sandbox.stop()
  }

  @Test func `without a terminal, the tour fails when another program signs the account out`()
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(2)
    let sandbox = try await SandboxServer.start(options)
    try await store.keepExpiredAccount(at: sandbox)
    // The tour still waits for the files when its next refresh finds no account.
    let isOver = OneShot<Void>()
    sandbox.misbehave(at: .driveFiles, .hold(until: { await isOver.wait() }))
    let demo = try DemoProcess(["tour"] + kept, in: folder)
    try await eventually("the tour asks for the files") {
      !sandbox.requests(to: .driveFiles).isEmpty
    }
    // The program that signs the account out writes its output to another folder.
    let other = try TemporaryFolder()
    #expect(try await DemoProcess.run(["logout"] + kept, in: other).output == "Signed out.\n")
    let outcome = await demo.outcome()
    #expect(outcome.status == 1, "\(outcome.output)")
    #expect(
      outcome.errors.contains("error: signed_out: the account was signed out by another program"),
      "\(outcome.errors)")
    isOver.resolve(())
    await sandbox.stop()
  }

  @Test func `the tour of an account lists Sequencing's files`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let drive = ["--drive", "/api/DataSourceList?sample=true"]
    let outcome = try await DemoProcess.run(["tour"] + kept + drive, in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.contains("  ada-lovelace.vcf"), "\(outcome.output)\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `the tour of an account continues with a warning if the server has no files`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let outcome = try await DemoProcess.run(
      ["tour", "--drive", "/nothing/here"] + kept, in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("warning: no files: http_404: "))
    #expect(outcome.lines.last == "The account stays signed in.")
    await sandbox.stop()
  }

  @Test(arguments: [[], ["--sandbox"]])
  func `the tour of an account prints the address if there is neither a keyboard nor a browser`(
    words: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let place =
      words.isEmpty
      ? ["--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id] + kept
      : words + ["--browser", "false"]
    let demo = try DemoProcess(["tour"] + place, in: folder)
    let address = try await eventually("an address is printed") {
      demo.output.split(separator: "\n").last { $0.contains("/authorize?") }.map(String.init)
    }
    #expect(demo.errors.contains("warning: no browser was opened: "))
    _ = try await SandboxVisitor().visit(try #require(URL(string: address)))
    #expect(await demo.outcome().status == 0)
    await sandbox.stop()
  }

  @Test func `the tour of an account says that no files API is known, and does not wait for files`()
    async throws
  {
    try await store.save(
      AccountRecord(
        id: "work", clientID: "app", token: SQToken(accessToken: "x"),
        attributes: ["provider": "facebook"]))
    let tour = try start([])
    try await tour.shows("files     no API for files is known; name one with --drive")
    #expect(tour.terminal.frame.contains("server    Facebook"))
    try tour.terminal.press("o")
    try await tour.shows("Please sign in.")
    try tour.terminal.press("f")
    try await tour.shows("✗ no API for files is known")
    #expect(tour.terminal.frame.contains("Please sign in."))
    try await tour.quit()
  }

  @Test func `the tour of an account reports a missing account and uses no sandbox`() async throws {
    for words in [["--account", "typo"], []] {
      let outcome = try await DemoProcess.run(["tour"] + words + kept, in: folder)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: no_account: "))
    }
  }
}
