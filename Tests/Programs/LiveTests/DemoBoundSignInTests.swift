import Foundation
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// The demo's commands with bound tokens, pushed requests and a client's key, at an independent
/// server.
@Suite(.requires(.glewlwyd), .timeLimit(.minutes(15))) struct DemoBoundSignInTests {
  private let folder: TemporaryFolder
  private let key: ClientKey

  init() throws {
    folder = try TemporaryFolder()
    key = try ClientKey(generating: .es256)
    try folder.write(key.pem(), to: "key.pem")
  }

  private var store: [String] { ["--store", "file:" + folder.file("tokens")] }
  private var protections: [String] {
    ["--par", "--dpop", "--key", folder.file("key.pem"), "--assertion-audience", "endpoint"]
  }

  @Test(.requires(.chromium))
  func `the demo signs alice in, and later commands prove that they have the key`() async throws {
    try await Glewlwyd.running(knowing: key, settings: ["NONCE": "1"]) { server in
      let login = try await Browser.open { browser in
        let demo = try await browser.logInByDemo(
          at: server, .keyed, ["--scope", "openid profile read"] + store + protections)
        try await browser.logInToGlewlwyd(as: .alice)
        try await browser.consentOnGlewlwyd(to: ["profile", "read"])
        return try await demo.result()
      }
      #expect(login.status == 0, "\(login.errors)")
      #expect(login.output.contains("bound to a key (DPoP, ES256)"), "\(login.output)")
      #expect(login.output.contains("Alice Liddell"), "\(login.output)")
      try await checkLaterCommands(server)
    }
  }

  private func checkLaterCommands(_ server: Glewlwyd) async throws {
    // The server tells the name only at UserInfo, and only for a token with a proof.
    let user = try await run(["whoami"])
    #expect(user.contains("Alice Liddell"), "\(user)")
    let answer = try await run(["call", "GET", server.issuer + "/userinfo"])
    #expect(answer.contains("Alice Liddell"), "\(answer)")
    let accounts = try await run(["accounts"])
    for line in ["  key      \(folder.file("key.pem"))", "  token    bound to a key (DPoP, ES256)"]
    {
      #expect(accounts.contains(line + "\n"), "\(accounts)")
    }
    let first = try #require(try await tokens.load("default")).token.accessToken
    try await tokens.expire("default")
    #expect(try await run(["whoami"]).contains("Alice Liddell"))
    let record = try #require(try await tokens.load("default"))
    #expect(record.token.isBound && record.token.accessToken != first, "token not refreshed")
    #expect(try await run(["revoke"]) == "Revoked.\n")
    #expect(try await tokens.list().isEmpty)
  }

  private var tokens: FileTokenStore { FileTokenStore(path: folder.file("tokens")) }

  /// Runs a command that must succeed without a warning, and returns its output.
  ///
  /// Only the command `accounts` writes to standard error: it says where it looked.
  private func run(_ words: [String]) async throws -> String {
    let demo = try ChildProcess([BuiltProgram.path("sq-demo")] + words + store)
    let result = try await demo.result()
    #expect(result.status == 0, "\(words): \(result.errors)")
    #expect(result.errors.isEmpty || words == ["accounts"], "\(words): \(result.errors)")
    return result.output
  }

  @Test
  func `the demo's error names the option for the assertion audience that the server requires`()
    async throws
  {
    try await Glewlwyd.running(knowing: key) { server in
      let demo = try ChildProcess(
        [
          BuiltProgram.path("sq-demo"), "login", "--issuer", server.issuer, "--client-id", "keyed",
          "--redirect-uri", try server.takeRedirectURI(), "--scope", "read",
          "--browser", "touch \(folder.file("opened"))",
        ] + store + protections.dropLast(2))
      let result = try await demo.result()
      #expect(result.status == 1, "\(result.errors)")
      #expect(result.errors.contains("In sq-demo, use --assertion-audience endpoint"))
      #expect(!folder.exists("opened"))
    }
  }
}
