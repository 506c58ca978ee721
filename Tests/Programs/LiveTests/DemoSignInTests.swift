import Foundation
import ProgramSupport
import TestSupport
import Testing

/// Signs in with the demo's command line at an independent server, in a real browser.
@Suite(.requires(.chromium), .requires(.glewlwyd), .timeLimit(.minutes(15)))
struct DemoSignInTests {
  @Test(arguments: [(Glewlwyd.Client.confidential, "post"), (.public, "none")])
  func `the demo prints alice's token on standard output and not on standard error`(
    client: Glewlwyd.Client, authentication: String
  ) async throws {
    try await withLogin(client, ["--auth", authentication]) { demo, server, browser in
      try await browser.logInToGlewlwyd(as: .alice)
      try await browser.consentOnGlewlwyd(to: ["read", "write"])
      let result = try await demo.result()
      #expect(result.status == 0, "\(result.errors)")
      let token = try JSONDecoder().decode(Token.self, from: Data(result.output.utf8))
      #expect(try await server.introspect(token.accessToken).username == "alice")
      #expect(!result.errors.contains(token.accessToken))
    }
  }

  @Test func `interrupting the demo at the consent page cancels the sign-in`() async throws {
    try await withLogin(.public, []) { demo, _, browser in
      try await browser.logInToGlewlwyd(as: .alice)
      try await browser.refuseConsentOnGlewlwyd()
      demo.signal(SIGINT)
      let result = try await demo.result()
      #expect(result.status == 3)
      #expect(result.output == "")
      #expect(result.errors.contains("error: cancelled"))
    }
  }

  private struct Token: Decodable {
    let accessToken: String

    private enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
    }
  }

  /// Starts the demo's login at a server, opens the login page in a browser, and runs `test`.
  private func withLogin(
    _ client: Glewlwyd.Client, _ options: [String],
    _ test: (ChildProcess, Glewlwyd, Browser) async throws -> Void
  ) async throws {
    try await Glewlwyd.running { server in
      try await Browser.open { browser in
        let demo = try await browser.logInByDemo(
          at: server, client,
          ["--json", "--scope", "read write", "--store", "memory"] + options)
        try await test(demo, server, browser)
      }
    }
  }
}
