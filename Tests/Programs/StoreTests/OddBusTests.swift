import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring stores if the bus address does not lead to a working D-Bus session bus.
@Suite(.timeLimit(.minutes(2)), .requires(.keyring)) struct OddBusTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func store(
    _ bus: OddBus, limit: Duration = .seconds(60)
  ) -> SecretServiceTokenStore {
    SecretServiceTokenStore(
      service: "app", folder: folder.path, bus: bus.address, limit: limit)
  }

  @Test(arguments: OddBus.Habit.allCases)
  func `a peer that is not a D-Bus session causes an error about the session`(habit: OddBus.Habit)
    async throws
  {
    let bus = try OddBus(habit, in: folder)
    let isSilent = [.silent, .silentAfterHandshake].contains(habit)
    let error = await failure(.storeFailed) {
      try await store(bus, limit: isSilent ? .milliseconds(500) : .seconds(60)).load("a")
    }
    let reason = isSilent ? "the D-Bus session did not answer within 1 s" : "no D-Bus session ("
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    bus.stop()
  }

  @Test(arguments: [.silent, .silentAfterHandshake] as [OddBus.Habit])
  func `a call to a silent bus fails after ten seconds, before the limit of a prompt`(
    habit: OddBus.Habit
  ) async throws {
    let bus = try OddBus(habit, in: folder)
    let error = await failure(.storeFailed) { try await store(bus, limit: .seconds(20)).list() }
    #expect(error?.message.contains("did not answer within 10 s") == true)
    bus.stop()
  }

  @Test(arguments: OddBus.Habit.allCases)
  func `without a display and without a working bus, accounts are stored in the encrypted file`(
    habit: OddBus.Habit
  ) async throws {
    let bus = try OddBus(habit, in: folder)
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: bus.address, hasDisplay: false,
      limit: .milliseconds(500))
    #expect(try await store.place == .encryptedFile(path: folder.file("tokens.sealed")))
    bus.stop()
  }

  @Test(arguments: [true, false])
  func `a test's peer closes its sockets, also if it is released without a stop`(stops: Bool)
    async throws
  {
    do {
      let bus = try OddBus(.silentAfterHandshake, in: folder)
      await failure(.storeFailed) { try await store(bus, limit: .milliseconds(500)).load("a") }
      try await eventually("the peer accepts the connection") { bus.count > 0 }
      #expect(try hasOpenSocket())
      if stops { bus.stop() }
    }
    try await eventually("the sockets are closed") { try !hasOpenSocket() }
  }

  /// Returns whether this process has an open socket of the bus: the bound one, or an accepted one.
  private func hasOpenSocket() throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { name in
      guard let descriptor = Int32(name) else { return false }
      var address = sockaddr_un()
      var size = socklen_t(MemoryLayout<sockaddr_un>.size)
      return withUnsafeMutablePointer(to: &address) { address in
        let status = address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          getsockname(descriptor, $0, &size)
        }
        guard status == 0, address.pointee.sun_family == sa_family_t(AF_UNIX) else { return false }
        return withUnsafeBytes(of: &address.pointee.sun_path) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) == folder.file("bus")
        }
      }
    }
  }

  private typealias Call = @Sendable (any TokenStore) async throws -> Void

  private static let calls: [Call] = [
    { _ = try await $0.load("a") }, { _ = try await $0.list() }, { _ = try await $0.all() },
    { _ = try await $0.page(after: nil, limit: 1) }, { try await $0.erase("a") },
    { _ = try await $0.reservation("a", replacing: nil) },
    { _ = try await $0.reservation("a", replacing: record("a")) },
  ]

  @Test(arguments: [.silent, .silentAfterHandshake] as [OddBus.Habit])
  func `a cancelled call to a silent bus ends at once`(habit: OddBus.Habit) async throws {
    let bus = try OddBus(habit, in: folder)
    let desktop = DesktopTokenStore(
      service: "app", folder: folder.path, bus: bus.address, hasDisplay: true)
    for store in [store(bus), desktop] as [any TokenStore] {
      for call in Self.calls {
        let before = bus.count
        let calling = Task { await failure(.cancelled) { try await call(store) } }
        try await eventually("the store connects") { bus.count > before }
        calling.cancel()
        #expect(await calling.value?.message.contains("cancelled") == true)
      }
    }
    let asking = Task { await SecretServiceTokenStore.isAvailable(bus: bus.address) }
    asking.cancel()
    #expect(await !asking.value)
    bus.stop()
  }
}
