import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Sessions of one process that share a store take turns with the account.
@Suite("A session and its lease", .timeLimit(.minutes(1))) struct LeaseTests {
  let folder: TemporaryFolder
  let store: FileTokenStore
  let fixture: SessionFixture

  init() async throws {
    folder = try TemporaryFolder()
    store = FileTokenStore(path: folder.file("tokens.json"))
    fixture = try SessionFixture()
    fixture.oauth.environment.tokenStore = store
    try await store.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    try await fixture.module.restore()
  }

  /// Returns another session of the account, like that of another process.
  func another() async throws -> AuthorizationModule {
    var environment = fixture.oauth.environment
    environment.tokenStore = FileTokenStore(path: store.path)
    let module = AuthorizationModule(
      configuration: try fixture.module.context.configuration.get(), environment: environment)
    try await module.restore()
    return module
  }

  func content() async throws -> String? {
    try await store.load("default").map { ScriptedStore.words($0.token) }
  }

  /// Returns the lease once no session holds it.
  func lease() async throws -> AccountLease {
    try await TestSupport.eventually("the account is free") { try await store.lease("default") }
  }

  @Test func `many sessions share one refresh`() async throws {
    let modules = try await [fixture.module, another(), another(), another()]
    for round in 1...10 {
      fixture.clock.advance(by: 3600)
      let tokens = try await withThrowingTaskGroup(of: SQToken.self) { group in
        for module in modules {
          for _ in 0..<25 { group.addTask { try await module.token() } }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(tokens.count == 1 && fixture.refreshes.count == round)
    }
    #expect(try await content() == "T11 R11")
    try await lease().release()
  }

  @Test func `a refresh waits for the lease, and then uses a token that was stored meanwhile`()
    async throws
  {
    let other = try await lease()
    let module = fixture.module
    let caller = begin { try await module.refresh() }
    try await store.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    other.release()
    #expect(try await caller.value.accessToken == "T2")
    #expect(fixture.requests.isEmpty)
    #expect(await fixture.observer.words(1) == ["taken over T2"])
  }

  @Test func `the wait for another session's lease has a limit`() async throws {
    let other = try await lease()
    let module = fixture.module
    let caller = begin { try await module.refresh() }
    // A change of the date does not end the wait.
    fixture.clock.moveDate(by: 1000)
    fixture.clock.moveDate(by: -2000)
    fixture.clock.advance(by: 121)
    let error = await failure(.accountInUse) { try await caller.value }
    #expect(error?.requiresSignIn == false && error?.message.contains("default") == true)
    #expect(fixture.memory == "T1 R1" && fixture.requests.isEmpty)
    #expect(await fixture.observer.words(1) == ["failed account_in_use"])
    other.release()
    fixture.clock.advance(by: 1)
    #expect(try await module.refresh().accessToken == "T2")
  }

  /// The refresh would wait two minutes for the lease, and the clock of the test stands still.
  @Test func `a flush does not wait for a refresh that only waits for another process`()
    async throws
  {
    let other = try await lease()
    let module = fixture.module
    let caller = begin { try await module.refresh() }
    try await module.flush()
    await failure(.accountInUse) { try await caller.value }
    #expect(fixture.memory == "T1 R1" && fixture.requests.isEmpty)
    other.release()
    fixture.clock.advance(by: 2)
    #expect(try await module.refresh().accessToken == "T2")
  }

  @Test func `a flush waits until a sign-out is stored, even if another process holds the lease`()
    async throws
  {
    let other = try await lease()
    fixture.oauth.userDidSignOut()
    let module = fixture.module
    let flushing = begin { try await module.flush() }
    #expect(try await content() == "T1 R1")
    other.release()
    try await flushing.value
    #expect(try await content() == nil)
  }

  /// A service flushes its manager when the service is stopped.
  @Test
  func `a manager's flush stores a running refresh's token and turns automatic refreshes off`()
    async throws
  {
    let manager = AccountManager(store: store, environment: fixture.oauth.environment)
    let account = try await manager.account(
      fixture.module.context.configuration.get(), id: "default")
    account.refreshesAutomatically = true
    fixture.server.gate.close()
    let caller = begin { try await account.refresh() }
    try await fixture.server.gate.isHolding()
    let flushing = begin { try await manager.flush() }
    fixture.server.gate.open()
    try await flushing.value
    #expect(try await content() == "T2 R2" && !account.refreshesAutomatically)
    _ = try await caller.value
  }

  @Test func `an AccountKeeper that is stopped while it waits for a lease sends no request`()
    async throws
  {
    let other = try await lease()
    fixture.clock.advance(by: 3600)
    let manager = AccountManager(store: store, environment: fixture.oauth.environment)
    let configuration = try fixture.module.context.configuration.get()
    let keeper = manager.keepFresh { _ in configuration }
    try await TestSupport.eventually("the keeper waits for the account") {
      keeper.isRenewing
    }
    await keeper.stop()
    other.release()
    try await TestSupport.eventually("the renewal ends") { !keeper.isRenewing }
    try await lease().release()
    #expect(fixture.requests.isEmpty && keeper.totals == AccountKeeper.Totals())
  }

  @Test func `a sign-out ends this session at once, even if another session holds the lease`()
    async throws
  {
    let other = try await lease()
    fixture.oauth.userDidSignOut()
    #expect(fixture.memory == nil)
    #expect(try await content() == "T1 R1")
    // The other session stores a refreshed token after the sign-out. The account must still be
    // erased.
    try await store.save(fixture.record(fixture.server.issue(at: fixture.clock.now)))
    other.release()
    try await fixture.module.flush()
    #expect(try await content() == nil)
  }

  @Test func `a sign-out is written to the store even if another session never releases the lease`()
    async throws
  {
    let other = try await lease()
    fixture.oauth.userDidSignOut()
    let clock = fixture.clock
    try await TestSupport.eventually("the account is erased") {
      clock.advance(by: 121)
      return try await content() == nil
    }
    other.release()
  }

  @Test func `a sign-out does not wait for the refresh that it ends`() async throws {
    let module = fixture.module
    fixture.server.gate.close()
    let caller = begin { try await module.refresh() }
    try await fixture.server.gate.isHolding()
    #expect(try await store.lease("default") == nil, "the refresh holds the lease")
    try await fixture.oauth.signOut()
    #expect(try await content() == nil)
    await failure(.notAuthorized) { try await caller.value }
    fixture.server.gate.open()
    try await lease().release()
    #expect(try await content() == nil && fixture.memory == nil)
  }

  @Test
  func `if a sign-out ends a refresh that waits for the lease, the lease is free afterwards`()
    async throws
  {
    let other = try await lease()
    let module = fixture.module
    let caller = begin { try await module.refresh() }
    fixture.oauth.userDidSignOut()
    await failure(.notAuthorized) { try await caller.value }
    other.release()
    try await module.flush()
    try await lease().release()
    #expect(try await content() == nil && fixture.requests.isEmpty)
  }

  @Test func `a running revocation prevents refreshes by other sessions`() async throws {
    let second = try await another()
    let module = fixture.module
    let arrived = Gate(isOpen: false)
    let goOn = Gate(isOpen: false)
    let ending = begin {
      try await module.session.end(.revoked) { _ in
        arrived.open()
        await goOn.pass()
      }
    }
    await arrived.pass()
    let caller = begin { try await second.refresh() }
    #expect(fixture.requests.isEmpty)
    goOn.open()
    try await ending.value
    await failure(.notAuthorized) { try await caller.value }
    #expect(fixture.requests.isEmpty)
    #expect(try await content() == nil && second.currentToken == nil)
  }

  @Test func `while the lock file cannot be created, no refresh is sent`() async throws {
    let locks = URL(filePath: store.path + ".locks")
    // A file replaces the folder of the locks, which may already exist.
    try? FileManager.default.removeItem(at: locks)
    try Data().write(to: locks)
    let module = fixture.module
    let error = await failure(.storeFailed) { try await module.refresh() }
    #expect(error?.message.contains(locks.path) == true && error?.requiresSignIn == false)
    #expect(fixture.requests.isEmpty && fixture.memory == "T1 R1")
    #expect(try await module.token().accessToken == "T1", "it serves until it expires")
    try FileManager.default.removeItem(at: locks)
    fixture.clock.advance(by: 1)
    #expect(try await module.refresh().accessToken == "T2")
    #expect(try await content() == "T2 R2")
  }

  @Test
  func `the accountInUse error and the leaseWait event identify the process that holds the lease`()
    async throws
  {
    let other = try await lease()
    let module = fixture.module
    let holders = Locked<[String?]>([])
    let observer = ClientObserver { event in
      guard case .leaseWait(let holder) = event.subject else { return }
      holders.withLock { $0.append(holder) }
    }
    module.environment.observer = observer
    let caller = begin { try await module.refresh() }
    fixture.clock.advance(by: 121)
    let error = await failure(.accountInUse) { try await caller.value }
    #expect(error?.message.contains("process \(getpid()) (") == true, "\(error?.message ?? "")")
    await observer.flush()
    let holder = holders.withLock { $0.first ?? nil }
    #expect(holder?.hasPrefix("process \(getpid()) (") == true)
    #expect(holder?.contains("/") == false, "the event contains no path")
    #expect(error?.message.contains(store.path + ".locks/") == true)
    other.release()
  }
}
