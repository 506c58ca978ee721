import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// Sign-ins with the client's private key from a file.
@Suite(.timeLimit(.minutes(1))) struct `A login with a key` {
  private let demo: KeyedDemo

  init() throws {
    demo = try KeyedDemo()
  }

  @Test func `a login with a key stores the path of the key's file and not the key`() async throws {
    let sandbox = try await demo.sandbox()
    let login = try await demo.login(sandbox, demo.keyOption)
    #expect(login.status == 0, "\(login.errors)")
    let record = try #require(try await demo.tokens.load("default"))
    #expect(record.attributes["client_key_file"] == demo.keyPath)
    let secret = try #require(try demo.key.pem().split(separator: "\n").dropFirst().first)
    #expect(!record.attributes.values.contains { $0.contains(secret) })
    await sandbox.stop()
  }

  @Test
  func `if the key's file has moved, commands name the old path, and login stores the new path`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    let login = try await demo.login(sandbox, demo.keyOption)
    #expect(login.status == 0, "\(login.errors)")
    try FileManager.default.moveItem(
      atPath: demo.keyPath, toPath: demo.folder.file("moved.pem"))
    try await demo.expireToken()
    let user = try await demo.run(["whoami"])
    #expect(user.status == 0, "the ID token in the store names the user")
    #expect(user.firstError.contains("key_unavailable") && user.firstError.contains(demo.keyPath))
    for words in [["token"], ["call", "GET", "/api/me"], ["files"], ["revoke"]] {
      let outcome = try await demo.run(words)
      #expect(outcome.status == 1 && outcome.output.isEmpty)
      #expect(outcome.firstError.hasPrefix("error: key_unavailable: "), "\(outcome.errors)")
      #expect(outcome.firstError.contains(demo.keyPath))
      #expect(
        outcome.errors.contains(
          "sq-demo login --account default \(demo.store.joined(separator: " ")) --key FILE'"))
    }
    let watch = try DemoProcess(["watch", "--all"] + demo.store, in: demo.folder)
    try await eventually("the warning about the key appears") {
      watch.errors.contains("warning: account default: key_unavailable: ")
    }
    watch.send(SIGTERM)
    let watched = await watch.outcome()
    #expect(watched.status == 0)
    #expect(watched.errors.contains("could not be used 1."), "\(watched.errors)")

    let moved = ["--key", demo.folder.file("moved.pem")]
    #expect(try await demo.run(["token"] + moved).status == 0, "the option applies to this run")
    try await demo.expireToken()
    #expect(try await demo.run(["token"]).status == 1)
    let again = try await demo.run(
      ["login", "--account", "default", "--browser", "sandbox"] + moved)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try await demo.run(["token"]).status == 0)
    await sandbox.stop()
  }

  @Test func `logout needs no key`() async throws {
    let sandbox = try await demo.sandbox()
    #expect(try await demo.login(sandbox, demo.keyOption).status == 0)
    try FileManager.default.removeItem(atPath: demo.keyPath)
    #expect(try await demo.run(["accounts"]).output.contains(demo.keyPath))
    #expect(try await demo.run(["logout"]).output == "Signed out.\n")
    await sandbox.stop()
  }

  @Test func `an encrypted key's passphrase comes from the environment or the terminal`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    try demo.folder.write(try demo.key.pem(passphrase: "open sesame"), to: "key.pem")
    let refused = try await demo.login(sandbox, demo.keyOption)
    #expect(refused.firstError.hasPrefix("error: passphrase_needed: "), "\(refused.errors)")
    let login = try await demo.login(sandbox, demo.keyOption, ["SQ_KEY_PASSPHRASE": "open sesame"])
    #expect(login.status == 0, "\(login.errors)")
    try await demo.expireToken()

    let terminal = try PseudoTerminal()
    let token = try DemoProcess(
      ["token"] + demo.store, in: demo.folder, input: terminal.handle, output: terminal.handle)
    let question = "Passphrase of the key \(demo.keyPath): "
    try await eventually("the passphrase prompt appears") { terminal.everything.contains(question) }
    #expect(terminal.modes[2] & UInt32(ECHO) == 0)
    try terminal.press("open sesame\n")
    #expect(await token.outcome().status == 0, "\(terminal.everything)")
    #expect(!terminal.everything.contains("sesame"))
    await sandbox.stop()
  }

  @Test(.requires("root", getuid() == 0), arguments: [0o644, 0o640, 0o604, 0o600])
  func `a key file that other users can read is rejected`(mode: Int) async throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: mode], ofItemAtPath: demo.keyPath)
    for path in [demo.folder.path, demo.keyPath] {
      try files.setAttributes([.ownerAccountID: 65534], ofItemAtPath: path)
    }
    for words in [["login", "--sandbox", "--key"], ["sandbox", "--port", "x", "--client-key"]] {
      let outcome = try await DemoProcess.run(
        words + [demo.keyPath], in: demo.folder,
        starter: ["setpriv", "--reuid=65534", "--clear-groups"])
      #expect(outcome.errors.contains("chmod 600") == (mode != 0o600), "\(outcome.errors)")
      #expect(outcome.status == (mode == 0o600 && words[0] == "login" ? 0 : 2))
    }
  }

  @Test func `a login with a key that the server does not accept fails before a browser opens`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    try demo.folder.write(try ClientKey().pem(), to: "key.pem")
    let outcome = try await demo.run(
      [
        "login", "--browser", "touch \(demo.folder.file("opened"))", "--issuer",
        sandbox.issuer.absoluteString, "--client-id", KeyedDemo.clientID, "--par",
      ] + demo.keyOption)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: invalid_client: "), "\(outcome.errors)")
    #expect(!demo.folder.exists("opened"))
    await sandbox.stop()
  }

  /// FAPI 2.0 allows only the issuer as the audience, so advice to change it would be useless.
  @Test
  func `under FAPI 2.0, the error of a wrong key names the key and does not mention an audience`()
    async throws
  {
    let sandbox = try await demo.sandbox(.fapi2)
    let other = try ClientKey()
    try demo.folder.write(other.pem(), to: "key.pem")
    let outcome = try await demo.login(sandbox, demo.keyOption + ["--profile", "fapi2"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(try #require(other.keyID)), "\(outcome.errors)")
    #expect(outcome.errors.contains("In sq-demo, check the file that --key names."))
    #expect(!outcome.errors.contains("udience"), "\(outcome.errors)")
    await sandbox.stop()
  }

  // MARK: Clients that register themselves

  @Test func `a login without a client ID registers a client that uses the key`() async throws {
    let sandbox = try await demo.sandbox()
    func login(_ more: [String]) async throws -> DemoProcess.Outcome {
      try await demo.run(
        ["login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString] + more)
    }
    let first = try await login(demo.keyOption)
    #expect(first.status == 0, "\(first.errors)")
    let registration = try #require(sandbox.requests(to: .registration).first)
    let text = String(decoding: registration.body, as: UTF8.self)
    let name = try #require(demo.key.keyID)
    #expect(text.contains("private_key_jwt") && text.contains(name))
    #expect(!text.contains("\"d\""))
    #expect(sandbox.requests(to: .token).last?.form("client_assertion") != nil)
    #expect(try await demo.run(["whoami"]).status == 0)

    let without = try await login([])
    #expect(without.firstError.hasPrefix("error: registered_otherwise: "), "\(without.errors)")
    #expect(without.errors.contains("--key FILE"))
    #expect(try await login(demo.keyOption).status == 0)
    #expect(sandbox.requests(to: .registration).count == 1)
    await sandbox.stop()
  }

  @Test func `a login with a key is refused if the program is already registered without one`()
    async throws
  {
    let sandbox = try await demo.sandbox()
    let login = ["login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString]
    #expect(try await demo.run(login).status == 0)
    let outcome = try await demo.run(login + demo.keyOption)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: registered_otherwise: "))
    #expect(outcome.errors.contains("--store"))
    #expect(try await demo.run(["token"]).status == 0)
    await sandbox.stop()
  }
}
