import Foundation
import OAuthSandbox
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The effects of options and of missing keys on stored accounts.
@Suite(.timeLimit(.minutes(2))) struct `A kept account` {
  private let demo: KeyedDemo

  init() throws {
    demo = try KeyedDemo()
  }

  private func boundSandbox() async throws -> SandboxServer {
    try await demo.sandbox { $0.dpop = SandboxDPoPOptions(.accepted) }
  }

  // MARK: Without the key's file

  @Test func `a valid token works without the file of the client's key`() async throws {
    let sandbox = try await demo.sandbox()
    #expect(try await demo.login(sandbox, demo.keyOption).status == 0)
    try FileManager.default.removeItem(atPath: demo.keyPath)
    for words in [["token"], ["call", "GET", "/api/me"]] {
      let outcome = try await demo.run(words)
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    }
    await sandbox.stop()
  }

  @Test(arguments: [nil, "open sesame"])
  func `logout --everywhere forgets the account even if the client's key cannot be used`(
    passphrase: String?
  ) async throws {
    let sandbox = try await demo.sandbox()
    #expect(try await demo.login(sandbox, demo.keyOption).status == 0)
    // The program has no terminal, so no user can enter the passphrase of an encrypted key.
    if let passphrase {
      try demo.folder.write(demo.key.pem(passphrase: passphrase), to: "key.pem")
    } else {
      try FileManager.default.removeItem(atPath: demo.keyPath)
    }
    let logout = try await demo.run(["logout", "--everywhere", "--browser", "sandbox"])
    #expect(logout.status == 1, "\(logout.errors)")
    let code = passphrase == nil ? "key_unavailable" : "passphrase_needed"
    #expect(logout.errors.contains("error: \(code): "), "\(logout.errors)")
    #expect(logout.errors.contains("The account is forgotten on this machine nevertheless."))
    #expect(try await demo.tokens.list().isEmpty)
    await sandbox.stop()
  }

  @Test func `a login with --key /dev/stdin is rejected unless the store is in memory`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    let words = [
      "login", "--browser", "touch \(demo.folder.file("opened"))", "--issuer",
      sandbox.issuer.absoluteString, "--client-id", KeyedDemo.clientID, "--key", "/dev/stdin",
    ]
    let kept = try DemoProcess(
      words + demo.store, in: demo.folder,
      input: FileHandle(forReadingAtPath: demo.keyPath))
    let outcome = await kept.outcome()
    #expect(outcome.status == 2, "\(outcome.errors)")
    #expect(outcome.firstError.contains("/dev/stdin is not a lasting file"), "\(outcome.errors)")
    #expect(!demo.folder.exists("opened"))
    let passing = try DemoProcess(
      words.map { $0.hasPrefix("touch") ? "sandbox" : $0 } + ["--store", "memory"], in: demo.folder,
      input: FileHandle(forReadingAtPath: demo.keyPath))
    #expect(await passing.outcome().status == 0)
    await sandbox.stop()
  }

  // MARK: A limit of a later version

  /// Without the limit, no command may use the account, but its user must be able to end it.
  @Test(arguments: [["revoke"], ["logout"], ["logout", "--everywhere", "--browser", "sandbox"]])
  func `an account with a limit of a later version is not used, but can be ended`(
    command: [String]
  ) async throws {
    let sandbox = try await demo.sandbox()
    #expect(try await demo.login(sandbox, [], client: SandboxClient.app.id).status == 0)
    let record = try #require(try await demo.tokens.load("default"))
    try await demo.tokens.save(
      AccountRecord(
        id: record.id, clientID: record.clientID, issuer: record.issuer,
        tokenEndpoint: record.tokenEndpoint, grant: record.grant, token: record.token,
        attributes: record.attributes.merging(["security_profile": "fapi-9"]) { $1 }))
    for words in [["token"], ["call", "GET", "/api/me"]] {
      let refused = try await demo.run(words)
      #expect(refused.status == 1 && refused.output.isEmpty)
      #expect(refused.errors.contains("error: store_too_new: "), "\(refused.errors)")
      #expect(refused.errors.contains("end the account with 'sq-demo revoke'"))
    }
    let ended = try await demo.run(command)
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(try await demo.tokens.list().isEmpty)
    #expect(sandbox.requests(to: .revocation).isEmpty == (command == ["logout"]))
    await sandbox.stop()
  }

  // MARK: A login that fails

  /// The client has no secret, so the token endpoint refuses it, unless the user denies the access
  /// before.
  @Test(arguments: [nil, SandboxMisbehaviour.errorRedirect("access_denied")])
  func `a login that fails does not change the stored account`(
    misbehaviour: SandboxMisbehaviour?
  ) async throws {
    let sandbox = try await demo.sandbox()
    let issuer = sandbox.issuer.absoluteString
    let login = [
      "login", "--browser", "sandbox", "--issuer", issuer, "--client-id", SandboxClient.service.id,
    ]
    let secret = ["SQ_CLIENT_SECRET": SandboxClient.service.secret ?? ""]
    #expect(try await demo.run(login + ["--resource", issuer], secret).status == 0)
    let record = try #require(try await demo.tokens.load("default"))
    #expect(record.attributes["client_secret"] != nil)
    #expect(record.attributes["resource_origins"] != nil)
    if let misbehaviour { sandbox.misbehave(at: .authorization, misbehaviour) }
    let failed = try await demo.run(login)
    #expect(failed.status == (misbehaviour == nil ? 1 : 3), "\(failed.errors)")
    #expect(try await demo.tokens.load("default") == record)
    await sandbox.stop()
  }

  // MARK: Tokens that are not bound

  @Test func `a stored bearer token is not used if the options demand a sender-constrained token`()
    async throws
  {
    let sandbox = try await boundSandbox()
    #expect(try await demo.login(sandbox, [], client: SandboxClient.app.id).status == 0)
    for option in [["--dpop"], ["--profile", "fapi2"] + demo.keyOption] {
      for words in [["call", "GET", "/api/me"], ["token"], ["files"], ["whoami"]] {
        sandbox.forgetRequests()
        let outcome = try await demo.run(words + option)
        #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.output)")
        #expect(outcome.firstError.hasPrefix("error: token_not_bound: "), "\(outcome.errors)")
        #expect(outcome.errors.contains("sq-demo login --account default"))
        #expect(sandbox.requests.isEmpty, "\(words)")
      }
    }
    #expect(try await demo.run(["call", "GET", "/api/me"]).status == 0)
    let again = try await demo.run(
      ["login", "--account", "default", "--dpop", "--browser", "sandbox"])
    #expect(again.status == 0, "\(again.errors)")
    let call = try await demo.run(["call", "GET", "/api/me", "--dpop"])
    #expect(call.status == 0, "\(call.errors)")
    #expect(sandbox.requests(to: .me).last?.header("dpop") != nil)
    await sandbox.stop()
  }

  // MARK: The built-in sandbox

  @Test(arguments: [[], ["--dpop"]])
  func `a login at the built-in sandbox does not replace the account of another server`(
    options: [String]
  ) async throws {
    let sandbox = try await boundSandbox()
    #expect(try await demo.login(sandbox, [], client: SandboxClient.app.id).status == 0)
    let record = try await demo.tokens.load("default")
    let login = try await demo.run(["login", "--browser", "sandbox"] + options)
    #expect(login.status == 2, "\(login.errors)")
    #expect(login.firstError.contains(sandbox.issuer.absoluteString))
    #expect(login.errors.contains("sq-demo login --account default --store"))
    #expect(try await demo.tokens.load("default") == record)
    // After the session's end, the store has no tokens, but the program still knows the account's
    // server.
    try await demo.tokens.erase("default")
    #expect(try await demo.run(["login", "--browser", "sandbox"] + options).status == 2)
    #expect(
      try await demo.run(["login", "--account", "other", "--browser", "sandbox"]).status == 0)
    await sandbox.stop()
  }

  @Test(arguments: [[], ["--account", "default"]])
  func `a login at the built-in sandbox replaces the account of an earlier built-in sandbox`(
    account: [String]
  ) async throws {
    for _ in 0..<2 {
      let login = try await demo.run(["login", "--browser", "sandbox"] + account)
      #expect(login.status == 0, "\(login.errors)")
    }
    #expect(try await demo.tokens.list() == ["default"])
  }
}
