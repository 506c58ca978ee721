import Foundation
import LoopbackSupport
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuthPostgreSQL

/// Time limits of database calls.
///
/// A call that is too late uses no connection.
@Suite(.requires(.postgreSQL), .timeLimit(.minutes(2))) struct ConnectionPoolTests {
  private func settings(_ server: PostgreSQLServer) throws -> ConnectionSettings {
    try ConnectionSettings(server.connection, environment: [:])
  }

  @Test func `a call waits for a free connection until its time limit`() async throws {
    try await PostgreSQLServer.running { server in
      let settings = try settings(server)
      let pool = ConnectionPool(
        size: 1,
        open: { () throws(SQOAuthError) in try AccountDatabase.connect(settings) },
        prepare: { _ in })
      let gate = Gate(isOpen: false)
      let first = Task {
        try await pool.run(within: .seconds(3600), retryingFor: .zero) {
          connection, _ throws(SQOAuthError) in
          await gate.pass()
          return ObjectIdentifier(connection)
        }
      }
      try await gate.isHolding()
      defer { gate.open() }
      let end = OneShot<Result<Void, any Error>>()
      Task {
        let result: Result<Void, any Error>
        do {
          try await pool.run(within: .milliseconds(200), retryingFor: .zero) { _, _ in }
          result = .success(())
        } catch {
          result = .failure(error)
        }
        end.resolve(result)
      }
      let late = try await eventually("the call's time is over") { end.current }
      let error = failure(.storeFailed) { try late.get() }
      #expect(error?.message.contains("connections were busy") == true)
      // The freed connection goes to a call that still waits.
      let second = Task {
        try await pool.run(within: .seconds(3600), retryingFor: .zero) { connection, _ in
          ObjectIdentifier(connection)
        }
      }
      gate.open()
      #expect(try await first.value == second.value)
    }
  }

  @Test func `the time to connect is added to a call's time limit`() async throws {
    try await PostgreSQLServer.running { server in
      let settings = try settings(server)
      let connecting = Locked(Duration.zero)
      let pool = ConnectionPool(
        size: 1,
        open: { () throws(SQOAuthError) in
          let start = ContinuousClock.now
          Thread.sleep(forTimeInterval: 0.3)
          defer { connecting.withLock { $0 = .now - start } }
          return try AccountDatabase.connect(settings)
        },
        prepare: { _ in })
      let (start, limit) = (ContinuousClock.now, Duration.milliseconds(100))
      let deadline = try await pool.run(within: limit, retryingFor: .zero) { $1 }
      #expect(deadline >= start + limit + connecting.withLock { $0 })
    }
  }

  /// A process that was killed sends no cancel request.
  @Test func `the database server ends the waiting statement of a disconnected client`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let relay = try TCPRelay(to: server.port)
      let connection = try Connection(
        try ConnectionSettings(server.connection(through: relay.port), environment: [:]))
      try await server.holdingLock {
        let call = Task {
          try await connection.answer(script: TCPRelayTests.lock, until: .now + .seconds(3600))
        }
        try await server.waiters(1)
        relay.dropConnections()
        await #expect(throws: PostgreSQLError.self) { try await call.value }
        try await server.waiters(0)
      }
    }
  }

  @Test func `a statement past its time limit is not sent, and its connection stays usable`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      let connection = try Connection(try settings(server))
      let later = ContinuousClock.now + .seconds(60)
      try await connection.answer(script: "CREATE TEMP TABLE sent (word text)", until: later)
      let statement = SQLStatement(
        name: "one", text: "INSERT INTO sent VALUES ($1) RETURNING 1")
      for _ in 1...2 {
        let error = await #expect(throws: PostgreSQLError.self) {
          try await connection.answer(statement, [.text("late")], until: .now)
        }
        #expect(error?.endsConnection == false && error?.isPassing == false)
        // Earlier statements of the call may have taken effect, so the message does not deny it.
        #expect(error?.reported.message.hasSuffix("statement was sent; try again") == true)
        let row = try await connection.answer(statement, [.text("in time")], until: later).first
        #expect(row?.integer(0) == 1)
      }
      await #expect(throws: PostgreSQLError.self) {
        try await connection.answer(script: "INSERT INTO sent VALUES ('late')", until: .now)
      }
      try await connection.answer(script: "INSERT INTO sent VALUES ('in time')", until: later)
      let words = SQLStatement(name: "words", text: "SELECT word FROM sent")
      let rows = try await connection.answer(words, [], until: later)
      #expect(rows.map { $0.text(0) } == Array(repeating: "in time", count: 3))
    }
  }
}
