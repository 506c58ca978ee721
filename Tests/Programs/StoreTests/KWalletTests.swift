import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring store on a real KWallet, whose user sees no screen.
@Suite(.timeLimit(.minutes(10)), .requires(.kWallet)) struct KWalletTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(
    _ desktop: PrivateDesktop, limit: Duration = .seconds(60)
  ) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, limit: limit)
  }

  private func desktopStore(
    _ desktop: PrivateDesktop, hasDisplay: Bool, limit: Duration = .seconds(60)
  ) -> DesktopTokenStore {
    DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: hasDisplay,
      limit: limit)
  }

  @Test func `after a desktop login, accounts are saved in the wallet without a prompt`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let kWallet = try await KWallet(on: desktop)
    let store = desktopStore(desktop, hasDisplay: true)
    try await store.reserve("a", replacing: nil).release()
    try await store.save(record("a"))
    #expect(try await store.place == .keyring)
    // In some sessions KWallet's key differs from libsecret's; secret-tool then finds nothing.
    try await eventually("secret-tool finds the account") {
      let found = try await ChildProcess.run(
        ["secret-tool", "lookup", "oauth-service", "app"], environment: desktop.environment)
      return found.output.contains("\"id\":\"a\"")
    }
    #expect(try await self.store(desktop).load("a") == record("a"))
    try await store.erase("a")
    #expect(try await store.list() == [])
    await kWallet.stop()
    await desktop.stop()
  }

  /// KWallet reports a wallet as locked until a program asks for it, even if the login opened it.
  @Test(arguments: [KWallet.Start.openWallet, .closedWallet, .noWallet])
  func `without a display, accounts are stored in a file if KWallet might have to prompt`(
    start: KWallet.Start
  ) async throws {
    let desktop = try await PrivateDesktop()
    let kWallet = try await KWallet(on: desktop, start)
    let store = desktopStore(desktop, hasDisplay: false, limit: .seconds(1))
    try await store.reserve("a", replacing: nil).release()
    try await store.save(record("a"))
    #expect(try await store.place == .encryptedFile(path: folder.file("tokens.sealed")))
    #expect(try await store.load("a") == record("a"))
    await kWallet.stop()
    await desktop.stop()
  }

  /// The prompt is on a screen that nobody sees.
  @Test(arguments: [KWallet.Start.closedWallet, .noWallet])
  func `if the wallet is not opened, reserving space for an account fails at the time limit`(
    start: KWallet.Start
  ) async throws {
    let desktop = try await PrivateDesktop()
    let kWallet = try await KWallet(on: desktop, start)
    let error = await failure(.storeFailed) {
      try await store(desktop, limit: .seconds(1)).reserve("a", replacing: nil)
    }
    #expect(error?.message.contains("did not answer within 1 s") == true)
    await kWallet.stop()
    await desktop.stop()
  }

  /// KWallet rejects a public key that begins with a zero byte.
  ///
  /// One key in 256 does.
  @Test func `KWallet rejects no session because of its public key`() async throws {
    let desktop = try await PrivateDesktop()
    let kWallet = try await KWallet(on: desktop)
    var refused = 0
    for _ in 1...1500 {
      if await !SecretServiceTokenStore.isAvailable(bus: desktop.address) { refused += 1 }
    }
    #expect(refused == 0)
    await kWallet.stop()
    await desktop.stop()
  }
}
