import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Servers that lack a protection that a login asks for, and the servers of the command `sandbox`,
/// which lack none.
@Suite(.timeLimit(.minutes(1))) struct `A server with or without protections` {
  private let demo: KeyedDemo

  init() throws {
    demo = try KeyedDemo()
  }

  /// The options of a login, what the server or the client lacks, and what the program advises.
  private static let lacking: [(options: [String], hasKey: Bool, error: String, hint: String)] = [
    (
      ["--profile", "fapi2"], true, "dpop_signing_alg_values_supported",
      "leave --profile out"
    ),
    (["--profile", "fapi2"], false, "clientKey of the algorithm", "--key FILE"),
    (["--par"], false, "pushed_authorization_request_endpoint", "leave --par out"),
  ]

  @Test(arguments: lacking.indices)
  func `login names what the server or the client lacks for a protection, and opens no browser`(
    index: Int
  ) async throws {
    let row = Self.lacking[index]
    let sandbox = try await demo.sandbox()
    if row.options == ["--par"] {
      sandbox.misbehave(
        at: .metadata, .member("pushed_authorization_request_endpoint", nil), times: nil)
    }
    let outcome = try await demo.run(
      [
        "login", "--browser", "touch \(demo.folder.file("opened"))", "--issuer",
        sandbox.issuer.absoluteString, "--client-id",
        row.hasKey ? KeyedDemo.clientID : SandboxClient.app.id,
      ] + row.options + (row.hasKey ? demo.keyOption : []))
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(row.error), "\(outcome.errors)")
    #expect(outcome.errors.contains("\nIn sq-demo, "), "\(outcome.errors)")
    #expect(outcome.errors.contains(row.hint), "\(outcome.errors)")
    #expect(!demo.folder.exists("opened") && !demo.folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test func `login --dpop refuses a token that the server did not bind`() async throws {
    let sandbox = try await demo.sandbox()
    let outcome = try await demo.login(sandbox, ["--dpop"], client: SandboxClient.app.id)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: token_not_bound: "))
    #expect(outcome.errors.contains("In sq-demo, leave --dpop"), "\(outcome.errors)")
    #expect(try await demo.run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test
  func `login --without-pkce accepts a server without S256, and still requests the openid scope`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    sandbox.misbehave(
      at: .metadata, .member("code_challenge_methods_supported", ["plain"]), times: nil)
    let login = [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      SandboxClient.app.id,
    ]
    #expect(try await demo.run(login).errors.contains("In sq-demo, use --without-pkce."))
    let accepted = try await demo.run(login + ["--without-pkce"])
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(accepted.output.contains("openid"))
    await sandbox.stop()
  }

  @Test(arguments: ["fapi2", "fapi2-signed", "atproto"])
  func `the login command that sq-demo sandbox prints signs in at that sandbox`(profile: String)
    async throws
  {
    let server = try DemoProcess(
      ["sandbox", "--profile", profile, "--client-key", demo.keyPath], in: demo.folder)
    try await eventually("the sandbox says how to sign in") {
      server.output.contains("sq-demo rpc http")
    }
    let printed = try #require(
      server.output.firstMatch(of: /\n {2}sq-demo (login .+ \\\n.+)\n/)?.1)
    #expect(server.output.contains("sandbox-key-app, with the key of \(demo.keyPath)"))
    let rpc = try #require(server.output.firstMatch(of: /\n {2}sq-demo (rpc http\S+)\n/)?.1)
    let words = try #require(ShellWords.split(printed.replacingOccurrences(of: "\\\n", with: " ")))
    let guest = try TemporaryFolder()
    let login = try await DemoProcess.run(words + ["--browser", "sandbox"], in: guest)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("bound to a key (DPoP, ES256)"))
    let call = try #require(ShellWords.split(String(rpc)))
    for words in [["call", "GET", "/api/me"], ["whoami"], ["files"], call, ["revoke"]] {
      let outcome = try await DemoProcess.run(words, in: guest)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    }
    server.send(SIGINT)
    #expect(await server.outcome().status == 0)
  }

  @Test func `the JSON output of sq-demo sandbox contains its profile and its client`() async throws
  {
    let server = try DemoProcess(
      ["sandbox", "--json", "--profile", "fapi2", "--client-key", demo.keyPath],
      in: demo.folder)
    try await eventually("the sandbox listens") { server.output.hasSuffix("\n") }
    #expect(server.output.contains(#""profile":"fapi2""#))
    #expect(server.output.contains(#""clients":[{"client_id":"sandbox-key-app"}]"#))
    server.send(SIGINT)
    #expect(await server.outcome().status == 0)
  }
}
