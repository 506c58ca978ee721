import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The default store` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func login(_ sandbox: SandboxServer) -> [String] {
    [
      "login", "--browser", "sandbox", "--issuer", sandbox.issuer.absoluteString, "--client-id",
      "sandbox-app",
    ]
  }

  @Test func `the default store is an encrypted file if there is no keyring`() async throws {
    let sandbox = try await SandboxServer.start()
    let login = try await DemoProcess.run(login(sandbox), in: folder)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("the encrypted file"))
    for file in ["tokens.sealed", "tokens.key", "clients.sealed", "clients.key"] {
      let mode = try FileManager.default.attributesOfItem(
        atPath: folder.file("state/sq-demo/\(file)"))
      #expect(mode[.posixPermissions] as? Int == 0o600)
    }
    let token = try await DemoProcess.run(["token"], in: folder)
    #expect(token.output.hasPrefix("access-"), "\(token.errors)")
    #expect(sandbox.requests(to: .token).count == 1)
    let accounts = try await DemoProcess.run(["accounts"], in: folder)
    #expect(accounts.lines.first == "default")
    #expect(
      accounts.errors.contains(
        "Looked in the encrypted file \(folder.file("state/sq-demo/tokens.sealed")), with its key"))
    #expect(try await DemoProcess.run(["logout"], in: folder).output == "Signed out.\n")
    await sandbox.stop()
  }

  @Test(.requires(.keyring))
  func `the default store is the desktop's keyring, which --store keyring names as well`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let desktop = try await PrivateDesktop(keyring: true)
    let bus = ["DBUS_SESSION_BUS_ADDRESS": desktop.address]
    let login = try await DemoProcess.run(login(sandbox), in: folder, environment: bus)
    #expect(login.status == 0, "\(login.errors)")
    #expect(login.output.contains("\n  kept in  the desktop's keyring\n"))
    for store in [[], ["--store", "keyring"]] {
      let accounts = try await DemoProcess.run(["accounts"] + store, in: folder, environment: bus)
      #expect(accounts.lines.first == "default", "\(accounts.errors)")
      #expect(accounts.errors == "Looked in the desktop's keyring.\n")
      let token = try await DemoProcess.run(["token"] + store, in: folder, environment: bus)
      #expect(token.output.hasPrefix("access-"), "\(token.errors)")
    }
    // Without the keyring, the program fails. It does not begin a new account in a file instead.
    let absent = try await DemoProcess.run(["token", "--browser", "sandbox"], in: folder)
    #expect(absent.status == 1)
    #expect(absent.errors.contains("error: store_failed: the desktop's keyring "))
    let logout = try await DemoProcess.run(
      ["logout", "--store", "keyring"], in: folder, environment: bus)
    #expect(logout.output == "Signed out.\n")
    #expect(!folder.exists("state/sq-demo/tokens.sealed"))
    await desktop.stop()
    await sandbox.stop()
  }

  @Test(.timeLimit(.minutes(3)), .requires(.keePassXC))
  func `KeePassXC asks once for a token command, and once for all refreshes of a watch command`()
    async throws
  {
    var options = SandboxOptions()
    options.accessTokenLifetime = .seconds(2)
    let sandbox = try await SandboxServer.start(options)
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let bus = ["DBUS_SESSION_BUS_ADDRESS": desktop.address]
    let login = try await DemoProcess.run(
      login(sandbox) + ["--store", "keyring"], in: folder, environment: bus)
    #expect(login.status == 0, "\(login.errors)")
    let before = keePassXC.questions
    let store = SecretServiceTokenStore(
      service: "sq-demo", folder: folder.file("state/sq-demo"), bus: desktop.address)
    try await store.expire("default")
    // The simulated user counts a question only a moment after answering it.
    try await eventually("KeePassXC has asked about the test process") {
      keePassXC.questions == before + 1
    }
    let token = try await DemoProcess.run(
      ["token", "--store", "keyring"], in: folder, environment: bus)
    #expect(token.output.hasPrefix("access-"), "\(token.errors)")
    try await eventually("KeePassXC has asked about the token command") {
      keePassXC.questions == before + 2
    }
    let watch = try DemoProcess(["watch", "--store", "keyring"], in: folder, environment: bus)
    try await eventually("ten refreshes", within: .seconds(90)) {
      watch.output.matches(of: /(?m)^refreshed/).count >= 10
    }
    watch.send(SIGTERM)
    _ = await watch.outcome()
    #expect(keePassXC.questions == before + 3)
    await keePassXC.stop()
    await desktop.stop()
    await sandbox.stop()
  }

  @Test func `the option --store keyring is an error if there is no keyring`() async throws {
    let outcome = try await DemoProcess.run(["accounts", "--store", "keyring"], in: folder)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("error: store_failed: the desktop's keyring cannot be used"))
  }
}
