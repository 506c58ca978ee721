import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuthPostgreSQL

/// Notifications of changes that other hosts make.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3))) struct PostgreSQLNoticeTests {
  /// How often a store reported a change of each account.
  final class Reports: Sendable {
    private let counts = Locked<[String: Int]>([:])

    func observe(_ id: String, in store: PostgreSQLTokenStore) -> AccountObservation? {
      store.observe(id) { self.counts.withLock { $0[id, default: 0] += 1 } }
    }

    func count(_ id: String) -> Int { counts.withLock { $0[id] ?? 0 } }
  }

  private static func saved(_ store: PostgreSQLTokenStore, _ id: String) async throws {
    try await store.save(record(id, token: SQToken(accessToken: UUID().uuidString)))
  }

  /// Runs `body` with two stores of one database.
  ///
  /// The first store observes the account `a` and is connected.
  private func withObserver(
    _ body: (PostgreSQLServer, _ observer: PostgreSQLTokenStore, PostgreSQLTokenStore, Reports)
      async throws -> Void
  ) async throws {
    try await PostgreSQLServer.running { server in
      let observer = store(server)
      let other = store(server)
      try await Self.saved(other, "a")
      let reports = Reports()
      let observation = try #require(reports.observe("a", in: observer))
      _ = try await observer.load("a")
      try await Self.saved(other, "a")
      try await eventually("the change is noticed") { reports.count("a") > 0 }
      _ = try await observer.load("a")
      // Notifications arrive in order. So once the one for `last` has arrived, all earlier ones
      // have arrived too.
      let last = reports.observe("last", in: observer)
      try await Self.saved(other, "last")
      try await eventually("the last notification arrives") { reports.count("last") > 0 }
      last?.end()
      try await body(server, observer, other, reports)
      observation.end()
    }
  }

  @Test func `a change by another host is reported, but the host's own change is not`() async throws
  {
    try await withObserver { server, observer, other, reports in
      let observation = reports.observe("b", in: observer)
      _ = try await observer.load("b")
      let before = reports.count("a")
      let (third, itsReports) = (store(server), Reports())
      let its = itsReports.observe("a", in: third)
      _ = try await third.load("a")
      try await Self.saved(observer, "a")
      try await eventually("a third host notices the change") { itsReports.count("a") > 0 }
      try await Self.saved(other, "b")
      try await eventually("the other account's change is noticed") { reports.count("b") > 0 }
      // The notification of the store's own change was sent before that of account `b`, so it has
      // arrived.
      #expect(reports.count("a") == before)
      try await other.erase("a")
      try await eventually("the erasure is noticed") { reports.count("a") > before }
      its?.end()
      observation?.end()
    }
  }

  @Test func `an ended observation reports nothing`() async throws {
    try await withObserver { _, observer, other, reports in
      reports.observe("b", in: observer)?.end()
      let before = reports.count("a")
      try await Self.saved(other, "b")
      try await Self.saved(other, "a")
      try await eventually("the observed change is noticed") { reports.count("a") > before }
      #expect(reports.count("b") == 0)
    }
  }

  @Test func `a change with a lost notification is reported after the next connection`()
    async throws
  {
    try await withObserver { server, _, _, reports in
      let before = reports.count("a")
      try await server.run("UPDATE sequencing_oauth.accounts SET version = version + 1")
      _ = try await server.terminateSessions()
      try await eventually("the change is noticed") { reports.count("a") > before }
    }
  }

  @Test
  func `a notification that arrives with the answer to the host's own NOTIFY is handled at once`()
    async throws
  {
    try await withObserver { server, _, other, reports in
      let relay = try TCPRelay(to: server.port)
      let settings = try ConnectionSettings(
        server.connection(through: relay.port), environment: [:])
      let statements = AccountStatements(schema: try DatabaseSchema("sequencing_oauth").name)
      let notices = AccountNotices(settings, statements)
      defer { notices.close() }
      let count = Locked(0)
      let observer = notices.observe("a") { count.withLock { $0 += 1 } }
      // The observer does not know the account's version, so the comparison after connecting
      // reports a change.
      try await eventually("the versions are compared") { count.withLock { $0 } > 0 }
      let (before, seen) = (count.withLock { $0 }, reports.count("a"))
      // The relay holds back the answer to the announcement, and the notification after that
      // answer.
      relay.passThrough(.requests)
      let requests = relay.requests
      notices.announce("own")
      try await eventually("the announcement is sent") { relay.requests > requests }
      try await Self.saved(other, "a")
      try await eventually("the other observer notices the change") { reports.count("a") > seen }
      relay.speakAgain()
      // The time limit ends long before the next comparison of versions.
      try await eventually("the notification is handled", within: .seconds(15)) {
        count.withLock { $0 } > before
      }
      notices.end(observer, of: "a")
    }
  }

  /// The database has no tables, so the server accepts each login and refuses each comparison.
  @Test func `a listener retries after refused statements about as rarely as without a server`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let closed = try ClosedPort()
      let (refusing, unreachable) = (
        try TCPRelay(to: server.port), try TCPRelay(to: closed.number)
      )
      let statements = AccountStatements(schema: try DatabaseSchema("sequencing_oauth").name)
      let listeners = try [refusing, unreachable].map { relay in
        let settings = try ConnectionSettings(
          server.connection(through: relay.port), environment: [:])
        let notices = AccountNotices(settings, statements)
        _ = notices.observe("a") {}
        return notices
      }
      defer { for notices in listeners { notices.close() } }
      // The pauses between the attempts double.
      try await eventually("the unreachable server is tried again") {
        unreachable.counters.accepted >= 7
      }
      let logins = refusing.counters.accepted
      #expect(logins > 1 && logins <= 14, "\(logins) logins")
    }
  }

  /// PostgreSQL keeps a notification until every session has read it, even a suspended process's.
  @Test func `over TCP, a listening session has a time limit for a client that reads nothing`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let statements = AccountStatements(schema: try DatabaseSchema("sequencing_oauth").name)
      let settings = SQLStatement(
        name: "settings",
        text: """
          SELECT pg_catalog.current_setting('tcp_user_timeout'),
            (SELECT pg_catalog.count(*) FROM pg_catalog.pg_listening_channels())
          """)
      // On a local socket, the server has no such limit.
      for (string, limit) in [(server.connection, "60000"), (server.superuserConnection, "0")] {
        let connection = try Connection(try ConnectionSettings(string, environment: [:]))
        let later = ContinuousClock.now + .seconds(60)
        try await connection.answer(script: statements.notices.listen, until: later)
        let row = try await connection.answer(settings, [], until: later).first
        #expect(row?.text(0) == limit)
        #expect(row?.integer(1) == 1)
      }
    }
  }

  /// A process may exit right after `flush`, and other hosts must still learn of its changes.
  @Test func `after flush all changes have been announced`() async throws {
    try await withObserver { server, observer, other, reports in
      let ids = (1...50).map { "\($0)" }
      let observations = try (ids + ["end"]).map {
        try #require(reports.observe($0, in: observer))
      }
      for id in ids { try await Self.saved(other, id) }
      await other.flush()
      let notices = try #require(other.notices)
      #expect(notices.takeNotice(now: true) == nil)
      // This change is announced after `flush`, and notifications arrive in order. The time limit
      // ends before the next comparison of versions.
      let last = store(server)
      try await Self.saved(last, "end")
      await last.flush()
      try await eventually("the last notification arrives", within: .seconds(15)) {
        reports.count("end") > 0
      }
      #expect(ids.filter { reports.count($0) == 0 } == [])
      for observation in observations { observation.end() }
    }
  }

  /// Each attempt would fail, and some servers lock a role after several failures.
  @Test func `flush does not repeat an announcement that the server refuses`() async throws {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let store = PostgreSQLTokenStore(
        connection: server.connection(through: relay.port), key: .testKey, connections: 1)
      #expect(try await store.list() == [])
      let notices = try #require(store.notices)
      // Without the listening connection, only `flush` can send the announcement.
      notices.close()
      notices.announce("a")
      try await server.run("ALTER ROLE app PASSWORD 'another'")
      try await server.terminateSessions()
      let before = relay.counters.accepted
      await store.flush()
      #expect(relay.counters.accepted == before + 1)
      #expect(notices.takeNotice(now: true) != nil, "another attempt can send the announcement")
    }
  }

  @Test func `malformed notifications cause no report, and a later change is still reported`()
    async throws
  {
    try await withObserver { server, observer, other, reports in
      let before = reports.count("a")
      let name = Notice.channel(schema: "\"sequencing_oauth\"")
      for text in ["", " ", "x", "x y z", String(repeating: "0", count: 7999)] {
        try await server.run("NOTIFY \(name), '\(text)'")
      }
      try await Self.saved(other, "a")
      try await eventually("the change is noticed") { reports.count("a") > before }
      // Notifications arrive in order, so a malformed one would have been reported before.
      #expect(reports.count("a") == before + 1)
      withExtendedLifetime(observer) {}
    }
  }

  @Test(.requires(.pgbouncer))
  func `a change is reported to a store that is connected through PgBouncer`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await PgBouncer.running(server) { pool in
        let observer = PostgreSQLTokenStore(connection: pool.connection, key: .testKey)
        let other = store(server)
        try await Self.saved(other, "a")
        let reports = Reports()
        let observation = reports.observe("a", in: observer)
        _ = try await observer.load("a")
        try await Self.saved(other, "a")
        try await eventually("the change is noticed") { reports.count("a") > 0 }
        observation?.end()
      }
    }
  }

  /// Without a notification, a waiting host asks for the lease again only after an interval.
  @Test func `a released lease wakes a host that waits for it`() async throws {
    try await withObserver { _, observer, other, _ in
      var isWoken = false
      for _ in 1...10 where !isWoken {
        let held = try await eventually("the lease is free") { try await other.lease("a") }
        async let lease = observer.lease("a")
        // After this time, the waiting host has asked for the lease, unless the machine is very
        // busy.
        try await Task.sleep(for: .milliseconds(300))
        held.release()
        if let lease = try await lease {
          isWoken = true
          lease.release()
        }
      }
      #expect(isWoken)
    }
  }

  @Test func `a refresh and a sign-out on one host take effect in the session on another host`()
    async throws
  {
    try await SharedAccount.running { account in
      let (one, two) = (try await account.host(), try await account.host())
      var events = two.events().makeAsyncIterator()
      let fresh = try await one.refresh()
      guard case .takenOver(fresh) = await events.next() else {
        Issue.record("the new token was not announced first")
        return
      }
      #expect(two.currentToken == fresh)
      try await one.signOut()
      guard case .ended(.signedOut) = await events.next() else {
        Issue.record("the sign-out was not announced next")
        return
      }
      #expect(two.currentToken == nil)
      #expect(account.sandbox.refreshTokenReuses == 0)
    }
  }
}
