import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Sign-ins with pushed requests, bound tokens and a profile, and the commands after them.
///
/// Each command is a process of its own, and the account is in an encrypted store.
@Suite(.timeLimit(.minutes(5))) struct `A protected login` {
  private let demo: KeyedDemo

  init() throws {
    demo = try KeyedDemo()
  }

  /// A server, and the options that sign in there.
  struct Row: Sendable, CustomTestStringConvertible {
    let options: [String]
    var profile: SandboxSecurityProfile?
    var proofs = SandboxDPoPOptions.Policy.off
    var hasKey = false

    var testDescription: String { options.joined(separator: " ") }
    var bindsTokens: Bool { proofs != .off || profile != nil }

    static let all = [
      Row(options: ["--par"]), Row(options: ["--dpop"], proofs: .accepted),
      Row(options: ["--par", "--dpop"], profile: .atProtocol), Row(options: [], hasKey: true),
      Row(options: ["--profile", "fapi2"], profile: .fapi2, hasKey: true),
      Row(options: ["--profile", "fapi2-signed"], profile: .fapi2MessageSigning, hasKey: true),
    ]
  }

  private func server(for row: Row) async throws -> SandboxServer {
    try await demo.sandbox(row.profile) {
      if row.profile == nil { $0.dpop = SandboxDPoPOptions(row.proofs) }
    }
  }

  @Test(arguments: Row.all)
  func `later commands apply the protections of a protected login`(row: Row) async throws {
    let sandbox = try await server(for: row)
    let login = try await demo.login(
      sandbox, row.options + (row.hasKey ? demo.keyOption : []),
      client: row.hasKey ? KeyedDemo.clientID : SandboxClient.app.id)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("bound to a key (DPoP, ES256)") == row.bindsTokens)
    let isPushed = row.options.contains("--par") || row.profile != nil
    #expect(sandbox.requests(to: .pushedAuthorization).isEmpty != isPushed)

    try await demo.expireToken()
    let requests = sandbox.requests(to: .token).count
    let token = try await demo.run(["token", "--json"])
    #expect(token.status == 0, "\(token.errors)")
    #expect(token.output.contains("\"bound\":true") == row.bindsTokens)
    #expect(token.output.contains("\"token_type\":\"DPoP\"") == row.bindsTokens)
    #expect(sandbox.requests(to: .token).count > requests, "the token was refreshed")
    let refresh = try #require(sandbox.requests(to: .token).last)
    #expect((refresh.form("client_assertion") != nil) == row.hasKey)
    #expect((refresh.header("dpop") != nil) == row.bindsTokens)

    for words in [["call", "GET", "/api/me"], ["files"], ["whoami"]] {
      let outcome = try await demo.run(words)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    }
    let call = try #require(sandbox.requests(to: .me).last)
    let scheme = row.bindsTokens ? "DPoP " : "Bearer "
    #expect(call.header("authorization")?.hasPrefix(scheme) == true)
    #expect((call.header("dpop") != nil) == row.bindsTokens)
    try await checkRPC(at: sandbox, bindsTokens: row.bindsTokens)

    let again = try await demo.run(["login", "--account", "default", "--browser", "sandbox"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output.contains("bound to a key") == row.bindsTokens)
    let revoked = try await demo.run(["revoke"])
    #expect(revoked.status == 0 && revoked.output == "Revoked.\n", "\(revoked.errors)")
    await sandbox.stop()
  }

  /// Calls a gRPC server beside the sandbox with the account's token.
  private func checkRPC(at sandbox: SandboxServer, bindsTokens: Bool) async throws {
    let server = try SandboxGRPCServer(of: sandbox)
    let outcome = try await demo.run(["rpc", server.url.absoluteString])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.hasSuffix(" on behalf of user alice\n"))
    #expect((server.calls.last?.boundToken != nil) == bindsTokens)
    #expect((server.calls.last?.proof != nil) == bindsTokens)
    await server.stop()
  }

  @Test(arguments: Row.all)
  func `a protected login works at the built-in sandbox`(row: Row) async throws {
    let options = row.options + (row.hasKey && row.profile == nil ? demo.keyOption : [])
    for words in [
      ["login"], ["call", "GET", "/api/me"], ["files"], ["rpc"], ["whoami"], ["token"],
    ] {
      let outcome = try await DemoProcess.run(words + ["--sandbox"] + options, in: demo.folder)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
      if words == ["login"] {
        #expect(outcome.output.contains("bound to a key") == row.bindsTokens)
      }
    }
    #expect(!demo.folder.exists("state"))
  }

  @Test(arguments: [
    (["--par"], false), (["--key"], true), (["--profile", "fapi2", "--key"], true),
  ])
  func `the built-in sandbox registers its client with the key that the options name`(
    words: [String], hasKey: Bool
  ) async throws {
    let words = words + (hasKey ? [demo.keyPath] : [])
    let options = try SignInArguments(Arguments(words, options: SignInArguments.options))
    let used = Locked<ClientKey?>(nil)
    try await EmbeddedSandbox.running(for: options, tokenLifetime: .seconds(60)) {
      sandbox throws(Failure) in
      let configuration = try sandbox.configuration(for: options)
      used.withLock { $0 = configuration.clientKey }
    }
    #expect(used.withLock(\.self) == (hasKey ? demo.key : nil))
  }

  @Test func `the accounts command shows a login's protections, and logout removes the account`()
    async throws
  {
    let sandbox = try await demo.sandbox(.fapi2)
    let login = try await demo.login(sandbox, ["--profile", "fapi2"] + demo.keyOption)
    #expect(login.status == 0, "\(login.errors)")
    let accounts = try await demo.run(["accounts"])
    for line in [
      "  key      \(demo.keyPath)", "  profile  fapi2",
      "  token    bound to a key (DPoP, ES256)",
    ] { #expect(accounts.lines.contains { $0 == line }, "\(line)") }
    let json = try await demo.run(["accounts", "--json"])
    for member in [
      #""bound":true"#, #""proof_algorithm":"ES256""#, #""profile":"fapi2""#,
      #""client_key_file":"\#(demo.keyPath)""#,
    ] { #expect(json.output.contains(member), "\(json.output)") }
    let logout = try await demo.run(["logout", "--everywhere", "--browser", "sandbox"])
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(try await demo.run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `watch refreshes a DPoP-bound token with a DPoP proof`() async throws {
    let sandbox = try await demo.sandbox(.fapi2)
    let login = try await demo.login(sandbox, ["--profile", "fapi2"] + demo.keyOption)
    #expect(login.status == 0, "\(login.errors)")
    for words in [["watch"], ["watch", "--all"]] {
      try await demo.expireToken()
      let watch = try DemoProcess(words + demo.store, in: demo.folder)
      try await eventually("a line is printed") { watch.output.hasPrefix("refreshed ") }
      watch.send(SIGTERM)
      #expect(await watch.outcome().status == 0, "\(watch.errors)")
      #expect(sandbox.requests(to: .token).last?.header("dpop") != nil)
    }
    await sandbox.stop()
  }

  @Test func `the token command warns that a DPoP-bound token cannot be used without DPoP proofs`()
    async throws
  {
    let sandbox = try await demo.sandbox { $0.dpop = SandboxDPoPOptions(.accepted) }
    for (options, isBound) in [(["--dpop"], true), ([], false)] {
      let login = try await demo.login(sandbox, options, client: SandboxClient.app.id)
      #expect(login.status == 0, "\(login.errors)")
      let token = try await demo.run(["token"])
      #expect(token.lines.count == 1 && token.output.hasPrefix("access-"))
      #expect(token.errors.contains("warning: the token is bound to a key") == isBound)
      #expect(token.errors.contains("'sq-demo call'") == isBound)
    }
    await sandbox.stop()
  }

  @Test func `the tour shows that a token is DPoP-bound`() async throws {
    for (options, isBound) in [(["--dpop"], true), (["--profile", "fapi2"], true), ([], false)] {
      let tour = try await DemoProcess.run(["tour"] + options, in: demo.folder)
      #expect(tour.status == 0 && tour.errors.isEmpty, "\(tour.output)\(tour.errors)")
      #expect(tour.output.contains("  token    bound to a key (DPoP, ES256)\n") == isBound)
      #expect(tour.output.contains("The token is refreshed."))
      #expect(tour.output.contains("\nUsed scope: "), "\(tour.output)")
    }
  }

  @Test func `the tour in plain mode shows that a token is DPoP-bound`() async throws {
    let terminal = try PseudoTerminal()
    let tour = try DemoProcess(
      ["tour", "--plain", "--dpop"], in: demo.folder, input: terminal.handle,
      output: terminal.handle)
    try terminal.press("s\n")
    try await eventually("the token is shown") {
      terminal.everything.contains("token: bound to a key (DPoP, ES256)")
    }
    try terminal.press("q\n")
    #expect(await tour.outcome().status == 0)
  }
}
