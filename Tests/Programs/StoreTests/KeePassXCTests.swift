import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring store on a real KeePassXC with its default settings, which prompts often.
@Suite(.timeLimit(.minutes(3)), .requires(.keePassXC)) struct KeePassXCTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(_ desktop: PrivateDesktop) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, limit: .seconds(60))
  }

  /// Saves records in another process, so that this process has no access to their items yet.
  private func saveElsewhere(_ records: [AccountRecord], _ desktop: PrivateDesktop) async throws {
    let result = try await ChildProcess.run(
      [StoreProbe.executable, "keyring-of:app", "save"],
      environment: desktop.environment, input: try StoreProbe.input(records))
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test func `the user is prompted once for an account with many refreshes`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    try await saveElsewhere([record("a")], desktop)
    let store = store(desktop)
    #expect(try await store.load("a") == record("a"))
    try await eventually("the answer is counted") { keePassXC.questions == 1 }
    var last = record("a")
    for number in 0..<10 {
      let next = record("a", token: SQToken(accessToken: "\(number)"))
      let reservation = try await store.reserve("a", replacing: last)
      await reservation.writeAhead(next)
      try await store.save(next)
      reservation.release()
      last = next
    }
    // Another store object in this process has access too.
    #expect(try await self.store(desktop).load("a") == last)
    try await keePassXC.hasNoQuestion()
    #expect(keePassXC.questions == 1)
    await keePassXC.stop()
    await desktop.stop()
  }

  /// Values that KeePassXC would replace, or that would break the JSON.
  private static let texts = [
    "a{USERNAME}b", "{TITLE}", "{REF:P@T:Bank}", "{DB_DIR}", "{", "}}{{", #"\{URL}\""#,
    "{S:oauth-service}", #"\\"{PASSWORD}"#, "{ENV:HOME}",
  ]

  @Test func `texts in braces are loaded as they were saved`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let records = Self.texts.map { text in
      AccountRecord(
        id: text, clientID: text, issuer: "https://id.example/" + text,
        token: SQToken(
          accessToken: text, refreshToken: text,
          additionalFields: [text: .object([text: .string(text)])]),
        attributes: [text: text])
    }
    let store = store(desktop)
    for record in records {
      try await store.save(record)
      #expect(try await store.load(record.id) == record)
    }
    #expect(try await Set(store.all().map(\.id)) == Set(Self.texts))
    let items = try await desktop.call(
      "/org/freedesktop/secrets/collection/tokens", "org.freedesktop.DBus.Properties.Get",
      "string:org.freedesktop.Secret.Collection", "string:Items")
    let paths = items.matches(of: /object path "([^"]+)"/).map { String($0.1) }
    #expect(paths.count == records.count)
    for path in paths {
      let label = try await desktop.call(
        path, "org.freedesktop.DBus.Properties.Get", "string:org.freedesktop.Secret.Item",
        "string:Label")
      #expect(label.contains("app: account") && !label.contains("{"), "\(label)")
    }
    await keePassXC.stop()
    await desktop.stop()
  }

  /// KeePassXC finds nothing in a locked database, but the store must not report an empty database.
  @Test func `a user who does not unlock the database is not signed out`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let store = store(desktop)
    try await store.save(record("a"))
    try await keePassXC.lock(desktop)
    try await callsFail(of: store, keePassXC)
    await keePassXC.stop()
    await desktop.stop()
  }

  /// KeePassXC's default collection is the database in front; a search omits locked databases.
  @Test func `a user who does not unlock the second of two databases is not signed out`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let store = store(desktop)
    try await store.save(record("a"))
    try await keePassXC.lock(desktop)
    try await keePassXC.openAnotherDatabase(desktop, unlocked: true)
    try await callsFail(of: store, keePassXC)
    await keePassXC.stop()
    await desktop.stop()
  }

  /// Without an open database, KeePassXC offers to open one, and then finds nothing.
  @Test func `a user who closes the database is not signed out, and stays so until it is open`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let store = store(desktop)
    try await store.save(record("a"))
    try await keePassXC.closeDatabase(desktop)
    try await callsFail(of: store, keePassXC, with: "open the database")
    try await keePassXC.reopenDatabase(desktop)
    #expect(try await store.load("a") == record("a"))
    await keePassXC.stop()
    await desktop.stop()
  }

  /// The app does not need the password of a database that it does not use.
  @Test func `an account in an unlocked database is used without a prompt for one in front`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop)
    let store = store(desktop)
    try await store.save(record("a"))
    try await keePassXC.openAnotherDatabase(desktop, unlocked: false)
    #expect(try await store.load("a") == record("a"))
    #expect(try await store.list() == ["a"])
    let next = record("a", token: SQToken(accessToken: "next"))
    try await store.reserve("a", replacing: record("a")).release()
    try await store.save(next)
    #expect(try await store.load("a") == next)
    try await keePassXC.hasNoQuestion()
    #expect(keePassXC.refusals == 0)
    await keePassXC.stop()
    await desktop.stop()
  }

  /// Makes each call once, and expects an error with advice, and one prompt, of each.
  private func callsFail(
    of store: SecretServiceTokenStore, _ keePassXC: KeePassXC, with advice: String = "locked"
  ) async throws {
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await store.load("a") },
      { _ = try await store.list() },
      { try await store.erase("a") },
      { try await store.save(record("a")) },
      { _ = try await store.reserve("a", replacing: record("a")) },
      { _ = try await store.reserve("b", replacing: nil) },
    ]
    for (number, call) in calls.enumerated() {
      let error = await failure(.storeFailed) { try await call() }
      #expect(error?.message.contains(advice) == true)
      // Each call causes one prompt.
      try await keePassXC.isRefused(number + 1)
    }
  }

  @Test(arguments: [KeePassXC.Start.lockedDatabase, .noDatabase])
  func `without a display, accounts are stored in a file if KeePassXC would have to prompt`(
    start: KeePassXC.Start
  ) async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop, start)
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: false)
    #expect(try await store.load("a") == nil)
    try await store.reserve("a", replacing: nil).release()
    try await store.save(record("a"))
    #expect(try await store.place == .encryptedFile(path: folder.file("tokens.sealed")))
    #expect(try await store.load("a") == record("a"))
    try await keePassXC.hasNoQuestion()
    #expect(keePassXC.questions == 0 && keePassXC.refusals == 0, "no call shows a prompt")
    await keePassXC.stop()
    await desktop.stop()
  }

  @Test func `with a display, a locked KeePassXC is chosen for the accounts`() async throws {
    let desktop = try await PrivateDesktop()
    let keePassXC = try await KeePassXC(on: desktop, .lockedDatabase)
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: desktop.address, hasDisplay: true)
    #expect(try await store.place == .keyring)
    try await keePassXC.hasNoQuestion()
    #expect(keePassXC.refusals == 0, "the choice of the place shows no prompt")
    let error = await failure(.storeFailed) { try await store.reserve("a", replacing: nil) }
    #expect(error?.message.contains("locked") == true)
    await keePassXC.stop()
    await desktop.stop()
  }
}
