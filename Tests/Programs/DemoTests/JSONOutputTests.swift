import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `JSON for programs` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func run(_ words: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      words + ["--json", "--store", "file:" + folder.file("tokens")], in: folder)
  }

  private func object(_ line: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test func `JSON output is available in every command except tour, explain and completion`() {
    let silent = ["tour", "explain", "completion"]
    for command in SQDemo.commands where !silent.contains(command.name) {
      #expect(command.options.contains { $0.name == "--json" }, "\(command.name)")
    }
  }

  @Test func `the JSON output of token contains no refresh token`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let outcome = try await run(["token"])
    #expect(outcome.lines.count == 1)
    let token = try object(outcome.output)
    #expect(
      Set(token.keys) == ["access_token", "token_type", "expires_at", "expires_in", "scope"])
    #expect(
      token["access_token"] as? String == (try await store.load("default"))?.token.accessToken)
    await sandbox.stop()
  }

  @Test
  func `the JSON output of call contains status, headers and body, also of an error response`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let outcome = try await run(["call", "GET", "/api/me"])
    let answer = try object(outcome.output)
    #expect(Set(answer.keys) == ["status", "headers", "body"])
    #expect(answer["status"] as? Int == 200)
    #expect((answer["headers"] as? [String: String])?["content-type"] == "application/json")
    #expect(try object(try #require(answer["body"] as? String))["user_name"] as? String == "alice")
    sandbox.misbehave(at: .me, .status(503, body: "later"))
    let failure = try await run(["call", "GET", "/api/me"])
    #expect(failure.status == 1)
    #expect(failure.firstError.hasPrefix("error: http_503: "))
    #expect(try object(failure.output)["body"] as? String == "later")
    await sandbox.stop()
  }

  @Test func `the JSON output contains binary content in Base64`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let file = sandbox.addFile("picture", content: Data([0xFF, 0, 0x80]))
    let outcome = try await run(["call", "GET", "/drive/v2/files/\(file.id)?alt=media"])
    let answer = try object(outcome.output)
    #expect(answer["body_base64"] as? String == "/wCA", "\(outcome.output)\(outcome.errors)")
    #expect(answer["body"] == nil)
    await sandbox.stop()
  }

  @Test func `the JSON output of watch has a line for each refresh`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount(at: sandbox)
    let demo = try DemoProcess(
      ["watch", "--json", "--store", "file:" + folder.file("tokens")], in: folder)
    try await eventually("a line is printed") { demo.output.hasSuffix("\n") }
    demo.send(SIGINT)
    let outcome = await demo.outcome()
    #expect(outcome.status == 0 && outcome.lines.count == 1)
    let refresh = try object(outcome.output)
    #expect(Set(refresh.keys) == ["event", "at", "expires_at", "expires_in"])
    #expect(refresh["event"] as? String == "refreshed")
    await sandbox.stop()
  }

  @Test(arguments: [("revoke", "revoked"), ("logout", "forgotten")])
  func `the JSON output of logout and revoke says whether an account was removed`(
    command: String, key: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await store.keepExpiredAccount("work", at: sandbox)
    let first = try object(try await run([command]).output)
    #expect(first["account"] as? String == "work" && first[key] as? Bool == true)
    let second = try await run([command])
    #expect(second.status == 0)
    #expect(second.output == "{\"\(key)\":false}\n")
    let named = try object(try await run([command, "--account", "work"]).output)
    #expect(named["account"] as? String == "work" && named[key] as? Bool == false)
    await sandbox.stop()
  }

  @Test func `the JSON output has a line for each step of the cookbook`() async throws {
    let outcome = try await DemoProcess.run(["cookbook", "--json"], in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let steps = try outcome.lines.map { try object($0)["step"] as? String }
    #expect(steps.first == "configure" && steps.last == "again" && steps.count == 9)
  }
}
