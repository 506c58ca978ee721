import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(2))) struct `An account whose session has ended` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func run(
    _ arguments: [String], _ store: DemoStore = .file, _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      arguments + store.options(folder), in: folder,
      environment: store.environment.merging(environment) { $1 })
  }

  private func login(_ sandbox: SandboxServer, _ client: SandboxClient = .app) -> [String] {
    [
      "login", "--account", "work", "--browser", "sandbox", "--scope", "profile",
      "--issuer", sandbox.issuer.absoluteString, "--client-id", client.id,
    ]
  }

  private static let again = ["login", "--account", "work", "--browser", "sandbox"]

  /// Returns the sign-in command that the hints name, without quotes.
  private func command(_ store: DemoStore) -> String {
    "sq-demo login --account work \(store.options(folder).joined(separator: " "))"
  }

  /// Ends the session at the server, and makes the stored access token expire.
  ///
  /// So the next use of the account notices the end.
  private func end(_ sandbox: SandboxServer, _ id: String, in store: DemoStore) async throws {
    sandbox.revokeEverything()
    try await store.open(store.path(folder)).expire(id)
  }

  @Test(arguments: DemoStore.all)
  func `a signed-out account can sign in again with only its name`(store: DemoStore) async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(login(sandbox), store).status == 0)
    let kept = store.open(store.path(folder))
    let first = try #require(try await kept.load("work"))
    try await end(sandbox, "work", in: store)

    let ended = try await run(["token", "--account", "work"], store)
    #expect(ended.status == 1 && ended.output.isEmpty)
    #expect(ended.firstError.hasPrefix("error: invalid_grant: "))
    #expect(ended.errors.contains("\nSign in again with '\(command(store))'.\n"))
    #expect(try await kept.list().isEmpty)

    let again = try await run(Self.again, store)
    #expect(again.status == 0, "\(again.errors)")
    let second = try #require(try await kept.load("work"))
    #expect(second.attributes == first.attributes && second.issuer == first.issuer)
    #expect(second.clientID == first.clientID && second.token.scope == "profile")
    await sandbox.stop()
  }

  @Test(arguments: DemoStore.all)
  func `the file with an account's client is private and has no token or client secret`(
    store: DemoStore
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let secret = try #require(SandboxClient.service.secret)
    let signedIn = try await run(login(sandbox, .service), store, ["SQ_CLIENT_SECRET": secret])
    #expect(signedIn.status == 0, "\(signedIn.errors)")
    let token = try #require(try await store.open(store.path(folder)).load("work")?.token)
    let path = store.path(folder) + ".clients"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    let content = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    for secret in [secret, token.accessToken, token.refreshToken ?? token.accessToken] {
      #expect(!content.contains(secret))
    }
    #expect(content.contains("work") == !store.isSealed)
    await sandbox.stop()
  }

  @Test(arguments: [["token"], ["watch"], ["call", "GET", "/api/me"], ["files"]])
  func `a signed-out account is not replaced by an account of the built-in sandbox`(
    command words: [String]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let store = DemoStore.file
    #expect(try await run(login(sandbox)).status == 0)
    try await end(sandbox, "work", in: store)
    #expect(try await run(["token"]).status == 1)
    for account in [["--account", "work"], []] {
      let outcome = try await run(words + account + ["--browser", "sandbox"])
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      let reason = #"error: not_authorized: the account "work" is no longer signed in"#
      #expect(
        outcome.errors == """
          \(reason)
          Sign in again with '\(command(store))'.
          'sq-demo explain not_authorized' says more.

          """)
    }
    #expect(sandbox.requests(to: .authorization).count == 1)
    await sandbox.stop()
  }

  @Test func `a signed-out account is reported by the rpc command`() async throws {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(login(sandbox)).status == 0)
    try await end(sandbox, "work", in: .file)
    #expect(try await run(["token"]).status == 1)
    let outcome = try await run(["rpc", "http://127.0.0.1:1"])
    #expect(outcome.errors.contains("\nSign in again with '\(command(.file))'.\n"))
    await sandbox.stop()
  }

  @Test
  func `a signed-out account is listed with the command that signs it in again`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    #expect(try await run(login(sandbox)).status == 0)
    let signedIn = try await run(["accounts", "--json"])
    #expect(signedIn.output.contains(#""needs_sign_in":false"#))
    try await end(sandbox, "work", in: .file)
    #expect(try await run(["token"]).status == 1)
    for account in [["--account", "work"], []] {
      let list = try await run(["accounts"] + account)
      // Long lines are wrapped.
      #expect(
        list.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          == "work client sandbox-app server \(sandbox.issuer.absoluteString) "
          + "session ended; '\(command(.file))' signs in again")
      let json = try await run(["accounts", "--json"] + account)
      #expect(json.output.contains(#""needs_sign_in":true"#), "\(json.output)")
      #expect(!json.output.contains("scope"))
    }
    await sandbox.stop()
  }

  private func signIn(_ sandbox: SandboxServer, thenEnding ends: Bool) async throws {
    #expect(try await run(login(sandbox)).status == 0)
    guard ends else { return }
    try await end(sandbox, "work", in: .file)
    #expect(try await run(["token"]).status == 1)
  }

  @Test(arguments: [true, false])
  func `logout removes an account before and after the end of its session`(hasEnded: Bool)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await signIn(sandbox, thenEnding: hasEnded)
    let outcome = try await run(["logout", "--account", "work"])
    #expect(
      outcome.output
        == (hasEnded
          ? "The account \"work\" was signed out before; now it is forgotten.\n"
          : "Signed out of the account \"work\".\n"))
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    let token = try await run(["token", "--account", "work"])
    #expect(token.firstError == #"error: no_account: there is no account "work""#)
    await sandbox.stop()
  }

  @Test(arguments: [true, false])
  func `revoke removes an account before and after the end of its session`(hasEnded: Bool)
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await signIn(sandbox, thenEnding: hasEnded)
    let outcome = try await run(["revoke", "--account", "work"])
    #expect(outcome.status == 0)
    #expect(
      outcome.output
        == (hasEnded ? "Nobody is signed in as \"work\".\n" : "Revoked the account \"work\".\n"))
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `revoke forgets no signed-out account of another server than the options name`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let provider = ["--issuer", sandbox.issuer.absoluteString, "--client-id", SandboxClient.app.id]
    #expect(try await run(["login", "--browser", "sandbox"] + provider).status == 0)
    try await end(sandbox, "default", in: .file)
    #expect(try await run(["token"]).status == 1)
    let other = ["--issuer", "https://id.example.com", "--client-id", SandboxClient.app.id]
    let unnamed = try await run(["revoke"] + other)
    #expect(unnamed.status == 0 && unnamed.output == "Nobody is signed in.\n", "\(unnamed.errors)")
    let named = try await run(["revoke", "--account", "default"] + other)
    #expect(named.status == 1 && named.output.isEmpty)
    #expect(named.firstError.hasPrefix("error: invalid_configuration: "), "\(named.errors)")
    #expect(try await run(["accounts", "--json"]).output.contains(#""needs_sign_in":true"#))
    #expect(try await run(["revoke"] + provider).output == "Nobody is signed in.\n")
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test
  func `a signed-out account needs its client's secret again before the user signs in`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let secret = ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""]
    #expect(try await run(login(sandbox, .service), .file, secret).status == 0)
    try await end(sandbox, "work", in: .file)
    #expect(try await run(["token"]).status == 1)
    let refused = try await run(Self.again)
    #expect(refused.status == 1)
    #expect(
      refused.errors == """
        error: secret_needed: the client of the account "work" needs its secret, which was not stored
        Put it into SQ_CLIENT_SECRET, or into a file that --client-secret-file names.

        """)
    #expect(sandbox.requests(to: .authorization).count == 1)
    let again = try await run(Self.again, .file, secret)
    #expect(again.status == 0, "\(again.errors)")
    await sandbox.stop()
  }

  /// The record lacks the demo's own data, as if an app or an older demo had saved it.
  @Test
  func `an account that a different program stored can sign in again after its session's end`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await DemoStore.file.open(DemoStore.file.path(folder))
      .keepExpiredAccount("work", at: sandbox)
    sandbox.revokeEverything()
    let ended = try await run(["token"])
    #expect(ended.errors.contains("\nSign in again with '\(command(.file))'.\n"))
    #expect(try await run(Self.again).status == 0)
    await sandbox.stop()
  }

  @Test func `login succeeds with a warning if the client of the account cannot be stored`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let path = DemoStore.file.path(folder) + ".clients"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let outcome = try await run(login(sandbox))
    #expect(outcome.status == 0 && outcome.output.hasPrefix("Signed in.\n"))
    let warning = "warning: the client of the account could not be stored, so a later sign-in needs"
    #expect(outcome.errors.contains(warning), "\(outcome.errors)")
    await sandbox.stop()
  }
}
