import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// Many clients of one resource that start at once, in one program and in several.
@Suite(.timeLimit(.minutes(2))) struct CrowdTests {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.change { $0.issuesRefreshTokens = true }
  }

  /// Sends a request with each client while the user's browser waits, and expects one sign-in.
  private func startAtOnce(_ clients: [ResourceClient]) async throws {
    party.browser.gate.close()
    let tasks = try clients.map { client in
      let request = try party.request()
      return begin { try await client.send(request).status }
    }
    try await party.browser.gate.isHolding()
    party.browser.gate.open()
    for task in tasks { #expect(try await task.value == 200) }
    #expect(party.authorized.count == 1)
    party.expectNoFaults()
  }

  @Test func `eight requests of one client that start at once sign in once`() async throws {
    try await startAtOnce(Array(repeating: party.client(), count: 8))
    #expect(party.registered.count == 1)
  }

  /// The clients of one manager share its account, so the user is asked once.
  @Test func `eight clients of one account manager that start at once sign in once`() async throws {
    let clients = try (0..<8).map { _ in try party.client() }
    try await startAtOnce(clients)
    #expect(try await party.store.all().count == 1 && party.registered.count == 1)
    for client in clients { try await party.works(client) }
  }

  /// The first program holds the account's lease while its user signs in.
  ///
  /// Each program may register a client, and all programs use the first stored client.
  @Test func `eight programs with one store that start at once sign in once`() async throws {
    let folder = try TemporaryFolder()
    let stores = (0..<8).map { _ in FileTokenStore(path: folder.file("tokens")) }
    let clients = try stores.map {
      try party.client(manager: Party.manager($0, party.browser))
    }
    try await startAtOnce(clients)
    #expect(try await stores[0].list().count == 1)
    for client in clients { try await party.works(client) }
    #expect(party.redeemed.count == 1)
  }

  /// Returns the clients of two programs with one store, their clock, and the event that one of them
  /// waits for the other.
  private func programs(
    _ folder: TemporaryFolder
  ) throws -> ([ResourceClient], ManualClock, OneShot<Void>) {
    let clock = ManualClock()
    var environment = ClientEnvironment()
    environment.userAgent = party.browser
    environment.clock = clock
    let isWaiting = OneShot<Void>()
    environment.observer = ClientObserver { event in
      if case .leaseWait = event.subject { isWaiting.resolve(()) }
    }
    let clients = try (0..<2).map { _ in
      try party.client(
        manager: AccountManager(
          store: FileTokenStore(path: folder.file("tokens")), environment: environment))
    }
    return (clients, clock, isWaiting)
  }

  /// If each waiting program asked again, a user who says no would see one sign-in per program.
  @Test func `a program that waited for another program's failed sign-in does not open a browser`()
    async throws
  {
    let folder = try TemporaryFolder()
    let (clients, clock, isWaiting) = try programs(folder)
    party.browser.refuse()
    party.browser.gate.close()
    let request = try party.request()
    let first = begin { try await clients[0].send(request) }
    try await party.browser.gate.isHolding()
    let second = begin { try await clients[1].send(request) }
    _ = await isWaiting.wait()
    clock.advance(by: 2)
    party.browser.gate.open()
    await failure(.cancelled) { try await first.value }
    let error = await failure(.notAuthorized) { try await second.value }
    #expect(error?.message.contains("brought no token") == true)
    #expect(party.browser.opened.count == 1)
    party.browser.refuse(false)
    try await party.works(clients[1])
  }

  @Test func `a program's own sign-in is done if it waited for another program's sign-in`()
    async throws
  {
    let folder = try TemporaryFolder()
    let (clients, clock, isWaiting) = try programs(folder)
    party.browser.gate.close()
    let request = try party.request()
    let first = begin { try await clients[0].send(request).status }
    try await party.browser.gate.isHolding()
    let second = begin { try await clients[1].signIn() }
    _ = await isWaiting.wait()
    clock.advance(by: 2)
    party.browser.gate.open()
    #expect(try await first.value == 200)
    #expect(try await second.value.currentToken != nil)
    #expect(party.browser.opened.count == 1)
  }

  /// Like clients in different processes, the two clients share nothing but the stores.
  ///
  /// Three ports are registered, so each process signs in with its own port, even if another
  /// program uses one of the three.
  @Test func `clients with separate account managers and the same stores use one registration`()
    async throws
  {
    let clients = try (0..<2).map { _ in
      try party.client(manager: Party.manager(party.store, party.browser))
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for client in clients {
        let request = try party.request()
        group.addTask { try await client.send(request).status }
      }
      for try await status in group { #expect(status == 200) }
    }
    let ids = Set(party.authorized.compactMap { $0.value("client_id") })
    #expect(ids.count == 1, "\(ids)")
    let kept = try #require(party.registrations.registration(at: party.first.issuer))
    #expect(ids == [kept.clientID])
    for client in clients { try await party.works(client) }
    party.expectNoFaults()
  }

  /// The other program's user may be another one, so only a later request gets the new token.
  @Test(arguments: [true, false])
  func `after another program has replaced the client, the account works with the new client`(
    restarts: Bool
  ) async throws {
    let managers = (0..<2).map { _ in Party.manager(party.store, party.browser) }
    let clients = try managers.map { try party.client(manager: $0) }
    for client in clients { try await party.works(client) }
    party.first.forgetClients()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    try await party.works(clients[1])
    #expect(party.registered.count == 2 && party.authorized.count == 2)
    if restarts {
      try await party.works(party.client(manager: managers[0]))
    } else {
      await failure(.sessionReplaced) { try await clients[0].send(party.request()) }
    }
    try await party.works(clients[0])
    try await #require(clients[0].account()).refresh()
    try await party.works(clients[0])
    #expect(party.registered.count == 2 && party.authorized.count == 2)
  }

  /// Otherwise the server would keep a registered client whose identifier the program has lost.
  @Test func `a registration under way is stored even if its caller is cancelled`() async throws {
    let gate = Gate(isOpen: false)
    party.first.change {
      $0.replies["/register"] = { _ in
        await gate.pass()
        return nil
      }
    }
    let client = try party.client()
    let caller = begin { try await client.signIn() }
    try await gate.isHolding()
    caller.cancel()
    await failure(.cancelled) { try await caller.value }
    gate.open()
    try await eventually("the registration is stored") {
      party.registrations.registration(at: party.first.issuer) != nil
    }
    try await party.works(client)
    #expect(party.registered.count == 1)
  }

  @Test func `a sign-in continues for another caller if one caller is cancelled`() async throws {
    party.browser.gate.close()
    let client = try party.client()
    let request = try party.request()
    let patient = begin { try await client.send(request).status }
    try await party.browser.gate.isHolding()
    let hasty = begin { try await client.signIn() }
    hasty.cancel()
    await failure(.cancelled) { try await hasty.value }
    party.browser.gate.open()
    #expect(try await patient.value == 200)
    #expect(party.authorized.count == 1)
  }
}
