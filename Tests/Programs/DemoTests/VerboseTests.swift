import Foundation
import OAuthSandbox
import ProgramSupport
import TestSupport
import Testing

/// The option `--verbose`, which prints what the SDK does.
@Suite(.timeLimit(.minutes(1))) struct VerboseTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ words: String...) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      words + ["--verbose", "--store", "file:" + folder.file("tokens")], in: folder)
  }

  @Test func `the option --verbose prints each step on standard error, without a secret`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let (me, server) = (sandbox.url(.me).absoluteString, sandbox.issuer.absoluteString)
    let found = try await run("discover", me)
    #expect(found.status == 0 && found.errors.contains("GET \(server), server metadata: 200"))
    let call = try await run("call", me, "--browser", "sandbox", "--account", "canary-account")
    #expect(call.status == 0 && call.output.contains("alice"), "\(call.errors)")
    for line in [
      "begin: sign-in in a browser", "the browser gets the page", "the redirect was accepted",
      "POST \(server), registration: 201", "POST \(server), token by authorization_code: 200",
      "GET \(server), resource, token valid for 3", " seconds: 200, after ", "store: save",
    ] { #expect(call.errors.contains(line), "\(line) is not in \(call.errors)") }
    let events = call.errors.split(separator: "\n").filter { $0.hasPrefix("+") }
    #expect(events.count > 20)
    let codes = sandbox.requests(to: .token).compactMap { $0.form("code") }
    for secret in codes + ["canary-account", "access-", "refresh-", "code=", "state="] {
      #expect(!events.joined().contains(secret), "\(secret)")
    }

    sandbox.expireAccessTokens()
    let again = try await run("call", me)
    #expect(again.status == 0 && again.errors.contains("refresh of a refused token for 1 caller"))
    let out = try await run("logout", "--account", "canary-account")
    #expect(out.status == 0 && out.errors.contains("end: store: erase"))
    await sandbox.stop()
  }

  @Test func `with --verbose, the last event is printed before the error`() async throws {
    let sandbox = try await SandboxServer.start()
    sandbox.misbehave(at: .metadata, .unavailable(retryAfter: 60), times: nil)
    let login = try await run("login", "--issuer", sandbox.issuer.absoluteString)
    #expect(login.status == 1)
    let lines = login.errors.split(separator: "\n")
    let error = try #require(lines.firstIndex { $0.hasPrefix("error: ") })
    let last = try #require(lines.lastIndex { $0.contains("ms end: ") })
    #expect(
      last < error && lines[..<error].contains { $0.contains("503, retry after 60.0 seconds") })
    await sandbox.stop()
  }

  @Test func `the tour command rejects the option --verbose`() async throws {
    let outcome = try await DemoProcess.run(["tour", "--verbose"], in: folder)
    #expect(outcome.status == 2 && outcome.errors.contains("unknown option --verbose"))
  }
}
