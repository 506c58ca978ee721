import Foundation
import ProgramSupport
import TestSupport
import Testing

@Suite(.requires(.pgbouncer), .timeLimit(.minutes(3)))
struct PgBouncerTests {
  @Test func `clients of PgBouncer share one server connection and need the right password`()
    async throws
  {
    try await PostgreSQLServer.running { server in
      try await PgBouncer.running(server, settings: ["default_pool_size": "1"]) { pool in
        let sql = "SELECT pg_backend_pid(), current_user"
        let first = try await PostgreSQLServer.run(sql, at: pool.connection)
        #expect(first.hasSuffix("|app"))
        #expect(try await PostgreSQLServer.run(sql, at: pool.connection) == first)
        #expect(try await pool.run("SHOW SERVERS").split(separator: "\n").count == 1)
        await #expect(throws: ChildProcessError.self) {
          try await PostgreSQLServer.run(sql, at: pool.connection(password: "wrong"))
        }
      }
    }
  }

  @Test func `a killed or stopped PgBouncer restarts on the same port`() async throws {
    try await PostgreSQLServer.running { server in
      let pool = try await PgBouncer.start(server)
      let connection = pool.connection
      for isKilled in [true, false] {
        #expect(try await PostgreSQLServer.run("SELECT 1", at: connection) == "1")
        if isKilled { pool.kill() } else { await pool.stop() }
        await #expect(throws: ChildProcessError.self) {
          try await PostgreSQLServer.run("SELECT 1", at: connection)
        }
        try await pool.restart()
      }
      #expect(try await PostgreSQLServer.run("SELECT 1", at: connection) == "1")
    }
  }
}
