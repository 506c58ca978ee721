import Foundation
import OAuthSandbox
import TestSupport
import Testing

/// The option `--response-mode`; with `form_post`, the server posts its answer through the browser.
@Suite(.timeLimit(.minutes(1))) struct ResponseModeTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(arguments: [nil, "query", "form_post"])
  func `a login sends the response_mode of the option, and none without the option`(mode: String?)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let words = mode.map { ["--response-mode", $0] } ?? []
    let outcome = try await DemoProcess.run(
      [
        "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
        SandboxClient.app.id, "--store", "memory",
      ] + words, in: folder)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let request = try #require(sandbox.requests(to: .authorization).first)
    #expect(request.query.first { $0.name == "response_mode" }?.value == mode)
    await sandbox.stop()
  }

  @Test(arguments: [
    (["--response-mode", "formpost"], "takes query or form_post, not \"formpost\"; did you mean"),
    (["--device", "--response-mode", "query"], "leave --response-mode out"),
  ])
  func `a response mode that cannot be used is refused`(words: [String], message: String)
    async throws
  {
    let outcome = try await DemoProcess.run(["login"] + words, in: folder)
    #expect(outcome.status == 2 && outcome.firstError.contains(message), "\(outcome.errors)")
  }
}
