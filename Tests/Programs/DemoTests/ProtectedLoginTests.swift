import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Sign-ins with pushed requests, bound tokens, a profile and the client's key.
///
/// Each command is a process of its own, and the account is in an encrypted store.
@Suite(.timeLimit(.minutes(1))) struct `A protected login` {
  private let folder: TemporaryFolder
  private let key: ClientKey

  init() throws {
    folder = try TemporaryFolder()
    key = try ClientKey()
    try folder.write(key.pem(), to: "key.pem")
  }

  private static let clientID = "key-app"

  private func sandbox(
    _ profile: SandboxSecurityProfile? = nil, _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = profile.map { SandboxOptions($0) } ?? SandboxOptions()
    let jwk = try SandboxJSON(try #require(key.publicJWK))
    var client = SandboxClient(id: Self.clientID, key: jwk)
    client.idTokenAlgorithm = profile == nil ? .rs256 : .es256
    options.clients.append(client)
    change(&options)
    return try await SandboxServer.start(options)
  }

  private var store: [String] { ["--store", "encrypted:" + folder.file("tokens")] }
  private var tokens: EncryptedFileTokenStore {
    EncryptedFileTokenStore(
      path: folder.file("tokens"), key: .file(folder.file("tokens.key")))
  }

  private func run(
    _ words: [String], _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await DemoProcess.run(words + store, in: folder, environment: environment)
  }

  private func login(
    _ sandbox: SandboxServer, _ more: [String], client: String = clientID,
    _ environment: [String: String] = [:]
  ) async throws -> DemoProcess.Outcome {
    try await run(
      [
        "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString,
        "--client-id", client, "--scope", "openid profile demo files",
      ] + more, environment)
  }

  private var keyOption: [String] { ["--key", folder.file("key.pem")] }

  // MARK: Every option, and the commands after it

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
    try await sandbox(row.profile) {
      if row.profile == nil { $0.dpop = SandboxDPoPOptions(row.proofs) }
    }
  }

  @Test(arguments: Row.all)
  func `a protected login is remembered by every later command`(row: Row) async throws {
    let sandbox = try await server(for: row)
    let login = try await login(
      sandbox, row.options + (row.hasKey ? keyOption : []),
      client: row.hasKey ? Self.clientID : SandboxClient.app.id)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("bound to a key (DPoP, ES256)") == row.bindsTokens)
    let isPushed = row.options.contains("--par") || row.profile != nil
    #expect(sandbox.requests(to: .pushedAuthorization).isEmpty != isPushed)

    try await tokens.expire("default", keepingKey: true)
    let requests = sandbox.requests(to: .token).count
    let token = try await run(["token", "--json"])
    #expect(token.status == 0, "\(token.errors)")
    #expect(token.output.contains("\"bound\":true") == row.bindsTokens)
    #expect(token.output.contains("\"token_type\":\"DPoP\"") == row.bindsTokens)
    #expect(sandbox.requests(to: .token).count > requests, "the token was refreshed")
    let refresh = try #require(sandbox.requests(to: .token).last)
    #expect((refresh.form("client_assertion") != nil) == row.hasKey)
    #expect((refresh.header("dpop") != nil) == row.bindsTokens)

    for words in [["call", "GET", "/api/me"], ["files"], ["whoami"]] {
      let outcome = try await run(words)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    }
    let call = try #require(sandbox.requests(to: .me).last)
    let scheme = row.bindsTokens ? "DPoP " : "Bearer "
    #expect(call.header("authorization")?.hasPrefix(scheme) == true)
    #expect((call.header("dpop") != nil) == row.bindsTokens)

    let again = try await run(["login", "--account", "default", "--browser", "sandbox"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output.contains("bound to a key") == row.bindsTokens)
    let revoked = try await run(["revoke"])
    #expect(revoked.status == 0 && revoked.output == "Revoked.\n", "\(revoked.errors)")
    await sandbox.stop()
  }

  @Test(arguments: Row.all)
  func `a protected login works at the built-in sandbox`(row: Row) async throws {
    let options = row.options + (row.hasKey && row.profile == nil ? keyOption : [])
    for words in [["login"], ["call", "GET", "/api/me"], ["files"], ["whoami"], ["token"]] {
      let outcome = try await DemoProcess.run(words + ["--sandbox"] + options, in: folder)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
      if words == ["login"] {
        #expect(outcome.output.contains("bound to a key") == row.bindsTokens)
      }
    }
    #expect(!folder.exists("state"))
  }

  @Test(arguments: [
    (["--par"], false), (["--key"], true), (["--profile", "fapi2", "--key"], true),
  ])
  func `the built-in sandbox's client has the key of the options`(
    words: [String], hasKey: Bool
  ) async throws {
    let words = words + (hasKey ? [folder.file("key.pem")] : [])
    let options = try SignInArguments(Arguments(words, options: SignInArguments.options))
    let used = Locked<ClientKey?>(nil)
    try await EmbeddedSandbox.running(for: options, tokenLifetime: .seconds(60)) {
      sandbox throws(Failure) in
      let configuration = try sandbox.configuration(for: options)
      used.withLock { $0 = configuration.clientKey }
    }
    #expect(used.withLock(\.self) == (hasKey ? key : nil))
  }

  @Test func `a protected login is shown by accounts, and ended by logout`() async throws {
    let sandbox = try await sandbox(.fapi2)
    let login = try await login(sandbox, ["--profile", "fapi2"] + keyOption)
    #expect(login.status == 0, "\(login.errors)")
    let accounts = try await run(["accounts"])
    for line in [
      "  key      \(folder.file("key.pem"))", "  profile  fapi2",
      "  token    bound to a key (DPoP, ES256)",
    ] { #expect(accounts.lines.contains { $0 == line }, "\(line)") }
    let json = try await run(["accounts", "--json"])
    for member in [
      #""bound":true"#, #""proof_algorithm":"ES256""#, #""profile":"fapi2""#,
      #""client_key_file":"\#(folder.file("key.pem"))""#,
    ] { #expect(json.output.contains(member), "\(json.output)") }
    let logout = try await run(["logout", "--everywhere", "--browser", "sandbox"])
    #expect(logout.status == 0, "\(logout.errors)")
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `watch refreshes a bound token with a proof`() async throws {
    let sandbox = try await sandbox(.fapi2)
    let login = try await login(sandbox, ["--profile", "fapi2"] + keyOption)
    #expect(login.status == 0, "\(login.errors)")
    for words in [["watch"], ["watch", "--all"]] {
      try await tokens.expire("default", keepingKey: true)
      let watch = try DemoProcess(words + store, in: folder)
      try await eventually("a line is printed") { watch.output.hasPrefix("refreshed ") }
      watch.send(SIGTERM)
      #expect(await watch.outcome().status == 0, "\(watch.errors)")
      #expect(sandbox.requests(to: .token).last?.header("dpop") != nil)
    }
    await sandbox.stop()
  }

  @Test func `token warns that a bound token is worth nothing without proofs`() async throws {
    let sandbox = try await sandbox { $0.dpop = SandboxDPoPOptions(.accepted) }
    for (options, isBound) in [(["--dpop"], true), ([], false)] {
      let login = try await login(sandbox, options, client: SandboxClient.app.id)
      #expect(login.status == 0, "\(login.errors)")
      let token = try await run(["token"])
      #expect(token.lines.count == 1 && token.output.hasPrefix("access-"))
      #expect(token.errors.contains("warning: the token is bound to a key") == isBound)
      #expect(token.errors.contains("'sq-demo call'") == isBound)
    }
    await sandbox.stop()
  }

  // MARK: The key

  @Test func `a login with a key keeps the path of its file and not the key`() async throws {
    let sandbox = try await sandbox()
    let login = try await login(sandbox, keyOption)
    #expect(login.status == 0, "\(login.errors)")
    let record = try #require(try await tokens.load("default"))
    #expect(record.attributes["client_key_file"] == folder.file("key.pem"))
    let secret = try #require(try key.pem().split(separator: "\n").dropFirst().first)
    #expect(!record.attributes.values.contains { $0.contains(secret) })
    await sandbox.stop()
  }

  @Test func `a command without the key's file names it, and login takes another place`()
    async throws
  {
    let sandbox = try await sandbox()
    let login = try await login(sandbox, keyOption)
    #expect(login.status == 0, "\(login.errors)")
    try FileManager.default.moveItem(
      atPath: folder.file("key.pem"), toPath: folder.file("moved.pem"))
    for words in [["token"], ["call", "GET", "/api/me"], ["whoami"], ["files"], ["revoke"]] {
      let outcome = try await run(words)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: key_unavailable: "), "\(outcome.errors)")
      #expect(outcome.firstError.contains(folder.file("key.pem")))
      #expect(
        outcome.errors.contains(
          "sq-demo login --account default \(store.joined(separator: " ")) --key FILE'"))
    }
    let watch = try DemoProcess(["watch", "--all"] + store, in: folder)
    try await tokens.expire("default", keepingKey: true)
    try await eventually("the file is named") {
      watch.errors.contains("warning: account default: key_unavailable: ")
    }
    watch.send(SIGTERM)
    #expect(await watch.outcome().status == 0)

    let moved = ["--key", folder.file("moved.pem")]
    #expect(try await run(["token"] + moved).status == 0, "the option counts for one run")
    #expect(try await run(["token"]).status == 1)
    let again = try await run(["login", "--account", "default", "--browser", "sandbox"] + moved)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try await run(["token"]).status == 0)
    await sandbox.stop()
  }

  @Test func `logout needs no key`() async throws {
    let sandbox = try await sandbox()
    #expect(try await login(sandbox, keyOption).status == 0)
    try FileManager.default.removeItem(atPath: folder.file("key.pem"))
    #expect(try await run(["accounts"]).output.contains(folder.file("key.pem")))
    #expect(try await run(["logout"]).output == "Signed out.\n")
    await sandbox.stop()
  }

  @Test func `an encrypted key's passphrase comes from the environment or the terminal`()
    async throws
  {
    let sandbox = try await sandbox()
    try folder.write(try key.pem(passphrase: "open sesame"), to: "key.pem")
    let refused = try await login(sandbox, keyOption)
    #expect(refused.firstError.hasPrefix("error: passphrase_needed: "), "\(refused.errors)")
    let login = try await login(sandbox, keyOption, ["SQ_KEY_PASSPHRASE": "open sesame"])
    #expect(login.status == 0, "\(login.errors)")
    try await tokens.expire("default", keepingKey: true)

    let terminal = try PseudoTerminal()
    let token = try DemoProcess(
      ["token"] + store, in: folder, input: terminal.handle, output: terminal.handle)
    let question = "Passphrase of the key \(folder.file("key.pem")): "
    try await eventually("it asks") { terminal.everything.contains(question) }
    #expect(terminal.modes[2] & UInt32(ECHO) == 0)
    try terminal.press("open sesame\n")
    #expect(await token.outcome().status == 0, "\(terminal.everything)")
    #expect(!terminal.everything.contains("sesame"))
    await sandbox.stop()
  }

  @Test(.requires("root", getuid() == 0), arguments: [0o644, 0o640, 0o604, 0o600])
  func `a key file that other users can read is rejected`(mode: Int) async throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file("key.pem"))
    for path in [folder.path, folder.file("key.pem")] {
      try files.setAttributes([.ownerAccountID: 65534], ofItemAtPath: path)
    }
    for words in [["login", "--sandbox", "--key"], ["sandbox", "--port", "x", "--client-key"]] {
      let outcome = try await DemoProcess.run(
        words + [folder.file("key.pem")], in: folder,
        starter: ["setpriv", "--reuid=65534", "--clear-groups"])
      #expect(outcome.errors.contains("chmod 600") == (mode != 0o600), "\(outcome.errors)")
      #expect(outcome.status == (mode == 0o600 && words[0] == "login" ? 0 : 2))
    }
  }

  @Test func `the wrong key is refused by the server before a browser opens`() async throws {
    let sandbox = try await sandbox()
    try folder.write(try ClientKey().pem(), to: "key.pem")
    let outcome = try await run(
      [
        "login", "--browser", "touch \(folder.file("opened"))", "--issuer",
        sandbox.issuer.absoluteString, "--client-id", Self.clientID, "--par",
      ] + keyOption)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: invalid_client: "), "\(outcome.errors)")
    #expect(!folder.exists("opened"))
    await sandbox.stop()
  }

  // MARK: Servers that cannot do it

  /// The options of a login, the metadata that the server lacks, and what the program advises.
  private static let lacking: [(options: [String], hasKey: Bool, error: String, hint: String)] = [
    (
      ["--profile", "fapi2"], true, "dpop_signing_alg_values_supported",
      "leave --profile out"
    ),
    (["--profile", "fapi2"], false, "clientKey of the algorithm", "--key FILE"),
    (["--par"], false, "pushed_authorization_request_endpoint", "leave --par out"),
  ]

  @Test(arguments: lacking.indices)
  func `a server that lacks a protection is named, and no browser opens`(index: Int) async throws {
    let row = Self.lacking[index]
    let sandbox = try await sandbox()
    if row.options == ["--par"] {
      sandbox.misbehave(
        at: .metadata, .member("pushed_authorization_request_endpoint", nil), times: nil)
    }
    let outcome = try await run(
      [
        "login", "--browser", "touch \(folder.file("opened"))", "--issuer",
        sandbox.issuer.absoluteString, "--client-id",
        row.hasKey ? Self.clientID : SandboxClient.app.id,
      ] + row.options + (row.hasKey ? keyOption : []))
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(row.error), "\(outcome.errors)")
    #expect(outcome.errors.contains("\nIn sq-demo, "), "\(outcome.errors)")
    #expect(outcome.errors.contains(row.hint), "\(outcome.errors)")
    #expect(!folder.exists("opened") && !folder.exists("tokens"))
    await sandbox.stop()
  }

  @Test func `login --dpop refuses a token that the server did not bind`() async throws {
    let sandbox = try await sandbox()
    let outcome = try await login(sandbox, ["--dpop"], client: SandboxClient.app.id)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: token_not_bound: "))
    #expect(outcome.errors.contains("In sq-demo, leave --dpop"), "\(outcome.errors)")
    #expect(try await run(["accounts"]).output == "No account is kept.\n")
    await sandbox.stop()
  }

  @Test func `login keeps the exceptions for a server when it asks who the user is`() async throws {
    let sandbox = try await sandbox()
    sandbox.misbehave(
      at: .metadata, .member("code_challenge_methods_supported", ["plain"]), times: nil)
    let login = [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      SandboxClient.app.id,
    ]
    #expect(try await run(login).errors.contains("In sq-demo, use --without-pkce."))
    let accepted = try await run(login + ["--without-pkce"])
    #expect(accepted.status == 0, "\(accepted.errors)")
    #expect(accepted.output.contains("openid"))
    await sandbox.stop()
  }

  // MARK: Clients that register themselves

  @Test func `a login without a client registers the key`() async throws {
    let sandbox = try await sandbox()
    func login(_ more: [String]) async throws -> DemoProcess.Outcome {
      try await run(
        ["login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString] + more)
    }
    let first = try await login(keyOption)
    #expect(first.status == 0, "\(first.errors)")
    let registration = try #require(sandbox.requests(to: .registration).first)
    let text = String(decoding: registration.body, as: UTF8.self)
    let name = try #require(key.keyID)
    #expect(text.contains("private_key_jwt") && text.contains(name))
    #expect(!text.contains("\"d\""))
    #expect(sandbox.requests(to: .token).last?.form("client_assertion") != nil)
    #expect(try await run(["whoami"]).status == 0)

    let without = try await login([])
    #expect(without.firstError.hasPrefix("error: registered_otherwise: "), "\(without.errors)")
    #expect(without.errors.contains("--key FILE"))
    #expect(try await login(keyOption).status == 0)
    #expect(sandbox.requests(to: .registration).count == 1)
    await sandbox.stop()
  }

  @Test func `a program that is registered without a key does not change its client`() async throws
  {
    let sandbox = try await sandbox()
    let login = ["login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString]
    #expect(try await run(login).status == 0)
    let outcome = try await run(login + keyOption)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: registered_otherwise: "))
    #expect(outcome.errors.contains("--store"))
    #expect(try await run(["token"]).status == 0)
    await sandbox.stop()
  }

  // MARK: The command sandbox

  @Test(arguments: ["fapi2", "fapi2-signed", "atproto"])
  func `the login that the command sandbox prints works there`(profile: String) async throws {
    let server = try DemoProcess(
      ["sandbox", "--profile", profile, "--client-key", folder.file("key.pem")], in: folder)
    try await eventually("it says how to sign in") { server.output.contains("sq-demo files\n") }
    let printed = try #require(
      server.output.firstMatch(of: /\n {2}sq-demo (login .+ \\\n.+)\n/)?.1)
    #expect(server.output.contains("sandbox-key-app, with the key of \(folder.file("key.pem"))"))
    #expect(!server.output.contains("sq-demo rpc"))
    let words = try #require(ShellWords.split(printed.replacingOccurrences(of: "\\\n", with: " ")))
    let guest = try TemporaryFolder()
    let login = try await DemoProcess.run(words + ["--browser", "sandbox"], in: guest)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("bound to a key (DPoP, ES256)"))
    for words in [["call", "GET", "/api/me"], ["whoami"], ["files"], ["revoke"]] {
      let outcome = try await DemoProcess.run(words, in: guest)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    }
    server.send(SIGINT)
    #expect(await server.outcome().status == 0)
  }

  @Test func `the command sandbox says its profile to programs`() async throws {
    let server = try DemoProcess(
      ["sandbox", "--json", "--profile", "fapi2", "--client-key", folder.file("key.pem")],
      in: folder)
    try await eventually("the sandbox listens") { server.output.hasSuffix("\n") }
    #expect(server.output.contains(#""profile":"fapi2""#))
    #expect(server.output.contains(#""clients":[{"client_id":"sandbox-key-app"}]"#))
    server.send(SIGINT)
    #expect(await server.outcome().status == 0)
  }

  @Test func `the tour shows a bound token`() async throws {
    for (options, isBound) in [(["--dpop"], true), (["--profile", "fapi2"], true), ([], false)] {
      let tour = try await DemoProcess.run(["tour"] + options, in: folder)
      #expect(tour.status == 0 && tour.errors.isEmpty, "\(tour.output)\(tour.errors)")
      #expect(tour.output.contains("  token    bound to a key (DPoP, ES256)\n") == isBound)
      #expect(tour.output.contains("The token is refreshed."))
      // The sandbox's gRPC server takes Bearer tokens only.
      #expect(tour.output.contains("Waiting for RPC") != isBound)
    }
  }

  @Test func `the tour in plain mode shows a bound token`() async throws {
    let terminal = try PseudoTerminal()
    let tour = try DemoProcess(
      ["tour", "--plain", "--dpop"], in: folder, input: terminal.handle, output: terminal.handle)
    try terminal.press("s\n")
    try await eventually("the token is shown") {
      terminal.everything.contains("token: bound to a key (DPoP, ES256)")
    }
    try terminal.press("q\n")
    #expect(await tour.outcome().status == 0)
  }
}

extension TokenStore {
  /// Makes an account's access token expire, and keeps the key to which it is bound.
  fileprivate func expire(_ id: String, keepingKey: Bool) async throws {
    let record = try #require(try await load(id))
    var json = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any])
    for name in ["token", "bound_token"] {
      guard var token = json[name] as? [String: Any] else { continue }
      token["expiration_date"] = 1
      json[name] = token
    }
    let data = try JSONSerialization.data(withJSONObject: json)
    try await save(JSONDecoder().decode(AccountRecord.self, from: data))
  }
}
