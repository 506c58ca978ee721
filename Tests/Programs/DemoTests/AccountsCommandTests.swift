import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The accounts command and the account option` {
  private let folder: TemporaryFolder
  private let store: FileTokenStore

  init() throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens"))
  }

  private func run(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(
      arguments + ["--store", "file:" + store.path], in: folder, environment: environment)
  }

  private func provider(_ sandbox: SandboxServer, _ client: SandboxClient = .app) -> [String] {
    [
      "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id", client.id,
    ]
  }

  // MARK: The list of accounts

  @Test func `accounts lists stored accounts without secrets`() async throws {
    let token = SQToken(
      accessToken: "access-secret", expirationDate: Date(timeIntervalSince1970: 4_102_444_800),
      scope: "profile demo", refreshToken: "refresh-secret",
      authorizationExpirationDate: Date(timeIntervalSince1970: 4_105_123_200))
    try await store.save(
      AccountRecord(
        id: "work", clientID: "app", issuer: "https://id.example.com", token: token,
        attributes: ["name": "Alice", "client_secret": "client-secret"]))
    try await store.save(
      AccountRecord(
        id: "default", clientID: "other", tokenEndpoint: "https://api.example.com/token",
        token: SQToken(
          accessToken: "access-secret", expirationDate: Date(timeIntervalSince1970: 1))))
    let outcome = try await run(["accounts"])
    #expect(outcome.status == 0)
    #expect(
      outcome.output.replacing(#/in \d+ days/#, with: "in N days") == """
        default
          client   other
          server   https://api.example.com/token
          scope    not known
          expired  at 1970-01-01T00:00:01Z
          refresh  not possible; sign in again instead

        work
          name     Alice
          client   app
          server   https://id.example.com
          scope    profile demo
          expires  in N days, at 2100-01-01T00:00:00Z
          refresh  possible
          sign-in  needed again in N days, at 2100-02-01T00:00:00Z

        """)
    #expect(outcome.errors == "Looked in the file \(store.path).\n")
    #expect(!outcome.output.contains("secret"))

    let json = try await run(["accounts", "--json"])
    #expect(json.output.contains("\"can_refresh\":"))
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let object = try decoder.decode(List.self, from: Data(json.output.utf8))
    #expect(object.accounts.map(\.account) == ["default", "work"])
    #expect(object.accounts.map(\.canRefresh) == [false, true])
    #expect(object.accounts.map(\.expiresIn).first == 0)
    #expect(object.accounts.last?.expiresAt == "2100-01-01T00:00:00Z")
    #expect(object.accounts.map(\.signInEndsAt) == [nil, "2100-02-01T00:00:00Z"])
    #expect(object.accounts.last?.name == "Alice")
    #expect(!json.output.contains("secret"))
  }

  private struct List: Decodable {
    struct Account: Decodable {
      let account: String
      let name: String?
      let expiresAt: String?
      let expiresIn: Int?
      let canRefresh: Bool
      let signInEndsAt: String?
    }
    let accounts: [Account]
  }

  @Test func `accounts --account shows only that account, or says that it does not exist`()
    async throws
  {
    for id in ["a", "b"] {
      try await store.save(
        AccountRecord(id: id, clientID: "app", token: SQToken(accessToken: "x")))
    }
    let one = try await run(["accounts", "--account", "b"])
    #expect(one.lines.first == "b" && !one.lines.contains("a"))
    let none = try await run(["accounts", "--account", "c"])
    #expect(none.status == 1)
    #expect(none.output.isEmpty)
    #expect(
      none.errors.hasSuffix(
        """
        error: no_account: there is no account "c"
        The accounts in the store are:
          --account a
          --account b

        """))
  }

  @Test(arguments: ["file", "sqlite", "encrypted", "encrypted-sqlite"])
  func `accounts says that there is no account and creates no store`(kind: String) async throws {
    let store = ["--store", "\(kind):\(folder.file("new"))"]
    let outcome = try await DemoProcess.run(["accounts"] + store, in: folder)
    #expect(outcome.status == 0)
    #expect(outcome.output == "No account is kept.\n")
    #expect(outcome.errors == "Looked in \(folder.file("new")), which does not exist.\n")
    let json = try await DemoProcess.run(["accounts", "--json"] + store, in: folder)
    #expect(json.output == "{\"accounts\":[]}\n")
    #expect(!folder.exists("new") && !folder.exists("new.key"))
  }

  // MARK: Choosing an account

  @Test func `with several accounts, a command needs --account or options that fit one account`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let secret = ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""]
    #expect(try await run(["login", "--account", "my home"] + provider(sandbox)).status == 0)
    #expect(
      try await run(
        ["login", "--account", "work", "--auth", "post"] + provider(sandbox, .service), secret
      ).output.contains("\n  account  work\n"))
    let tokens = Dictionary(
      uniqueKeysWithValues: try await store.all().map { ($0.id, $0.token.accessToken) })
    for id in ["my home", "work"] {
      #expect(try await run(["token", "--account", id]).output == "\(tokens[id] ?? "")\n")
    }
    // The client in the options chooses the account.
    #expect(try await run(["token"] + provider(sandbox)).output == "\(tokens["my home"] ?? "")\n")
    for command in [["token"], ["logout"], ["revoke"], ["watch"], ["call", "GET", "/api/me"]] {
      let outcome = try await run(command)
      #expect(outcome.status == 2)
      #expect(outcome.output.isEmpty)
      #expect(
        outcome.errors == """
          error: account_needed: the store has 2 accounts; name one
            --account 'my home'
            --account work

          """)
    }
    let call = try await run(["call", "GET", "/api/me", "--account", "work"])
    #expect(call.output.contains("alice"), "\(call.errors)")

    #expect(
      try await run(["logout", "--account", "work"]).output
        == "Signed out of the account \"work\".\n")
    #expect(try await store.list() == ["my home"])
    // A single account needs no name.
    #expect(try await run(["token"]).output == "\(tokens["my home"] ?? "")\n")
    #expect(try await run(["revoke"]).output == "Revoked the account \"my home\".\n")
    #expect(try await store.isEmpty())
    await sandbox.stop()
  }

  @Test func `without a name, a command uses the account "default"`() async throws {
    let sandbox = try await SandboxServer.start()
    try await store.keepExpiredAccount("a", at: sandbox)
    let old = try await store.keepExpiredAccount(at: sandbox)
    #expect(try await run(["logout"]).output == "Signed out.\n")
    #expect(try await store.list() == ["a"])
    #expect(sandbox.isActive(old.refreshToken))
    await sandbox.stop()
  }

  @Test func `a command signs nobody in for an unknown account name`() async throws {
    for command in [["token"], ["watch"], ["call", "GET", "/api/me"]] {
      let outcome = try await run(command + ["--account", "typo", "--browser", "sandbox"])
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.hasPrefix("error: no_account: there is no account \"typo\"\n"))
      #expect(outcome.errors.contains("sq-demo login"))
    }
  }

  @Test
  func `the token command signs in with another client and keeps the stored accounts`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    try await store.save(
      AccountRecord(
        id: "work", clientID: "app", issuer: "https://id.example.com",
        token: SQToken(accessToken: "x")))
    #expect(try await run(["token"] + provider(sandbox)).status == 0)
    #expect(try await store.list() == ["default", "work"])
    await sandbox.stop()
  }

  // MARK: Stored client data

  @Test func `after a login with endpoints and a client secret, later commands need no options`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let login = try await run(
      [
        "login", "--browser", "sandbox", "--client-id", SandboxClient.service.id, "--auth", "post",
        "--authorize", sandbox.authorizationEndpoint.absoluteString,
        "--token", sandbox.tokenEndpoint.absoluteString,
        "--revocation", sandbox.revocationEndpoint.absoluteString, "--scope", "profile",
      ], ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""])
    #expect(login.status == 0, "\(login.errors)")
    let kept = try #require(try await store.load("default"))
    #expect(
      kept.attributes == [
        "authorization_endpoint": sandbox.authorizationEndpoint.absoluteString,
        "token_endpoint": sandbox.tokenEndpoint.absoluteString,
        "revocation_endpoint": sandbox.revocationEndpoint.absoluteString,
        "client_secret": SandboxClient.service.secret ?? "", "scope": "profile",
        "redirect_uri": "http://127.0.0.1/callback",
        "token_endpoint_auth_method": "client_secret_post",
      ])
    try await store.expire("default")
    #expect(try await run(["token"]).status == 0)
    #expect(sandbox.requests(to: .token).count == 2)
    #expect(try await store.load("default")?.attributes == kept.attributes)

    // A given option is used, but not stored.
    try await store.expire("default")
    let wrong = try await run(["token"], ["SQ_CLIENT_SECRET": "hunter2"])
    #expect(wrong.errors.contains("error: invalid_client: "))
    #expect(try await store.load("default")?.attributes == kept.attributes)

    let path = try await run(["call", "GET", "/api/me"])
    #expect(path.output.contains("alice"), "\(path.errors)")
    #expect(try await run(["revoke"]).output == "Revoked.\n")
    await sandbox.stop()
  }

  @Test func `a stored client secret is not sent to another server`() async throws {
    let sandbox = try await SandboxServer.start()
    let other = try await SandboxServer.start()
    _ = try await run(
      ["login"] + provider(sandbox, .service),
      ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""])
    try await store.expire("default")
    for command in ["token", "revoke"] {
      let outcome = try await run([command] + provider(other, .service))
      #expect(outcome.status == 1)
      #expect(outcome.firstError.hasPrefix("error: invalid_configuration: "))
    }
    #expect(other.requests(to: .token).isEmpty && other.requests(to: .revocation).isEmpty)
    await sandbox.stop()
    await other.stop()
  }

  @Test func `login with only an account's name signs in again at the account's server`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    _ = try await run(["login", "--account", "work", "--scope", "profile"] + provider(sandbox))
    let first = try #require(try await store.load("work"))
    let again = try await run(["login", "--account", "work", "--browser", "sandbox"])
    #expect(again.status == 0, "\(again.errors)")
    let second = try #require(try await store.load("work"))
    #expect(second.token.accessToken != first.token.accessToken)
    #expect(second.attributes == first.attributes && second.issuer == first.issuer)
    // The account can sign in again with only its name and its store, so the hint has no other
    // options.
    try await store.expire("work", withoutRefreshToken: true)
    let expired = try await run(["token"])
    let command = "sq-demo login --account work --store file:\(store.path)"
    #expect(expired.errors.contains("Sign in again with '\(command)'."))
    await sandbox.stop()
  }

  @Test func `login without --store keeps no account of the built-in sandbox`() async throws {
    let login = try await DemoProcess.run(
      ["login", "--account", "x", "--browser", "sandbox"], in: folder)
    #expect(login.status == 0, "\(login.errors)")
    #expect(!login.output.contains("kept in"))
    #expect(!folder.exists("state"))
  }
}
