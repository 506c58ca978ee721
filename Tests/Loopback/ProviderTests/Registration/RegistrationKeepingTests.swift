import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Registrations in a store that several hosts share.
@Suite(.timeLimit(.minutes(2))) struct RegistrationKeepingTests {
  private let sandbox: SandboxServer
  private let registrar: ClientRegistrar
  private let store = MemoryRegistrationStore()
  private let app = ClientMetadata(
    redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/callback"],
    clientName: "An app")

  init() async throws {
    sandbox = try await SandboxServer.start()
    registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
  }

  private func methods() -> [String] {
    sandbox.requests.filter { [.registration, .clientConfiguration].contains($0.endpoint) }
      .map(\.method)
  }

  private func kept() -> ClientRegistration? {
    store.registration(at: sandbox.issuer.absoluteString)
  }

  // MARK: One client

  @Test func `a client registers only once`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    #expect(try await registrar.registration(of: app, in: store) == first)
    #expect(methods() == ["POST"])
    store.eraseRegistration(at: sandbox.issuer.absoluteString)
    #expect(try await registrar.registration(of: app, in: store) != first)
  }

  /// Programs that share a client ask for different scopes.
  @Test func `adding a scope updates the registered client and keeps its other scopes`()
    async throws
  {
    var mail = app
    mail.scope = "profile"
    let first = try await registrar.registration(of: mail, in: store)
    mail.scope = "demo"
    let second = try await registrar.registration(of: mail, in: store)
    #expect(second.clientID == first.clientID)
    #expect(second.scope.map { Set($0.split(separator: " ")) } == ["profile", "demo"])
    mail.scope = "profile"
    #expect(try await registrar.registration(of: mail, in: store) == second)
    mail.scope = nil
    #expect(try await registrar.registration(of: mail, in: store) == second)
    #expect(methods() == ["POST", "PUT"])
  }

  @Test func `adding a grant type updates the registered client`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    var device = app
    device.grantTypes.append(DeviceAuthorization.grantType)
    let second = try await registrar.registration(of: device, in: store)
    #expect(second.clientID == first.clientID && second.allows(DeviceAuthorization.grantType))
    #expect(try await registrar.registration(of: app, in: store) == second)
    #expect(methods() == ["POST", "PUT"])
  }

  /// The client must not ask for the grant again at each start.
  @Test func `a grant type that the server does not allow is requested only once`() async throws {
    var device = app
    device.grantTypes.append(DeviceAuthorization.grantType)
    sandbox.misbehave(
      at: .registration, .member("grant_types", ["authorization_code"]), times: nil)
    let first = try await registrar.registration(of: device, in: store)
    #expect(!first.allows(DeviceAuthorization.grantType))
    #expect(try await registrar.registration(of: device, in: store) == first)
    #expect(methods() == ["POST"])
  }

  @Test
  func `with the option verifies, a client that the server no longer accepts registers again`()
    async throws
  {
    var options = RegistrationOptions()
    options.verifies = true
    let first = try await registrar.registration(of: app, in: store, options)
    let known = try await registrar.registration(of: app, in: store, options)
    #expect(known.clientID == first.clientID && methods() == ["POST", "GET"])
    sandbox.forgetClient(first.clientID)
    let second = try await registrar.registration(of: app, in: store, options)
    #expect(second.clientID != first.clientID && kept() == second)
  }

  /// A server that does not let a client read its record still knows the client (RFC 7592, section
  /// 2.1).
  @Test(arguments: [400, 403, 404, 405, 429, 500, 501])
  func `a client is kept if the server does not return its registration`(status: Int) async throws {
    var options = RegistrationOptions()
    options.verifies = true
    let first = try await registrar.registration(of: app, in: store, options)
    sandbox.misbehave(at: .clientConfiguration, .status(status), times: nil)
    let second = try await registrar.registration(of: app, in: store, options)
    #expect(second == first && kept() == first && methods() == ["POST", "GET"])
  }

  /// A new client would make the accounts of the old one unusable.
  @Test(arguments: [400, 403, 404, 405, 500])
  func `a client is kept without a new scope if the update fails`(status: Int) async throws {
    var options = RegistrationOptions()
    (options.verifies, options.keepsScopes) = (true, true)
    var narrow = app
    narrow.scope = "profile"
    let first = try await registrar.registration(of: narrow, in: store, options)
    sandbox.misbehave(at: .clientConfiguration, .status(status), times: nil)
    var wide = app
    wide.scope = "demo"
    let second = try await registrar.registration(of: wide, in: store, options)
    #expect(second == first && kept() == first && methods() == ["POST", "PUT"])
  }

  /// RFC 8252, section 7.3: the port of a loopback redirect does not count.
  @Test func `a server may register only some of the redirect URIs that differ in their ports`()
    async throws
  {
    let portless = "http://127.0.0.1/callback"
    var plain = app
    plain.redirectURIs = [portless]
    var options = RegistrationOptions()
    options.fixesPorts = true
    sandbox.misbehave(
      at: .registration, .member("redirect_uris", [.string(portless)]), times: nil)
    let first = try await registrar.registration(of: plain, in: store, options)
    #expect(first.redirectURIs == [portless])
    #expect(try await registrar.registration(of: plain, in: store, options) == first)
    #expect(methods() == ["POST"])
    // An app that names its own URIs needs all of them.
    store.eraseRegistration(at: sandbox.issuer.absoluteString)
    plain.redirectURIs.append("com.example.app:/callback")
    await failure(.registrationMismatch) {
      try await registrar.registration(of: plain, in: store)
    }
  }

  @Test func `a registration with only loopback ports that the client did not request is rejected`()
    async throws
  {
    var plain = app
    plain.redirectURIs = ["http://127.0.0.1/callback"]
    var options = RegistrationOptions()
    options.fixesPorts = true
    let others = ["http://127.0.0.1:25001/callback", "http://127.0.0.1:25002/callback"]
    sandbox.misbehave(
      at: .registration, .member("redirect_uris", .array(others.map(SandboxJSON.string))),
      times: nil)
    await failure(.registrationMismatch) {
      try await registrar.registration(of: plain, in: store, options)
    }
    #expect(kept() == nil)
  }

  /// Programs that fix their ports and programs that use any port share the client.
  @Test func `programs with fixed loopback ports and programs with any port share a registration`()
    async throws
  {
    var plain = app
    plain.redirectURIs = ["http://127.0.0.1/callback"]
    var options = RegistrationOptions()
    options.fixesPorts = true
    for fixesFirst in [true, false] {
      store.eraseRegistration(at: sandbox.issuer.absoluteString)
      options.fixesPorts = fixesFirst
      let first = try await registrar.registration(of: plain, in: store, options)
      options.fixesPorts = !fixesFirst
      let second = try await registrar.registration(of: plain, in: store, options)
      options.fixesPorts = fixesFirst
      let third = try await registrar.registration(of: plain, in: store, options)
      #expect(second.clientID == first.clientID && third == second)
      #expect(second.redirectURIs.first == plain.redirectURIs[0])
      #expect(second.redirectURIs.count == 4)
    }
  }

  /// An older version of the SDK stored any management address that the server named, such as an
  /// address in the client's network.
  @Test func `a stored management address on another server gets no request`() async throws {
    let other = try await SandboxServer.start()
    let first = try await registrar.registration(of: app, in: store)
    let json = String(decoding: try JSONEncoder().encode(first), as: UTF8.self)
    let (own, foreign) = (sandbox.issuer.port ?? 0, other.issuer.port ?? 0)
    // Only the management address has this path after the port, so the issuer stays unchanged.
    let path = "\\/register"
    try #require(json.contains(":\(own)\(path)"))
    let moved = json.replacingOccurrences(of: ":\(own)\(path)", with: ":\(foreign)\(path)")
    let kept = try JSONDecoder().decode(ClientRegistration.self, from: Data(moved.utf8))
    await failure(.registrationUnsupported) { try await registrar.read(kept) }
    await failure(.registrationUnsupported) { try await registrar.update(kept, to: app) }
    await failure(.registrationUnsupported) { try await registrar.delete(kept) }
    store.save(kept)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let found = try await registrar.registration(of: changed, in: store)
    #expect(found.clientID != first.clientID && found.redirectURIs == changed.redirectURIs)
    #expect(methods() == ["POST", "POST"])
    #expect(other.requests.isEmpty)
  }

  /// With different clients, the accounts of one host would fail on the other.
  @Test func `two hosts that register at the same time use one client and delete the other`()
    async throws
  {
    // No host gets an answer before both have found the store empty.
    sandbox.misbehave(
      at: .registration,
      .hold(until: { [sandbox] in
        _ = try? await sandbox.requests(to: .registration, atLeast: 2)
      }), times: 2)
    let other = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
    async let one = registrar.registration(of: app, in: store)
    async let two = other.registration(of: app, in: store)
    let (first, second) = try await (one, two)
    #expect(first == second && kept() == first)
    #expect(methods().sorted() == ["DELETE", "POST", "POST"])
    #expect(try await registrar.read(first).clientID == first.clientID)
  }

  /// Another host's update has replaced the management token.
  @Test func `after a management token is rejected, another host's newer registration is used`()
    async throws
  {
    let first = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let updated = try await registrar.update(first, to: changed)
    sandbox.misbehave(at: .clientConfiguration, .error("invalid_token", status: 401))
    let late = LateStore(registrations: store, loads: 4) { $0.save(updated) }
    let found = try await registrar.registration(of: changed, in: late)
    #expect(found.clientID == first.clientID && found == kept())
    #expect(methods() == ["POST", "PUT", "PUT"])
  }

  /// A store to which another host writes just before the load with the number `loads`.
  private final class LateStore: RegistrationStore {
    private let registrations: MemoryRegistrationStore
    private let loads: Locked<Int>
    private let write: @Sendable (MemoryRegistrationStore) -> Void

    init(
      registrations: MemoryRegistrationStore, loads: Int,
      write: @escaping @Sendable (MemoryRegistrationStore) -> Void
    ) {
      self.registrations = registrations
      self.loads = Locked(loads)
      self.write = write
    }

    func registration(at issuer: String) -> ClientRegistration? {
      let left = loads.withLock { loads in
        loads -= 1
        return loads
      }
      if left == 0 { write(registrations) }
      return registrations.registration(at: issuer)
    }

    func save(_ registration: ClientRegistration) { registrations.save(registration) }

    func save(
      _ registration: ClientRegistration, replacing earlier: ClientRegistration?
    ) -> ClientRegistration {
      registrations.save(registration, replacing: earlier)
    }

    func eraseRegistration(at issuer: String) { registrations.eraseRegistration(at: issuer) }
  }

  @Test func `simultaneous calls in one process make one registration`() async throws {
    let all = try await withThrowingTaskGroup(of: ClientRegistration.self) { group in
      for _ in 0..<10 {
        group.addTask { [registrar, app, store] in
          try await registrar.registration(of: app, in: store)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(all.count == 1 && methods() == ["POST"])
  }

  /// A shared operation would skip the stricter caller's check.
  @Test func `simultaneous calls with different demands on the server do not share a registration`()
    async throws
  {
    let strictEnd = OneShot<Void>()
    sandbox.misbehave(at: .registration, .hold(until: { _ = await strictEnd.value() }))
    async let registration = registrar.registration(of: app, in: store)
    _ = try await sandbox.requests(to: .registration, atLeast: 1)
    var strict = registrar
    strict.acceptsServersOnThisComputer = false
    await failure(.insecureEndpoint) { try await strict.registration(of: app, in: store) }
    strictEnd.resolve(())
    #expect(try await registration == kept())
  }

  @Test func `a custom store only needs to load, save and erase`() async throws {
    let store = PlainStore(registrations: self.store)
    let first = try await registrar.registration(of: app, in: store)
    #expect(kept() == first)
    let other = try await registrar.register(app)
    #expect(try await store.save(other, replacing: nil) == first)
    #expect(try await store.save(other, replacing: first) == other)
    #expect(kept() == other)
  }

  private struct PlainStore: RegistrationStore {
    let registrations: MemoryRegistrationStore

    func registration(at issuer: String) -> ClientRegistration? {
      registrations.registration(at: issuer)
    }

    func save(_ registration: ClientRegistration) { registrations.save(registration) }

    func eraseRegistration(at issuer: String) { registrations.eraseRegistration(at: issuer) }
  }

  @Test
  func `a call fails if another program always stores a registration with different metadata`()
    async throws
  {
    let other = ClientMetadata(redirectURIs: ["com.example.other:/callback"])
    let rival = RivalStore(registration: try await registrar.register(other))
    await failure(.registrationMismatch) { try await registrar.registration(of: app, in: rival) }
  }

  /// A store into which another program always saves first.
  private struct RivalStore: RegistrationStore {
    let registration: ClientRegistration

    func registration(at issuer: String) -> ClientRegistration? { nil }
    func save(_ registration: ClientRegistration) {}
    func save(
      _ registration: ClientRegistration, replacing earlier: ClientRegistration?
    ) -> ClientRegistration { self.registration }
    func eraseRegistration(at issuer: String) {}
  }

  @Test func `a registration that cannot be saved is deleted`() async throws {
    let clients = sandbox.clients.map(\.id)
    await failure(.storeFailed) {
      try await registrar.registration(of: app, in: UnwritableStore())
    }
    #expect(methods() == ["POST", "DELETE"] && sandbox.clients.map(\.id) == clients)
    // The store can be read, but a folder exists where it writes its new file.
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("clients.sq.new"), withIntermediateDirectories: false)
    let file = FileRegistrationStore(path: folder.file("clients"), key: nil)
    await failure(.storeFailed) { try await registrar.registration(of: app, in: file) }
    #expect(methods() == ["POST", "DELETE"], "the file is checked before the registration")
    #expect(sandbox.clients.map(\.id) == clients)
  }

  /// A store whose disk is full: it can be loaded, and saving fails a number of times.
  private final class FullStore: RegistrationStore {
    struct Full: Error {}

    private let registrations: MemoryRegistrationStore
    private let checks: Bool
    private let failures: Locked<Int>

    init(_ registrations: MemoryRegistrationStore, checks: Bool, failures: Int = .max) {
      self.registrations = registrations
      self.checks = checks
      self.failures = Locked(failures)
    }

    func registration(at issuer: String) -> ClientRegistration? {
      registrations.registration(at: issuer)
    }

    func checkSaving(at issuer: String) throws {
      if checks { throw Full() }
    }

    func save(_ registration: ClientRegistration) throws {
      let isFull = failures.withLock { failures in
        failures -= 1
        return failures >= 0
      }
      guard !isFull else { throw Full() }
      registrations.save(registration)
    }

    func eraseRegistration(at issuer: String) { registrations.eraseRegistration(at: issuer) }
  }

  /// The answer may have a new secret and a new token, and the server gives them only once.
  @Test func `no registration is read, updated or made while the store cannot save it`()
    async throws
  {
    let full = FullStore(store, checks: true)
    await failure(.storeFailed) { try await registrar.registration(of: app, in: full) }
    #expect(methods().isEmpty)
    let first = try await registrar.registration(of: app, in: store)
    var options = RegistrationOptions()
    options.verifies = true
    // A client that works stays in use.
    #expect(try await registrar.registration(of: app, in: full, options) == first)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    await failure(.storeFailed) { try await registrar.registration(of: changed, in: full) }
    #expect(methods() == ["POST"])
    #expect(try await registrar.registration(of: changed, in: store).clientID == first.clientID)
  }

  @Test(arguments: [(3, true), (.max, false)])
  func `a renewed registration is saved again for half a minute if the store fails`(
    failures: Int, isSaved: Bool
  ) async throws {
    let first = try await registrar.registration(of: app, in: store)
    let clock = ManualClock(now: Date())
    var environment = ClientEnvironment()
    environment.clock = clock
    let registrar = ClientRegistrar(
      issuer: sandbox.issuer.absoluteString, environment: environment)
    sandbox.misbehave(
      at: .clientConfiguration, .member("registration_access_token", "replaced"))
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let full = FullStore(store, checks: false, failures: failures)
    let call = begin { [changed] in try await registrar.registration(of: changed, in: full) }
    for _ in 0..<min(failures, 30) {
      await clock.hasSleeper()
      clock.advance(by: 1)
    }
    if isSaved {
      #expect(try await call.value.redirectURIs == changed.redirectURIs)
      let renewed = try #require(kept())
      await failure(.invalidToken) { try await registrar.read(renewed) }
      #expect(sandbox.requests.last?.header("authorization") == "Bearer replaced")
    } else {
      await failure(.storeFailed) { try await call.value }
      #expect(kept() == first)
    }
  }

  @Test func `if the store cannot be read, no client is registered`() async throws {
    let folder = try TemporaryFolder()
    // A folder exists where the file should be.
    try FileManager.default.createDirectory(
      atPath: folder.file("clients"), withIntermediateDirectories: false)
    let file = FileRegistrationStore(path: folder.file("clients"), key: nil)
    await failure(.storeFailed) { try await registrar.registration(of: app, in: file) }
    #expect(methods().isEmpty)
  }

  private struct UnwritableStore: RegistrationStore {
    struct Full: Error {}

    func registration(at issuer: String) -> ClientRegistration? { nil }
    func save(_ registration: ClientRegistration) throws { throw Full() }
    func eraseRegistration(at issuer: String) {}
  }

  // MARK: Other metadata

  @Test func `a client that changes its redirect URIs keeps its client ID`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let second = try await registrar.registration(of: changed, in: store)
    #expect(second.clientID == first.clientID && second.redirectURIs == changed.redirectURIs)
    #expect(methods() == ["POST", "PUT"] && kept() == second)
  }

  @Test func `a client that changes its key keeps its client ID and signs with the new key`()
    async throws
  {
    var service = ClientMetadata(
      redirectURIs: [], clientAuthentication: .privateKeyJWT, grantTypes: ["client_credentials"],
      scope: "demo")
    service.keys = [try ClientKey(generating: .edDSA)]
    // RFC 7591, section 3.2.1, requires the keys in the answer, but some servers omit them.
    sandbox.misbehave(at: .registration, .member("jwks", nil))
    sandbox.misbehave(at: .clientConfiguration, .member("jwks", nil), times: nil)
    let first = try await registrar.registration(of: service, in: store)
    #expect(try await registrar.registration(of: service, in: store) == first)
    let key = try ClientKey(generating: .edDSA)
    service.keys = [key]
    let second = try await registrar.registration(of: service, in: store)
    #expect(second.clientID == first.clientID && methods() == ["POST", "PUT"])
    #expect(try await registrar.registration(of: service, in: store) == second)
    let account = AuthorizationModule(configuration: try second.configuration(clientKey: key))
    #expect(try await account.requestAccessTokenAsClient().scopes == ["demo"])
  }

  /// A server may answer that a client no longer exists or must not change itself.
  @Test(arguments: [401, 403, 404, 405])
  func `if an update is refused, the client registers again and the old client is not deleted`(
    status: Int
  ) async throws {
    let first = try await registrar.registration(of: app, in: store)
    sandbox.misbehave(at: .clientConfiguration, .status(status))
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let second = try await registrar.registration(of: changed, in: store)
    #expect(second.clientID != first.clientID && kept() == second)
    #expect(methods() == ["POST", "PUT", "POST"])
    #expect(try await registrar.read(first).clientID == first.clientID)
  }

  @Test func `if an update fails, the stored registration does not change`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    sandbox.misbehave(at: .clientConfiguration, .status(503))
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    await failure(.temporarilyUnavailable) {
      try await registrar.registration(of: changed, in: store)
    }
    #expect(methods() == ["POST", "PUT"] && kept() == first)
    sandbox.misbehave(at: .clientConfiguration, .error("invalid_redirect_uri"))
    await failure(.invalidRedirectURI) {
      try await registrar.registration(of: changed, in: store)
    }
    #expect(kept() == first)
  }

  @Test
  func `a replaced management token is saved even if the redirect URIs differ from the request`()
    async throws
  {
    let first = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    sandbox.misbehave(
      at: .clientConfiguration,
      .members([("redirect_uris", ["x:/y"]), ("registration_access_token", "replaced")]))
    sandbox.misbehave(at: .registration, .status(500))
    await failure(.serverError) { try await registrar.registration(of: changed, in: store) }
    let between = try #require(kept())
    #expect(between.clientID == first.clientID && between.redirectURIs == ["x:/y"])
    await failure(.invalidToken) { try await registrar.read(between) }
    #expect(sandbox.requests.last?.header("authorization") == "Bearer replaced")
    let second = try await registrar.registration(of: changed, in: store)
    #expect(second.redirectURIs == changed.redirectURIs && kept() == second)
  }

  @Test func `a client that another host has just replaced is not registered again`() async throws {
    _ = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let other = try await registrar.register(changed)
    sandbox.misbehave(
      at: .clientConfiguration, .hold(until: { [store] in store.save(other) }, then: .status(401)))
    #expect(try await registrar.registration(of: changed, in: store) == other)
    #expect(methods() == ["POST", "POST", "PUT"])
  }
}
