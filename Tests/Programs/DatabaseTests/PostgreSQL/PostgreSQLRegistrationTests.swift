import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SQCrypto
import SequencingOAuth
import SequencingOAuthPostgreSQL
import TestSupport
import Testing

/// Registrations in a database that several hosts share.
@Suite(.timeLimit(.minutes(2)), .requires(.postgreSQL)) struct PostgreSQLRegistrationTests {
  @Test func `hosts share registrations before and after a change of the key`()
    async throws
  {
    let newKey = StoreKey.otherTestKey
    let all = try await Registrations.atServersOfTheirOwn(2)
    try await PostgreSQLServer.running { server in
      let open = { (key: StoreKey, others: [StoreKey]) in
        PostgreSQLTokenStore(connection: server.connection, key: key, otherKeys: others)
      }
      let (one, two) = (open(.testKey, [newKey]), open(.testKey, [newKey]))
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
      #expect(try await two.save(all[1], replacing: nil) == all[1])
      try await two.eraseRegistration(at: all[1].issuer)
      #expect(try await two.save(all[1], replacing: all[0]) == all[1])
      #expect(try await three.registration(at: all[1].issuer) == all[1])
      try await three.eraseRegistration(at: all[0].issuer)
      #expect(try await two.registration(at: all[0].issuer) == nil)
      // A sealed value of one server cannot be opened for another.
      try await server.run(
        """
        INSERT INTO sequencing_oauth.registrations
        SELECT decode('\(Hexadecimal.encode(Digest.sha256(all[0].issuer)))', 'hex'), key_number,
          value FROM sequencing_oauth.registrations
        """)
      await failure(.storeDamaged) { try await two.registration(at: all[0].issuer) }
    }
  }

  @Test func `a change of the key does not overwrite a newer registration`()
    async throws
  {
    let newKey = StoreKey.otherTestKey
    let (table, temporary) = ("sequencing_oauth.registrations", "public.newer")
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(
        connection: server.connection, key: .testKey, otherKeys: [newKey])
      let sandbox = try await SandboxServer.start()
      let registrar = ClientRegistrar(issuer: sandbox.issuer.absoluteString)
      let metadata = ClientMetadata(redirectURIs: ["http://127.0.0.1/"])
      let older = try await registrar.register(metadata)
      let newer = try await registrar.register(metadata)
      try await store.save(newer)
      try await server.run("CREATE TABLE \(temporary) AS SELECT value FROM \(table)")
      try await store.save(older)
      // The save already locks the row when the change of the key reads the row, and the save ends
      // while the change of the key waits for the lock.
      async let save = server.run(
        """
        BEGIN;
        UPDATE \(table) SET value = (SELECT value FROM \(temporary));
        \(PostgreSQLServer.untilAnotherWaits(for: "locktype = 'transactionid'"))
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

  /// The server processed the request, but its answer was lost.
  ///
  /// Before the call is repeated, another host saves a newer registration.
  @Test(arguments: [false, true])
  func `a repeated save or erasure of a registration does not undo another host's later save`(
    isErasure: Bool
  ) async throws {
    let all = try await Registrations.atOneServer(3)
    let issuer = all[0].issuer
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      let other = DatabaseTests.store(server)
      // By the time of the tested call, the connection has prepared the statement.
      if isErasure {
        try await other.save(all[0])
        try await store.eraseRegistration(at: "https://another.example")
      } else {
        try await store.save(all[0])
      }
      let call: @Sendable () async throws -> Void = {
        if isErasure {
          try await store.eraseRegistration(at: issuer)
        } else {
          try await store.save(all[1])
        }
      }
      relay.passThrough(.requests)
      async let called: Void = call()
      try await eventually("the server has processed the request") {
        try await other.registration(at: issuer) == (isErasure ? nil : all[1])
      }
      try await other.save(all[2])
      relay.dropConnections()
      relay.speakAgain()
      try await called
      #expect(try await other.registration(at: issuer) == all[2])
    }
  }

  /// Both hosts have read the store before one of them saves.
  @Test(arguments: [false, true])
  func `a host that saves a registration second gets the first host's registration`(
    isRenewal: Bool
  ) async throws {
    let (table, temporary) = ("sequencing_oauth.registrations", "public.first")
    let all = try await Registrations.atOneServer(3)
    try await PostgreSQLServer.running { server in
      let store = PostgreSQLTokenStore(connection: server.connection, key: .testKey)
      let before = isRenewal ? all[2] : nil
      try await store.save(all[0])
      try await server.run("CREATE TABLE \(temporary) AS SELECT * FROM \(table)")
      try await store.eraseRegistration(at: all[0].issuer)
      if let before { try await store.save(before) }
      async let first = server.run(
        """
        BEGIN;
        INSERT INTO \(table) SELECT * FROM \(temporary)
          ON CONFLICT (server) DO UPDATE SET value = excluded.value;
        \(PostgreSQLServer.untilAnotherWaits(for: "locktype = 'transactionid'"))
        COMMIT
        """)
      try await eventually("the first save has begun") {
        try await !server.run(
          """
          SELECT 1 FROM pg_locks WHERE granted AND mode = 'RowExclusiveLock'
            AND relation = '\(table)'::regclass
          """
        ).isEmpty
      }
      #expect(try await store.save(all[1], replacing: before) == all[0])
      _ = try await first
      #expect(try await store.registration(at: all[0].issuer) == all[0])
    }
  }
}

extension PostgreSQLServer {
  /// Returns SQL that keeps its transaction open until another transaction waits for a lock of a
  /// kind.
  static func untilAnotherWaits(for lock: String) -> String {
    """
    DO $$ BEGIN
      FOR attempt IN 1..3000 LOOP
        EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted AND \(lock));
        PERFORM pg_sleep(0.01);
      END LOOP;
    END $$;
    """
  }
}
