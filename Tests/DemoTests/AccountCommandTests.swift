import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The token and logout commands` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ arguments: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(arguments, in: folder)
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-app",
    ]
  }

  @Test(arguments: [false, true])
  func `use the account that login has kept`(inNamedFile: Bool) async throws {
    let sandbox = try await SandboxServer.start()
    let file = inNamedFile ? "tokens" : "state/sq-demo/tokens.json"
    let store = inNamedFile ? ["--store", "file:" + folder.file(file)] : []
    #expect(try await run(["login"] + login(sandbox) + store).status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file(file))
    #expect(mode[.posixPermissions] as? Int == 0o600)

    let stored = try #require(
      try await FileTokenStore(path: folder.file(file)).load("default")?.token.accessToken)
    let token = try await run(["token"] + store)
    #expect(token.status == 0)
    #expect(token.output == stored + "\n")
    #expect(token.errors.isEmpty)

    let logout = try await run(["logout"] + store)
    #expect(logout.status == 0)
    #expect(logout.output == "Signed out.\n")
    #expect(!folder.read(file).contains(stored))
    #expect(try await run(["logout"] + store).output == "Nobody is signed in.\n")
    await sandbox.stop()
  }

  @Test func `sign in first where nobody is signed in, and keep the account`() async throws {
    let sandbox = try await SandboxServer.start()
    let first = try await run(["token"] + login(sandbox))
    #expect(first.status == 0)
    #expect(first.lines.count == 1)
    #expect(first.output.hasPrefix("access-"))
    #expect(try await run(["token"]).output == first.output)
    #expect(try await run(["token"] + login(sandbox)).output == first.output)
    await sandbox.stop()
  }

  @Test func `sign in at the built-in sandbox, for one run`() async throws {
    let outcome = try await run(["token", "--browser", "sandbox"])
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("access-"))
    #expect(!folder.exists("state"))
  }

  @Test func `never print one account's token for another's`() async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + login(sandbox)).status == 0)
    for other in [
      ["--issuer", "https://id.example.com", "--client-id", "sandbox-app"],
      ["--issuer", sandbox.issuer.absoluteString, "--client-id", "other"],
    ] {
      let outcome = try await run(["token"] + other)
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: not_authorized: "))
    }
    await sandbox.stop()
  }

  @Test func `do not print a token that has expired`() async throws {
    let token = SQToken(
      accessToken: "secret-token", expirationDate: Date(timeIntervalSinceNow: -1))
    try await FileTokenStore(path: folder.file("tokens"))
      .save(AccountRecord(id: "default", clientID: "x", token: token))
    let outcome = try await run(["token", "--store", "file:" + folder.file("tokens")])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError == "error: not_authorized: the access token has expired")
  }

  @Test(arguments: ["token", "logout"])
  func `leave a file alone that they do not understand`(command: String) async throws {
    try folder.write("not a token file", to: "tokens")
    let outcome = try await run([command, "--store", "file:" + folder.file("tokens")])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: store_failed: "))
    #expect(folder.read("tokens") == "not a token file")
  }
}
