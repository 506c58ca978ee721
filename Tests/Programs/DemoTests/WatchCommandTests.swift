import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The watch command` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func start(_ more: [String] = []) throws -> DemoProcess {
    try DemoProcess(["watch", "--store", "file:" + folder.file("tokens")] + more, in: folder)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `the watch command prints a line for a refresh at once and ends with status 0 on a signal`(
    signal: Int32
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount(at: sandbox)
    let demo = try start()
    try await eventually("a line is printed") { demo.output.hasSuffix("\n") }
    demo.send(signal)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && !outcome.isKilled)
    #expect(outcome.lines.count == 1)
    let line = #/refreshed [0-9-]+T[0-9:]+Z, expires in (1 h 0 min|59 min \d+ s)\n/#
    #expect(outcome.output.wholeMatch(of: line) != nil, "\(outcome.output)")
    #expect(!outcome.errors.contains("error"))
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  @Test func `watch --sandbox works without a stored account and stores nothing`() async throws {
    let demo = try DemoProcess(["watch", "--sandbox"], in: folder)
    try await eventually("watch has started") { demo.errors.contains("Ctrl-C ends the command.") }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && !outcome.isKilled)
    #expect(outcome.output.isEmpty)
    #expect(!folder.exists("state"))
  }

  @Test func `the watch command prints a 503 from the token endpoint as a warning and tries again`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount(at: sandbox)
    sandbox.misbehave(at: .token, .status(503))
    let demo = try start()
    try await eventually("the failure is printed") { demo.errors.contains("\nwarning: ") }
    try await eventually("the refresh is tried again") { demo.output.hasPrefix("refreshed ") }
    demo.send(SIGTERM)
    #expect(await demo.outcome().status == 0)
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  @Test func `the watch command warns if a refresh returns an expired ID token`() async throws {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(2)
    let sandbox = try await SandboxServer.start(options)
    let login = [
      "login", "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id,
      "--browser", "sandbox", "--scope", "openid", "--store", "file:" + store.path,
    ]
    #expect(try await DemoProcess.run(login, in: folder).status == 0)
    sandbox.misbehave(at: .token, .idToken(.expired))
    let demo = try start()
    try await eventually("the token is refreshed") { demo.output.hasPrefix("refreshed ") }
    try await eventually("the warning is printed") {
      demo.errors.contains("\nwarning: the new ID token is not used: ")
    }
    demo.send(SIGTERM)
    #expect(await demo.outcome().status == 0)
    await sandbox.stop()
  }

  @Test
  func `if the session has ended, the watch command forgets the account and ends with status 1`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    sandbox.revokeEverything()
    let outcome = await (try start()).outcome()
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("\nerror: invalid_grant: "))
    #expect(try await store.load("default") == nil)
    await sandbox.stop()
  }

  @Test func `the watch command ends with status 1 when another program signs the account out`()
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(2)
    let sandbox = try await SandboxServer.start(options)
    _ = try await store.keepExpiredAccount(at: sandbox)
    let demo = try start()
    try await eventually("watch has started") { demo.output.hasPrefix("refreshed ") }
    // The program that signs the account out writes its output to another folder.
    let (other, kept) = (try TemporaryFolder(), ["--store", "file:" + store.path])
    #expect(try await DemoProcess.run(["logout"] + kept, in: other).output == "Signed out.\n")
    let outcome = await demo.outcome()
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.hasSuffix(
        "\nerror: signed_out: the account was signed out by another program\n"))
    let accounts = try await DemoProcess.run(["accounts"] + kept, in: other)
    #expect(accounts.output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `watch --all sends a given client secret to the server of the named client only`()
    async throws
  {
    let (sandbox, other) = (try await SandboxServer.start(), try await SandboxServer.start())
    try await store.keepExpiredAccount("a", at: sandbox, client: .service)
    try await store.keepExpiredAccount("b", at: other, client: .service)
    let words = ["watch", "--all", "--store", "file:" + store.path]
    let secret = ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""]
    let unnamed = try await DemoProcess.run(words, in: folder, environment: secret)
    #expect(unnamed.status == 2 && unnamed.output.isEmpty, "\(unnamed.errors)")
    #expect(sandbox.requests.isEmpty && other.requests.isEmpty)

    let client = [
      "--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.service.id,
    ]
    let demo = try DemoProcess(words + client, in: folder, environment: secret)
    try await eventually("the client's account is refreshed") { demo.output.contains("account a") }
    try await eventually("the other account is refused") {
      demo.errors.contains("warning: account b: invalid_configuration: ")
    }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0)
    // An account of another client is not tried again and again.
    #expect(outcome.errors.contains("failed 0, ended 0, could not be used 1."))
    #expect(other.requests.isEmpty)
    await sandbox.stop()
    await other.stop()
  }

  @Test func `watch --all ends with status 1 if its output cannot be written`() async throws {
    let sandbox = try await SandboxServer.start()
    let old = try await store.keepExpiredAccount(at: sandbox)
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let demo = try DemoProcess(
      ["watch", "--all", "--store", "file:" + store.path], in: folder, output: full,
      errors: folder.handle("errors"))
    let outcome = await demo.outcome()
    #expect(outcome.status == 1 && !outcome.isKilled)
    #expect(
      outcome.errors.contains(
        "\nerror: output_failed: standard output: No space left on device\n"),
      "\(outcome.errors)")
    let latest = sandbox.latestRefreshToken(inFamilyOf: old.refreshToken)
    #expect(try await store.load("default")?.token.refreshToken == latest)
    await sandbox.stop()
  }

  @Test func `the watch command ends with status 1 if there is no refresh token`() async throws {
    try await store.save(
      AccountRecord(
        id: "default", clientID: "x", issuer: "https://id.example.com",
        token: SQToken(accessToken: "secret-token")))
    let outcome = await (try start()).outcome()
    #expect(outcome.status == 1)
    #expect(outcome.firstError.hasPrefix("error: not_authorized: "))
  }
}
