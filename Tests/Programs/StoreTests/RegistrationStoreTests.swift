import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Every store of registrations: memory, a file, or the database of the tokens.
@Suite(.timeLimit(.minutes(2))) struct RegistrationStoreTests {
  private func registrations(_ count: Int) async throws -> [ClientRegistration] {
    try await Registrations.atServersOfTheirOwn(count)
  }

  @Test(arguments: RegistrationStoreKind.all)
  func `each server's registration can be loaded after the store is opened again`(
    kind: RegistrationStoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let all = try await registrations(2)
    let store = kind.open(folder)
    #expect(try await store.registration(at: all[0].issuer) == nil)
    for registration in all { try await store.save(registration) }
    let next = kind.open(folder)
    for registration in all {
      #expect(try await next.registration(at: registration.issuer) == registration)
    }
    let status = try FileManager.default.attributesOfItem(atPath: kind.path(folder))
    #expect(status[.posixPermissions] as? Int == 0o600)
    let secret = try #require(all[0].clientSecret)
    #expect(try kind.isIn(folder, secret) == !kind.isSealed)
    // JSON escapes the issuer's slashes, so the test looks for the text after the last slash.
    let server = try #require(all[0].issuer.split(separator: "/").last)
    #expect(try kind.isIn(folder, String(server)) == !kind.isSealed)
    try await next.eraseRegistration(at: all[0].issuer)
    try await next.eraseRegistration(at: all[0].issuer)
    #expect(try await store.registration(at: all[0].issuer) == nil)
    #expect(try await store.registration(at: all[1].issuer) == all[1])
    #expect(try !kind.isIn(folder, secret))
  }

  @Test(arguments: RegistrationStoreKind.all)
  func `the check whether a registration can be saved changes none`(
    kind: RegistrationStoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    let registration = try await registrations(1)[0]
    let store = kind.open(folder)
    try await store.checkSaving(at: registration.issuer)
    #expect(try await store.registration(at: registration.issuer) == nil)
    try await store.save(registration)
    try await store.checkSaving(at: registration.issuer)
    try await store.checkSaving(at: "https://other.example")
    #expect(try await kind.open(folder).registration(at: registration.issuer) == registration)
  }

  @Test func `the check fails before the first registration if the key cannot be used`()
    async throws
  {
    let folder = try TemporaryFolder()
    let store = FileRegistrationStore(path: folder.file("clients"), key: .passphrase(""))
    await failure(.invalidConfiguration) { try await store.checkSaving(at: "https://id.example") }
  }

  // MARK: Simultaneous registrations

  /// Saves several registrations at one server simultaneously, with two objects that share the
  /// store.
  private func race(_ one: any RegistrationStore, _ two: any RegistrationStore) async throws {
    let all = try await Registrations.atOneServer(9)
    // The callers have read no registration, or all have read the same earlier registration.
    for earlier in [nil, all[8]] {
      try await one.eraseRegistration(at: all[0].issuer)
      if let earlier { try await one.save(earlier) }
      let standing = try await withThrowingTaskGroup(of: ClientRegistration.self) { group in
        for (number, registration) in all[..<8].enumerated() {
          group.addTask {
            try await (number % 2 == 0 ? one : two).save(registration, replacing: earlier)
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(standing.count == 1)
      #expect(try await two.registration(at: all[0].issuer) == standing.first)
    }
    let issuer = all[0].issuer
    let first = try #require(try await one.registration(at: issuer))
    #expect(try await one.save(all[8], replacing: nil) == first)
    #expect(try await two.save(first, replacing: nil) == first)
    #expect(try await two.save(all[8], replacing: first) == all[8])
    #expect(try await one.registration(at: issuer) == all[8])
    try await one.eraseRegistration(at: issuer)
    #expect(try await two.save(first, replacing: all[8]) == first)
    #expect(try await one.registration(at: issuer) == first)
  }

  @Test(arguments: RegistrationStoreKind.all)
  func `of several simultaneous registrations one is kept, and all callers get it`(
    kind: RegistrationStoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await race(kind.open(folder), kind.open(folder))
  }

  @Test func `a memory store keeps one of several simultaneous registrations`() async throws {
    let store = MemoryRegistrationStore()
    try await race(store, store)
  }

  @Test(.requires(.postgreSQL))
  func `stores on one PostgreSQL database keep one of several simultaneous registrations`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let stores = [0, 1].map { _ in
        PostgreSQLTokenStore(connection: server.connection, key: .testKey)
      }
      try await race(stores[0], stores[1])
    }
  }

  // MARK: Registering one after the other

  /// Registers with several stores at once at a server that deletes no client.
  private func register(
    in stores: [any RegistrationStore]
  ) async throws {
    let sandbox = try await SandboxServer.start()
    for member in ["registration_client_uri", "registration_access_token"] {
      sandbox.misbehave(at: .registration, .member(member, nil), times: nil)
    }
    let issuer = sandbox.issuer.absoluteString
    let app = ClientMetadata(redirectURIs: ["com.example.app:/callback"])
    let found = try await withThrowingTaskGroup(of: ClientRegistration.self) { group in
      for store in stores {
        group.addTask {
          try await ClientRegistrar(issuer: issuer).registration(of: app, in: store)
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(found.count == 1)
    #expect(sandbox.requests(to: .registration).count == 1)
    await sandbox.stop()
  }

  @Test(arguments: RegistrationStoreKind.all)
  func `simultaneous callers with stores on the same file register one client`(
    kind: RegistrationStoreKind
  ) async throws {
    let folder = try TemporaryFolder()
    try await register(in: (0..<8).map { _ in kind.open(folder) })
  }

  @Test(.requires(.postgreSQL))
  func `simultaneous callers with stores on one PostgreSQL database register one client`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await register(
        in: (0..<4).map { _ in
          PostgreSQLTokenStore(connection: server.connection, key: .testKey)
        })
    }
  }

  @Test func `simultaneous saves from several tasks are all kept`() async throws {
    let folder = try TemporaryFolder()
    let all = try await registrations(8)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for registration in all {
        group.addTask {
          try await FileRegistrationStore(path: folder.file("clients"), key: nil).save(registration)
        }
      }
      try await group.waitForAll()
    }
    let store = FileRegistrationStore(path: folder.file("clients"), key: nil)
    for registration in all {
      #expect(try await store.registration(at: registration.issuer) == registration)
    }
  }

  @Test(arguments: [nil, StoreKey.testKey])
  func `a registration of a later version stays in the file and does not hinder the others`(
    key: StoreKey?
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("clients")
    let all = try await registrations(2)
    let store = FileRegistrationStore(path: path, key: key)
    try await store.save(all[0])
    func rewrite(_ change: (inout [String: JSONValue]) -> Void) throws {
      let bytes = try Data(contentsOf: URL(filePath: path))
      let header = key == nil ? Data() : bytes.prefix { $0 != UInt8(ascii: "\n") }
      let sealer = try key.map { try RecordSealer($0, header: header) }
      let box = bytes.dropFirst(sealer == nil ? 0 : header.count + 1)
      let json = try sealer?.open(Data(box), as: "registrations", with: Data()) ?? box
      var members = try JSONDecoder().decode([String: JSONValue].self, from: json)
      change(&members)
      let new = try JSONEncoder().encode(members)
      let sealed = try sealer?.seal(new, as: "registrations", with: Data())
      try (sealed.map { header + Data("\n".utf8) + $0 } ?? new).write(to: URL(filePath: path))
    }
    let later = "https://later.example"
    try rewrite { $0[later] = ["issuer": .string(later), "proof": [1]] }
    #expect(try await store.registration(at: all[0].issuer) == all[0])
    await failure(.storeTooNew) { try await store.registration(at: later) }
    try await store.save(all[1])
    #expect(try await store.registration(at: all[1].issuer) == all[1])
    try rewrite { #expect($0[later]?["proof"] == [1]) }
  }

  @Test func `a file with another key, a damaged file and a symbolic link are rejected`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.file("clients")
    let registration = try await registrations(1)[0]
    try await FileRegistrationStore(path: path, key: .testKey).save(registration)
    let sealed = try Data(contentsOf: URL(filePath: path))
    let wrong = FileRegistrationStore(path: path, key: .raw(Data(repeating: 9, count: 32)))
    await failure(.wrongPassphrase) { try await wrong.registration(at: registration.issuer) }
    await failure(.wrongPassphrase) { try await wrong.save(registration) }
    let open = FileRegistrationStore(path: path, key: nil)
    await failure(.storeDamaged) { try await open.save(registration) }
    #expect(try Data(contentsOf: URL(filePath: path)) == sealed)
    let store = FileRegistrationStore(path: path, key: .testKey)
    for damaged in [sealed.dropLast(), Data("{}".utf8), Data(), sealed + [0]] {
      try damaged.write(to: URL(filePath: path))
      await failure(.storeDamaged) { try await store.registration(at: registration.issuer) }
    }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.file("elsewhere"))
    await failure(.storeFailed) { try await store.save(registration) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
  }
}
