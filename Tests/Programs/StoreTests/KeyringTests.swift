import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import SequencingOAuthSecretService

/// The behaviour that only the keyring store has, on a real GNOME Keyring.
@Suite(.timeLimit(.minutes(2)), .requires(.keyring)) struct KeyringTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(
    _ desktop: PrivateDesktop, service: String = "app", limit: Duration = .seconds(60),
    retryTime: Duration? = nil, whenWaiting: (@Sendable () -> Void)? = nil
  ) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: service, folder: folder.path, bus: desktop.address, limit: limit,
      retryTime: retryTime, whenWaiting: whenWaiting)
  }

  @Test func `without a D-Bus session, every call fails with an error that says so`() async throws {
    let store = SecretServiceTokenStore(service: "app", folder: folder.path, bus: noBus)
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.save(record("a")) },
      await failure(.storeFailed) { try await store.list() },
      await failure(.storeFailed) { try await store.erase("a") },
    ] {
      #expect(error?.message.contains("D-Bus session") == true)
      #expect(error.map { "\($0)" }?.contains(Records.full.accessToken) == false)
    }
    #expect(await !SecretServiceTokenStore.isAvailable(bus: noBus))
  }

  @Test func `a D-Bus session without a keyring and a missing session cause different errors`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let error = await failure(.storeFailed) { try await store(desktop).list() }
    #expect(error?.message.contains("no program on the D-Bus session") == true)
    #expect(await !SecretServiceTokenStore.isAvailable(bus: desktop.address))
    try await desktop.startKeyring()
    #expect(await SecretServiceTokenStore.isAvailable(bus: desktop.address))
    #expect(try await store(desktop).list() == [])
    await desktop.stop()
  }

  @Test func `records and stores survive a crash of the keyring`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("a"))
    let newer = record("a", token: SQToken(accessToken: "newer"))
    try await store.save(newer)
    try await desktop.killKeyring()
    await failure(.storeFailed) { try await store.load("a") }
    try await desktop.startKeyring()
    #expect(try await store.load("a") == newer)
    await desktop.stop()
  }

  /// The keyring knows little about locked items, so they could appear to be missing.
  @Test func `a locked keyring is an error, never an empty store`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("a"))
    try await desktop.killKeyring()
    try await desktop.startKeyring(unlocked: false)
    #expect(await SecretServiceTokenStore.isAvailable(bus: desktop.address))
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.list() },
      await failure(.storeFailed) { try await store.all() },
      await failure(.storeFailed) { try await store.save(record("a")) },
      await failure(.storeFailed) { try await store.save(record("b")) },
      await failure(.storeFailed) { try await store.erase("a") },
      // Because the reservation fails, no refresh token is used up, and no user signs in for
      // nothing.
      await failure(.storeFailed) { try await store.reserve("a", replacing: record("a")) },
      await failure(.storeFailed) { try await store.reserve("b", replacing: nil) },
    ] { #expect(error?.message.contains("locked") == true) }
    try await desktop.killKeyring()
    try await desktop.startKeyring()
    #expect(try await store.all() == [record("a")])
    await desktop.stop()
  }

  @Test func `a save to a keyring without a collection is an error`() async throws {
    let desktop = try await PrivateDesktop()
    try await desktop.startKeyring(unlocked: false)
    let store = store(desktop)
    #expect(try await store.list() == [])
    for error in [
      await failure(.storeFailed) { try await store.save(record("a")) },
      // A failed reservation means that no user signs in for a token that could not be saved.
      await failure(.storeFailed) { try await store.reserve("a", replacing: nil) },
    ] { #expect(error?.message.contains("collection") == true) }
    await desktop.stop()
  }

  @Test func `a call to a hanging keyring fails at the time limit`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop, limit: .seconds(3))
    try await desktop.freezeKeyring()
    let error = await failure(.storeFailed) { try await store.save(record("a")) }
    #expect(error?.message.contains("did not answer within") == true)
    desktop.thawKeyring()
    try await eventually("a save succeeds again") { (try? await store.save(record("b"))) != nil }
    await desktop.stop()
  }

  /// GLib's sockets make a process ignore the signal, and the programs that it starts inherit that.
  @Test func `the keyring's libraries leave SIGPIPE as it was`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    // The probe calls the keyring before it takes the lease.
    let probe = try ChildProcess(
      [StoreProbe.executable, "keyring:\(folder.path)@\(desktop.address)", "lease", "a"],
      input: .open)
    _ = try await probe.line(after: "leased")
    let status = try String(contentsOfFile: "/proc/\(probe.processID)/status", encoding: .utf8)
    let ignored = try #require(status.firstMatch(of: /SigIgn:\t([0-9a-f]+)/)?.1)
    #expect(try #require(UInt64(ignored, radix: 16)) & 1 << (SIGPIPE - 1) == 0, "\(ignored)")
    await probe.stop()
    await desktop.stop()
  }

  /// When a time limit ends a call, both the limit and the call close the connection.
  @Test func `closing a closed D-Bus connection again does not wait for its closing signal`()
    async throws
  {
    let desktop = try await PrivateDesktop()
    let limit = KeyringLimit(.seconds(60), try KeyringLibrary.load(nil))
    let connection = try KeyringConnection(bus: desktop.address, limit: limit)
    connection.close()
    // The signal does not come again. If each call waited a second for it, the test would exceed
    // its time limit.
    for _ in 0..<200 { connection.close() }
    await desktop.stop()
  }

  @Test func `a keyring that dies during saves leaves complete records`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    let records = (0..<2000).map { record("a", token: SQToken(accessToken: "\($0)")) }
    try await store.save(records[0])
    let saves = Task { () async -> (last: Int, error: SQOAuthError?) in
      for index in records.indices.dropFirst() {
        do throws(SQOAuthError) {
          try await store.save(records[index])
        } catch {
          return (index - 1, error)
        }
      }
      return (records.count - 1, nil)
    }
    try await eventually("the second save is done") { try await store.load("a") != records[0] }
    try await desktop.killKeyring()
    let (last, error) = await saves.value
    try #require(error?.code == .storeFailed)
    try await desktop.startKeyring()
    let loaded = try #require(try await store.load("a"))
    // The last saved record is there, or else the record whose save failed.
    #expect([records[last], records[last + 1]].contains(loaded))
    await desktop.stop()
  }

  /// What happens to the keyring while the server answers.
  enum Trouble: CaseIterable { case killed, locked, withoutBus }

  /// When the keyring becomes unavailable, the server has already replaced the refresh token.
  @Test(arguments: Trouble.allCases)
  func `the save of a new token waits until an unavailable keyring is back`(
    trouble: Trouble
  ) async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let (waits, hasFailed) = AsyncStream.makeStream(of: Void.self)
    let store = store(desktop) { hasFailed.yield() }
    try await store.save(record("a"))
    let newer = record("a", token: SQToken(accessToken: "newer"))
    let reservation = try await store.reserve("a", replacing: record("a"))
    switch trouble {
    case .killed: try await desktop.killKeyring()
    case .locked:
      try await desktop.killKeyring()
      try await desktop.startKeyring(unlocked: false)
    case .withoutBus: try await desktop.killBus()
    }
    let saving = Task { try await store.save(newer) }
    _ = await waits.first { _ in true }
    switch trouble {
    case .killed: break
    case .locked: try await desktop.killKeyring()
    case .withoutBus: try await desktop.restartBus()
    }
    try await desktop.startKeyring()
    try await saving.value
    reservation.release()
    #expect(try await store.load("a") == newer)
    await desktop.stop()
  }

  @Test func `the save of a new token waits only a limited time for the keyring`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop, retryTime: .milliseconds(500))
    try await store.save(record("a"))
    let reservation = try await store.reserve("a", replacing: record("a"))
    try await desktop.killKeyring()
    await failure(.storeFailed) { try await store.save(record("a")) }
    reservation.release()
    await desktop.stop()
  }

  @Test func `a store works again after a restart of the D-Bus session and the keyring`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("a"))
    try await desktop.killKeyring()
    try await desktop.startKeyring()
    #expect(try await store.load("a") == record("a"))
    try await desktop.killBus()
    try await desktop.restartBus()
    try await desktop.startKeyring()
    #expect(try await store.load("a") == record("a"))
    await desktop.stop()
  }

  @Test func `the end of the D-Bus session does not end the program`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let store = store(desktop)
    try await store.save(record("a"))
    try await desktop.killBus()
    let error = await failure(.storeFailed) { try await store.load("a") }
    #expect(error?.message.contains("D-Bus session") == true)
  }

  @Test func `many calls do not accumulate open descriptors`() async throws {
    let desktop = try await PrivateDesktop(keyring: true)
    let probe = try ChildProcess(
      [StoreProbe.executable, "keyring:\(folder.path)@\(desktop.address)", "count", "a", "100"])
    var most = 0
    try await eventually("the probe ends") {
      let process = "/proc/\(probe.processID)"
      // Before it runs the probe, the child has this process's descriptors. The system closes them
      // after it has changed `exe`, and before it changes the name in `comm`.
      let name = try? String(contentsOfFile: process + "/comm", encoding: .utf8)
      if name == "store-probe\n" { most = max(most, Self.openFiles(of: process)) }
      return !probe.isRunning
    }
    #expect(try await probe.result().output == "counted\n")
    // Each of two hundred calls opens a connection, which GLib closes a little later. A Swift
    // program has about a dozen descriptors itself.
    #expect((5..<150).contains(most), "\(most) descriptors")
    await desktop.stop()
  }

  /// Returns the number of a process's descriptors, without those of removed lock files.
  ///
  /// The SDK keeps up to 128 removed lock files open for a moment, or longer on a slow machine.
  private static func openFiles(of process: String) -> Int {
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: process + "/fd")) ?? []
    return names.count { name in
      let target = try? files.destinationOfSymbolicLink(atPath: "\(process)/fd/\(name)")
      return target?.hasSuffix(".lock (deleted)") != true
    }
  }

  @Test func `the D-Bus address and the state folder of the environment variables are used`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    let probe = { (command: [String], changes: [String: String?]) in
      try await ChildProcess.run(
        [StoreProbe.executable, "keyring-of:app"] + command,
        environment: desktop.environment.merging(changes) { $1 },
        input: try StoreProbe.input([record("a")]))
    }
    let saved = try await probe(["save"], [:])
    #expect(saved.output == "saved\n", "\(saved.errors)")
    #expect(try await store(desktop).load("a") == record("a"))
    #expect(try await probe(["lease", "a"], [:]).output == "leased\nreleased\n")
    let folder = try #require(desktop.environment["XDG_STATE_HOME"] ?? nil)
    #expect(FileManager.default.fileExists(atPath: folder + "/app/locks"))
    let bare = try await probe(["list"], ["DBUS_SESSION_BUS_ADDRESS": nil])
    #expect(bare.code == .storeFailed && bare.errors.contains("D-Bus session"), "\(bare)")
    await desktop.stop()
  }
}
