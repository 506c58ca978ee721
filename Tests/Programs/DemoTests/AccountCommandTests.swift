import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The token, logout and revoke commands` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(_ arguments: [String]) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(arguments, in: folder)
  }

  /// Options for a store in which the test saves an account without a sign-in.
  private var kept: [String] { ["--store", "file:" + folder.file("tokens")] }
  private var store: FileTokenStore { FileTokenStore(path: folder.file("tokens")) }

  private func keepExpiredAccount(
    at sandbox: SandboxServer, client: SandboxClient = .app
  ) async throws -> SandboxTokens {
    try await store.keepExpiredAccount(at: sandbox, client: client)
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
      "--client-id", "sandbox-app",
    ]
  }

  @Test
  func `the token command signs in with a provider's options and stores the account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let first = try await run(["token"] + login(sandbox))
    #expect(first.status == 0)
    #expect(first.lines.count == 1)
    #expect(first.output.hasPrefix("access-"))
    #expect(try await run(["token"]).output == first.output)
    #expect(try await run(["token"] + login(sandbox)).output == first.output)
    await sandbox.stop()
  }

  @Test func `token --sandbox signs in at the built-in sandbox for one run`() async throws {
    let outcome = try await run(["token", "--sandbox"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 1)
    #expect(outcome.output.hasPrefix("access-"))
    #expect(!folder.exists("state"))
  }

  @Test
  func `the token command prints no token of another server or client than the options name`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + login(sandbox)).status == 0)
    for other in [
      ["--issuer", "https://id.example.com", "--client-id", "sandbox-app"],
      ["--issuer", sandbox.issuer.absoluteString, "--client-id", "other"],
      ["--issuer", "https://id.example.com"],
      ["--provider", "bluesky", "--handle", "bob.example.com"],
    ] {
      let outcome = try await run(["token"] + other)
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: invalid_configuration: "))
      #expect(outcome.errors.contains("--account"))
    }
    await sandbox.stop()
  }

  @Test(arguments: [
    ["token"], ["whoami"], ["call", "GET", "/api/me"], ["files"], ["tour"], ["revoke"],
  ])
  func `a command that names only an issuer does not use the account of another server`(
    command: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + login(sandbox) + kept).status == 0)
    sandbox.forgetRequests()
    for account in [[], ["--account", "default"]] {
      let outcome = try await run(
        command + account + ["--issuer", "https://id.example.com"] + kept)
      #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)")
      #expect(outcome.firstError.hasPrefix("error: invalid_configuration: "), "\(outcome.errors)")
    }
    #expect(sandbox.requests.isEmpty)
    #expect(try await store.load("default") != nil)
    await sandbox.stop()
  }

  @Test func `an account of a server without an issuer is not used for the issuer of the options`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let endpoints = [
      "login", "--browser", "sandbox", "--client-id", SandboxClient.app.id, "--authorize",
      sandbox.authorizationEndpoint.absoluteString, "--token",
      sandbox.tokenEndpoint.absoluteString,
    ]
    #expect(try await run(endpoints + kept).status == 0)
    let outcome = try await run(
      ["token", "--issuer", "https://id.example.com", "--client-id", SandboxClient.app.id] + kept)
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: invalid_configuration: "), "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test func `the token command refreshes an expired token and stores the new token`() async throws
  {
    let sandbox = try await SandboxServer.start()
    let old = try await keepExpiredAccount(at: sandbox)
    let first = try await run(["token"] + kept)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output.hasPrefix("access-"))
    #expect(first.output != old.accessToken + "\n")
    #expect(try await run(["token"] + kept).output == first.output)
    #expect(sandbox.requests(to: .token).count == 1)
    #expect(
      try await store.load("default")?.token.refreshToken
        == sandbox.latestRefreshToken(inFamilyOf: old.refreshToken))
    await sandbox.stop()
  }

  @Test func `the token command refreshes with a client secret`() async throws {
    let sandbox = try await SandboxServer.start()
    _ = try await keepExpiredAccount(at: sandbox, client: .service)
    let refused = try await run(["token"] + kept)
    #expect(refused.status == 1)
    #expect(refused.firstError.hasPrefix("error: invalid_client: "))
    let outcome = try await DemoProcess.run(
      ["token", "--auth", "post"] + kept, in: folder,
      environment: ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""])
    #expect(outcome.status == 0, "\(outcome.errors)")
    await sandbox.stop()
  }

  @Test
  func `the token command reports invalid_grant, and later that the account is not signed in`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await keepExpiredAccount(at: sandbox)
    sandbox.revokeEverything()
    let outcome = try await run(["token"] + kept)
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: invalid_grant: "))
    #expect(outcome.errors.contains("sq-demo login"))
    let known = #"error: not_authorized: the account "default" is no longer signed in"#
    #expect(try await run(["token"] + kept).firstError == known)
    #expect(
      try await run(["logout"] + kept).output
        == "The account \"default\" was signed out before; now it is forgotten.\n")
    #expect(try await run(["logout"] + kept).output == "Nobody is signed in.\n")
    await sandbox.stop()
  }

  @Test func `the token command keeps the account if the server cannot be reached`() async throws {
    let port = try ClosedPort()
    let token = SQToken(
      accessToken: "secret-token", expirationDate: Date(timeIntervalSinceNow: -1),
      refreshToken: "refresh")
    try await store.save(
      AccountRecord(
        id: "default", clientID: "x", issuer: "http://127.0.0.1:\(port.number)", token: token))
    let outcome = try await run(["token"] + kept)
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: connection_failed: "))
    #expect(try await store.load("default")?.token.refreshToken == "refresh")
  }

  @Test(arguments: [
    (nil, "error: not_authorized: a new access token is needed, and there is no refresh token"),
    ("refresh", "error: not_registered: "),
  ])
  func `the token command does not print an expired token that it cannot refresh`(
    refreshToken: String?, error: String
  ) async throws {
    let token = SQToken(
      accessToken: "secret-token", expirationDate: Date(timeIntervalSinceNow: -1),
      refreshToken: refreshToken)
    try await store.save(AccountRecord(id: "default", clientID: "x", token: token))
    let outcome = try await run(["token"] + kept)
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix(error))
  }

  @Test func `revoke revokes the refresh token at the server and removes the account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let old = try await keepExpiredAccount(at: sandbox)
    #expect(sandbox.isActive(old.refreshToken) && sandbox.isActive(old.accessToken))
    let outcome = try await run(["revoke"] + kept)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == "Revoked.\n")
    #expect(!sandbox.isActive(old.refreshToken) && !sandbox.isActive(old.accessToken))
    #expect(try await store.load("default") == nil)
    await sandbox.stop()
  }

  @Test func `revoke keeps tokens that the server did not revoke`() async throws {
    let sandbox = try await SandboxServer.start()
    let old = try await keepExpiredAccount(at: sandbox)
    sandbox.misbehave(at: .revocation, .status(503))
    let outcome = try await run(["revoke"] + kept)
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: "))
    #expect(try await store.load("default")?.token.refreshToken == old.refreshToken)
    await sandbox.stop()
  }

  @Test(arguments: [["revoke"], ["logout", "--everywhere", "--browser", "sandbox"]])
  func `if an account cannot be erased, revoke and logout --everywhere report it as still stored`(
    command: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(["login"] + login(sandbox) + kept).status == 0)
    // This folder has the name of the file to which the store would write its new content.
    try FileManager.default.createDirectory(
      atPath: folder.file("tokens.sq.new"), withIntermediateDirectories: false)
    let outcome = try await run(command + kept)
    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.errors.contains("error: store_failed: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("tokens.sq.new is in the way"), "\(outcome.errors)")
    #expect(outcome.errors.contains("The account is still stored here."), "\(outcome.errors)")
    #expect(
      outcome.errors.contains("the server has revoked the tokens") == (command == ["revoke"]))
    #expect(!outcome.errors.contains("not_kept") && !outcome.errors.contains("Sign in again"))
    #expect(!sandbox.requests(to: .revocation).isEmpty)
    #expect(try await store.load("default") != nil)
    await sandbox.stop()
  }

  @Test(arguments: ["revoke", "logout"], [nil, "work"])
  func `logout and revoke report that nobody is signed in, and start no sign-in`(
    command: String, id: String?
  ) async throws {
    let named = id.map { ["--account", $0] } ?? []
    for store in [[], kept] {
      let outcome = try await run([command] + named + store)
      #expect(outcome.status == 0)
      #expect(
        outcome.output
          == (id == nil ? "Nobody is signed in.\n" : "Nobody is signed in as \"work\".\n"))
      #expect(outcome.errors.isEmpty)
    }
    #expect(!folder.exists("state") && !folder.exists("tokens"))
  }

  @Test(arguments: ["token", "call", "watch"])
  func `a command with --sandbox rejects the option --auth`(name: String) async throws {
    let operands = name == "call" ? ["GET", "/api/me"] : []
    let outcome = try await run([name] + operands + ["--auth", "post", "--sandbox"])
    #expect(outcome.status == 2)
    #expect(outcome.firstError.hasPrefix("error: usage: --auth needs a provider"))
  }

  @Test(arguments: ["token", "logout", "watch", "revoke", "accounts"])
  func `a command leaves a damaged store unchanged`(command: String) async throws {
    try folder.write("not a token file", to: "tokens")
    let outcome = try await run([command, "--store", "file:" + folder.file("tokens")])
    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: store_damaged: "))
    #expect(outcome.errors.contains("\nNothing was changed. "))
    #expect(folder.read("tokens") == "not a token file")
  }

  @Test func `a damaged account hides no other, and logout erases it only if --account names it`()
    async throws
  {
    let path = folder.file("tokens.sqlite")
    let store = SQLiteTokenStore(path: path, key: nil)
    for id in ["damaged", "whole"] {
      try await store.save(
        AccountRecord(
          id: id, clientID: "app", issuer: "https://id.example.com",
          token: SQToken(accessToken: "x")))
    }
    let damaging = try await ChildProcess.run([
      "sqlite3", "-batch", "-cmd", ".timeout 30000", path,
      "UPDATE accounts SET value = x'00' WHERE id = 'damaged'",
    ])
    try #require(damaging.status == 0, "\(damaging.errors)")
    let list = try await run(["accounts", "--store", "sqlite:" + path])
    #expect(list.status == 0 && list.output.hasPrefix("whole\n"), "\(list.output)")
    #expect(!list.output.contains("damaged"))
    #expect(list.errors.contains("warning: the account \"damaged\" cannot be read: "))
    // The damaged account may be the one that the user means.
    let call = try await run(["call", "https://127.0.0.1:1/", "--store", "sqlite:" + path])
    #expect(call.status == 1 && call.firstError.hasPrefix("error: store_damaged: "))
    let unnamed = try await run(["logout", "--store", "sqlite:" + path])
    #expect(unnamed.status == 1 && unnamed.firstError.hasPrefix("error: store_damaged: "))
    #expect(unnamed.errors.contains("'sq-demo logout --account ID' erases it"))
    #expect(try await store.list() == ["damaged", "whole"])
    let named = try await run(["logout", "--account", "damaged", "--store", "sqlite:" + path])
    #expect(named.status == 0, "\(named.errors)")
    #expect(named.output == "Signed out of the account \"damaged\".\n")
    #expect(try await store.list() == ["whole"])
  }
}
