import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// Where the desktop user's store puts accounts, and where it finds them again.
@Suite(.timeLimit(.minutes(2)), .requires(.keyring)) struct DesktopStoreTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(
    _ desktop: PrivateDesktop, hasDisplay: Bool = false
  ) -> DesktopTokenStore {
    DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: hasDisplay)
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name))
  }

  private var file: DesktopTokenStore.Place { .encryptedFile(path: folder.file("tokens.sealed")) }

  @Test func `accounts are saved in an unlocked keyring`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    #expect(try await store.place == .keyring)
    #expect(try await store.list() == [])
    #expect(!exists("tokens.place"), "reading does not choose a place")
    try await store.save(record("a"))
    #expect("\(try await store.place)" == "the desktop's keyring")
    #expect(!exists("tokens.sealed") && !exists("tokens.key"))
    #expect(
      try await SecretServiceTokenStore(
        service: "app", folder: folder.path, bus: desktop.address
      ).list() == ["a"])
    await desktop.stop()
  }

  @Test func `an unavailable keyring is an error, not an empty store`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    try await store(desktop).save(record("a"))
    try await desktop.killKeyring()
    // The second store is like that of a program that has just started.
    let store = store(desktop, hasDisplay: true)
    await failure(.storeFailed) { try await store.load("a") }
    await failure(.storeFailed) { try await store.list() }
    await failure(.storeFailed) { try await store.all() }
    await failure(.storeFailed) { try await store.erase("a") }
    await failure(.storeFailed) { try await store.save(record("b")) }
    #expect(try await store.place == .keyring)
    #expect(!exists("tokens.sealed"))
    try await desktop.startKeyring()
    #expect(try await store.all() == [record("a")])
    await desktop.stop()
  }

  @Test func `accounts in the encrypted file stay there when a keyring appears later`() async throws
  {
    let desktop = try await PrivateDesktop()
    try await store(desktop).save(record("a"))
    #expect(try await store(desktop).place == file)
    for name in ["tokens.sealed", "tokens.key", "tokens.place"] {
      var status = stat()
      #expect(stat(folder.file(name), &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
    try await desktop.startKeyring()
    let store = store(desktop)
    #expect(try await store.load("a") == record("a"))
    try await store.save(record("b"))
    #expect(try await store.list() == ["a", "b"])
    #expect(try await store.place == file)
    let words = "\(try await store.place)"
    #expect(words == "the encrypted file \(folder.file("tokens.sealed")), with its key beside it")
    await desktop.stop()
  }

  @Test func `an existing encrypted file is used even without a stored choice of place`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    let before = EncryptedFileTokenStore(
      path: folder.file("tokens.sealed"), key: .file(folder.file("tokens.key")))
    try await before.save(record("a"))
    #expect(try await store(desktop).place == file)
    #expect(try await store(desktop).list() == ["a"])
    await desktop.stop()
  }

  @Test func `the store chooses between keyring and file only at the first save`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let store = store(desktop)
    #expect(try await store.load("a") == nil)
    #expect(try await store.list() == [])
    try await store.erase("a")
    try #require(try await store.lease("a")).release()
    #expect(!exists("tokens.sealed"))
    try await desktop.startKeyring()
    try await store.save(record("a"))
    #expect(try await store.place == .keyring)
    await desktop.stop()
  }

  @Test func `a locked keyring without a display for the prompt is not chosen`() async throws {
    let desktop = try await PrivateDesktop()
    try await desktop.startKeyring(unlocked: false)
    try await store(desktop).save(record("a"))
    #expect(try await store(desktop).place == file)
    await desktop.stop()
  }

  @Test func `a first save that the keyring rejects does not choose between keyring and file`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    try await desktop.startKeyring(unlocked: false)
    let store = store(desktop, hasDisplay: true)
    #expect(try await store.place == .keyring)
    await failure(.storeFailed) { try await store.save(record("a")) }
    #expect(!exists("tokens.place"))
    try await self.store(desktop).save(record("a"))
    #expect(try await store.place == file)
    await desktop.stop()
  }

  /// The stored choice may be lost with the state folder while the keyring still has the accounts.
  @Test func `a locked keyring that has accounts is used even if the stored choice is lost`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    try await store(desktop).save(record("a"))
    try FileManager.default.removeItem(atPath: folder.file("tokens.place"))
    try await desktop.killKeyring()
    try await desktop.startKeyring(unlocked: false)
    let store = store(desktop)
    #expect(try await store.place == .keyring)
    await failure(.storeFailed) { try await store.list() }
    await failure(.storeFailed) { try await store.save(record("b")) }
    #expect(!exists("tokens.sealed"))
    await desktop.stop()
  }

  @Test func `a place that only a newer version knows is rejected, and its file is not changed`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    try folder.write("vault\n", to: "tokens.place")
    let store = store(desktop)
    await failure(.storeTooNew) { try await store.list() }
    await failure(.storeTooNew) { try await store.save(record("a")) }
    #expect(try String(contentsOfFile: folder.file("tokens.place"), encoding: .utf8) == "vault\n")
    await desktop.stop()
  }

  @Test func `processes that save at the same time choose the same place, keyring or file`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let probes = try (0..<4).map { number in
      try ChildProcess(
        [StoreProbe.executable, "desktop-of:app", "save"],
        environment: desktop.environment, input: try StoreProbe.input([record("\(number)")]))
    }
    try await desktop.startKeyring()
    for probe in probes {
      let result = try await probe.result()
      #expect(result.output == "saved\n", "\(result.errors)")
    }
    let listed = try await ChildProcess.run(
      [StoreProbe.executable, "desktop-of:app", "list"], environment: desktop.environment)
    #expect(listed.output == "0\n1\n2\n3\n", "\(listed.errors)")
    await desktop.stop()
  }

  @Test func `an account's lease excludes other stores before and after the keyring is chosen`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    let (first, second) = (store(desktop), store(desktop))
    let before = try #require(try await first.lease("a"))
    #expect(try await second.lease("a") == nil)
    try await second.save(record("b"))
    #expect(try await second.lease("a") == nil, "the first lease also covers the keyring")
    before.release()
    let after = try #require(try await second.lease("a"))
    #expect(try await first.lease("a") == nil)
    after.release()
    await desktop.stop()
  }

  /// An app may change from one of the store's two places to this store.
  @Test(arguments: [true, false])
  func `accounts are not moved to the place where they are already`(inKeyring: Bool) async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let place: any SharedTokenStore =
      if inKeyring {
        SecretServiceTokenStore(service: "app", folder: folder.path, bus: desktop.address)
      } else {
        EncryptedFileTokenStore(
          path: folder.file("tokens.sealed"), key: .file(folder.file("tokens.key")))
      }
    try await place.save(record("a"))
    let store = store(desktop)
    await failure(.invalidConfiguration) { try await place.moveAccounts(to: store) }
    #expect(try await place.load("a") == record("a"))
    await failure(.invalidConfiguration) { try await store.moveAccounts(to: place) }
    #expect(try await place.load("a") == record("a"))
    #expect(try await store.load("a") == record("a"))
    await desktop.stop()
  }
}
