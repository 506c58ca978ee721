import Foundation
import OAuthSandbox
import TestSupport
import Testing

/// Commands without a stored account.
///
/// Without `--sandbox`, they must not use the built-in sandbox, because its tokens are useless
/// after the command has ended.
@Suite(.timeLimit(.minutes(1))) struct `A command without an account` {
  private static let commands = [
    ["token"], ["call", "GET", "/api/me"], ["files"],
    ["files", "get", "x"], ["watch"], ["rpc", "https://rpc.example.com"],
  ]

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words, in: folder)
  }

  @Test(
    arguments: commands,
    [
      [], ["--browser", "sandbox"], ["--store", "memory"], ["--auth", "post"], ["--scope", "demo"],
    ])
  func `a command without an account reports that nobody is signed in`(
    words: [String], options: [String]
  )
    async throws
  {
    let outcome = try await run(words + options + ["--timeout", "1"])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError == "error: no_account: nobody is signed in")
    #expect(outcome.errors.contains("'sq-demo login'") && outcome.errors.contains("--sandbox"))
    #expect(!folder.exists("state"))
  }

  @Test func `a command with --sandbox does not change the stored account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      SandboxClient.app.id,
    ]
    #expect(try await run(login).status == 0)
    let kept = try await run(["token"]).output
    let count = sandbox.requests.count
    let other = try await run(["token", "--sandbox"])
    #expect(other.status == 0 && other.output.hasPrefix("access-") && other.output != kept)
    #expect(try await run(["token"]).output == kept)
    #expect(sandbox.requests.count == count)
    await sandbox.stop()
  }

  @Test func `a command with --sandbox opens the named browser`() async throws {
    let seen = folder.file("seen")
    let outcome = try await run([
      "token", "--sandbox", "--timeout", "15", "--browser", "sh -c 'echo \"$0\" >\(seen)'",
    ])
    #expect(outcome.status == 3)
    #expect(folder.read("seen").contains("/authorize?response_type=code&client_id=sq-demo&"))
  }
}
