import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring's store on a real KeePassXC with its own settings, which asks the user a lot.
@Suite(.timeLimit(.minutes(3)), .requires(.keePassXC)) struct KeePassXCTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(_ desktop: PrivateDesktop) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, limit: .seconds(60))
  }

  /// Saves records by another process, so that this one is a stranger to their items.
  private func saveElsewhere(_ records: [AccountRecord], _ desktop: PrivateDesktop) async throws {
    let result = try await ChildProcess.run(
      [StoreProbe.executable, "keyring-of:app", "save"],
      environment: desktop.environment, input: try StoreProbe.input(records))
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test func `the user is asked once for an account, however often it is refreshed`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    try await saveElsewhere([record("a")], desktop)
    let store = store(desktop)
    #expect(try await store.load("a") == record("a"))
    try await eventually("the answer is counted") { keePassXC.questions == 1 }
    var last = record("a")
    for number in 0..<10 {
      let next = record("a", token: SQToken(accessToken: "\(number)"))
      let room = try await store.reserve("a", replacing: last)
      await room.land(next)
      try await store.save(next)
      room.release()
      last = next
    }
    // Another store of the process is no stranger either.
    #expect(try await self.store(desktop).load("a") == last)
    #expect(keePassXC.questions == 1)
    await keePassXC.stop()
    await desktop.stop()
  }

  /// KeePassXC finds nothing in a locked database, which must not look as if nothing were there.
  @Test func `a user who does not unlock the database is not signed out`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let store = store(desktop)
    try await store.save(record("a"))
    try await keePassXC.lock(desktop)
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.list() },
      await failure(.storeFailed) { try await store.erase("a") },
      await failure(.storeFailed) { try await store.reserve("a", replacing: record("a")) },
      await failure(.storeFailed) { try await store.reserve("b", replacing: nil) },
    ] { #expect(error?.message.contains("locked") == true) }
    try await eventually("the user was asked") { keePassXC.refusals > 0 }
    await keePassXC.stop()
    await desktop.stop()
  }

  @Test(arguments: [KeePassXC.Start.lockedDatabase, .noDatabase])
  func `without a display, the file is taken where KeePassXC would have to ask`(
    start: KeePassXC.Start
  ) async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop, start)
    // With its limit of ten seconds the keyring could be asked a question.
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: false,
      limit: .seconds(1))
    #expect(try await store.load("a") == nil)
    try await store.reserve("a", replacing: nil).release()
    try await store.save(record("a"))
    #expect(try await store.place == .encryptedFile(path: folder.file("tokens.sealed")))
    #expect(try await store.load("a") == record("a"))
    await keePassXC.stop()
    await desktop.stop()
  }

  @Test func `with a display, a locked KeePassXC is the place of the accounts`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop, .lockedDatabase)
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: true)
    #expect(try await store.place == .keyring)
    #expect(keePassXC.refusals == 0, "to look asks nothing")
    let error = await failure(.storeFailed) { try await store.reserve("a", replacing: nil) }
    #expect(error?.message.contains("locked") == true)
    await keePassXC.stop()
    await desktop.stop()
  }
}
