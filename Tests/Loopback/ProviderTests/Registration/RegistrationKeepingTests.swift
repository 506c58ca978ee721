import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Registrations in a store, and the hosts that share it.
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

  @Test func `a client registers once`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    #expect(try await registrar.registration(of: app, in: store) == first)
    #expect(methods() == ["POST"])
    store.eraseRegistration(at: sandbox.issuer.absoluteString)
    #expect(try await registrar.registration(of: app, in: store) != first)
  }

  /// An older version kept whatever address the server named, such as one in the client's network.
  @Test func `a kept registration that is managed elsewhere is not used for that`() async throws {
    let other = try await SandboxServer.start()
    let first = try await registrar.registration(of: app, in: store)
    let json = String(decoding: try JSONEncoder().encode(first), as: UTF8.self)
    let (own, foreign) = (sandbox.issuer.port ?? 0, other.issuer.port ?? 0)
    // The address of the management, but not the issuer.
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

  /// A registration in vain would let the accounts of one host fail on the other.
  @Test func `hosts that start together use one client, and delete the other`() async throws {
    // Neither host has its answer before both have found the store empty.
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

  /// The other host's request has replaced the token of the registration.
  @Test func `a refused token may be one that another host is about to replace`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let updated = try await registrar.update(first, to: changed)
    sandbox.misbehave(at: .clientConfiguration, .error("invalid_token", status: 401))
    let late = LateStore(registrations: store, loads: 3) { $0.save(updated) }
    let found = try await registrar.registration(of: changed, in: late)
    #expect(found.clientID == first.clientID && found == kept())
    #expect(methods() == ["POST", "PUT", "PUT"])
  }

  /// A store to which another host writes after it was read some times.
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

  @Test func `calls at once in one process are one call`() async throws {
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

  @Test func `the store of an app loads and saves, unless it has a better way`() async throws {
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

  @Test func `programs with different metadata do not replace each other without end`()
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

  @Test func `a registration that cannot be kept is deleted`() async throws {
    let folder = try TemporaryFolder()
    // A folder stands where the file should be.
    try FileManager.default.createDirectory(
      atPath: folder.file("clients"), withIntermediateDirectories: false)
    await failure(.storeFailed) {
      try await registrar.registration(of: app, in: UnwritableStore())
    }
    #expect(methods() == ["POST", "DELETE"])
    await failure {
      try await registrar.registration(
        of: app, in: FileRegistrationStore(path: folder.file("clients")))
    }
  }

  private struct UnwritableStore: RegistrationStore {
    struct Full: Error {}

    func registration(at issuer: String) -> ClientRegistration? { nil }
    func save(_ registration: ClientRegistration) throws { throw Full() }
    func eraseRegistration(at issuer: String) {}
  }

  // MARK: Other metadata

  @Test func `a client that wants other redirect URIs keeps its identifier`() async throws {
    let first = try await registrar.registration(of: app, in: store)
    var changed = app
    changed.redirectURIs = ["com.example.app:/other"]
    let second = try await registrar.registration(of: changed, in: store)
    #expect(second.clientID == first.clientID && second.redirectURIs == changed.redirectURIs)
    #expect(methods() == ["POST", "PUT"] && kept() == second)
  }

  @Test func `a client with another key keeps its identifier, and signs with that key`()
    async throws
  {
    var service = ClientMetadata(
      redirectURIs: [], clientAuthentication: .privateKeyJWT, grantTypes: ["client_credentials"],
      scope: "demo")
    service.keys = [try ClientKey(generating: .edDSA)]
    // RFC 7591, section 3.2.1 wants the keys in the answer, and some servers leave them out.
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

  /// A server may say that a client is gone, or that a client may not change itself.
  @Test(arguments: [401, 403, 404, 405])
  func `a client that cannot be changed registers anew, and other hosts may use the old one`(
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

  @Test func `a server in trouble changes nothing`() async throws {
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

  @Test func `what a server has replaced is kept, even if it changed something else too`()
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

  @Test func `a client that another host has just changed is not gone`() async throws {
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
