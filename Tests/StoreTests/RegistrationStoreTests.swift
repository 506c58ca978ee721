import Basics
import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// What keeps registrations: a file, or the database of many hosts.
@Suite(.timeLimit(.minutes(2))) struct RegistrationStoreTests {
  /// Registrations at servers of their own.
  private func registrations(_ count: Int) async throws -> [ClientRegistration] {
    var registrations: [ClientRegistration] = []
    for _ in 0..<count {
      let sandbox = try await SandboxServer.start()
      registrations.append(
        try await ClientRegistrar(issuer: sandbox.issuer.absoluteString).register(
          ClientMetadata(
            redirectURIs: ["http://127.0.0.1/callback"], clientAuthentication: .basic)))
      await sandbox.stop()
    }
    return registrations
  }

  @Test(arguments: [false, true])
  func `registrations outlive the process, one for each server`(isSealed: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("deep/er/clients")
    let key = isSealed ? StoreKey.file(path + ".key") : nil
    let all = try await registrations(2)
    let store = FileRegistrationStore(path: path, key: key)
    #expect(try await store.registration(at: all[0].issuer) == nil)
    for registration in all { try await store.save(registration) }
    let next = FileRegistrationStore(path: path, key: key)
    for registration in all {
      #expect(try await next.registration(at: registration.issuer) == registration)
    }
    let status = try FileManager.default.attributesOfItem(atPath: path)
    #expect(status[.posixPermissions] as? Int == 0o600)
    let bytes = try Data(contentsOf: URL(filePath: path))
    let secret = try #require(all[0].clientSecret)
    #expect((bytes.firstRange(of: Data(secret.utf8)) == nil) == isSealed)
    try await next.eraseRegistration(at: all[0].issuer)
    try await next.eraseRegistration(at: all[0].issuer)
    #expect(try await store.registration(at: all[0].issuer) == nil)
    #expect(try await store.registration(at: all[1].issuer) == all[1])
  }

  @Test(.requires(.postgreSQL)) func `hosts share registrations, also while the key changes`()
    async throws
  {
    let newKey = StoreKey.raw(Data(repeating: 7, count: 32))
    let all = try await registrations(2)
    try await PostgreSQLServer.running { server in
      let open = { (key: StoreKey, others: [StoreKey]) in
        PostgreSQLTokenStore(connection: server.connection, key: key, otherKeys: others)
      }
      let (one, two) = (open(testKey, [newKey]), open(testKey, [newKey]))
      #expect(try await one.registration(at: all[0].issuer) == nil)
      for registration in all { try await one.save(registration) }
      #expect(try await two.registration(at: all[1].issuer) == all[1])
      let stored = try await server.run("SELECT value FROM sequencing_oauth.registrations")
      #expect(!stored.contains(Hexadecimal.encode(Data(all[0].clientID.utf8))))
      try await one.changeKey(to: newKey)
      let three = open(newKey, [])
      #expect(try await three.registration(at: all[0].issuer) == all[0])
      try await two.save(all[1])
      #expect(try await three.registration(at: all[1].issuer) == all[1])
      try await three.eraseRegistration(at: all[0].issuer)
      #expect(try await two.registration(at: all[0].issuer) == nil)
      // A box of one server does not open for another one.
      try await server.run(
        """
        INSERT INTO sequencing_oauth.registrations
        SELECT decode('\(Hexadecimal.encode(Digest.sha256(all[0].issuer)))', 'hex'), key_number,
          value FROM sequencing_oauth.registrations
        """)
      await failure(.storeDamaged) { try await two.registration(at: all[0].issuer) }
    }
  }

  @Test(.requires(.postgreSQL)) func `a change of the key overwrites no newer registration`()
    async throws
  {
    let newKey = StoreKey.raw(Data(repeating: 7, count: 32))
    let (table, temporary) = ("sequencing_oauth.registrations", "public.newer")
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: testKey, otherKeys: [newKey])
      let sandbox = try await SandboxServer.start()
      let registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
      let metadata = ClientMetadata(redirectURIs: ["http://127.0.0.1/"])
      let older = try await registrar.register(metadata)
      let newer = try await registrar.register(metadata)
      try await store.save(newer)
      try await server.run("CREATE TABLE \(temporary) AS SELECT value FROM \(table)")
      try await store.save(older)
      // The save has its place in the row when the change of the key reads the row, and ends when
      // the change waits for it.
      async let save = server.run(
        """
        BEGIN;
        UPDATE \(table) SET value = (SELECT value FROM \(temporary));
        DO $$ BEGIN
          FOR attempt IN 1..3000 LOOP
            EXIT WHEN EXISTS (
              SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid');
            PERFORM pg_sleep(0.01);
          END LOOP;
        END $$;
        COMMIT
        """)
      try await eventually("the save has begun") {
        try await server.run("SELECT 1 FROM \(table) FOR UPDATE SKIP LOCKED").isEmpty
      }
      try await store.changeKey(to: newKey)
      _ = try await save
      #expect(try await store.registration(at: newer.issuer) == newer)
    }
  }

  @Test func `saves from several tasks all last`() async throws {
    let folder = try TemporaryFolder()
    let all = try await registrations(8)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for registration in all {
        group.addTask {
          try await FileRegistrationStore(path: folder.file("clients")).save(registration)
        }
      }
      try await group.waitForAll()
    }
    let store = FileRegistrationStore(path: folder.file("clients"))
    for registration in all {
      #expect(try await store.registration(at: registration.issuer) == registration)
    }
  }

  @Test func `another key, a damaged file and a link are refused, and stay`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("clients")
    let registration = try await registrations(1)[0]
    try await FileRegistrationStore(path: path, key: testKey).save(registration)
    let sealed = try Data(contentsOf: URL(filePath: path))
    let wrong = FileRegistrationStore(path: path, key: .raw(Data(repeating: 9, count: 32)))
    await failure(.wrongPassphrase) { try await wrong.registration(at: registration.issuer) }
    await failure(.wrongPassphrase) { try await wrong.save(registration) }
    let open = FileRegistrationStore(path: path)
    await failure(.storeDamaged) { try await open.save(registration) }
    #expect(try Data(contentsOf: URL(filePath: path)) == sealed)
    let store = FileRegistrationStore(path: path, key: testKey)
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
