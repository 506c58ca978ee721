import Foundation
import ProgramSupport
import TestSupport
import Testing

@Suite(.requires(.postgreSQL), .timeLimit(.minutes(3)))
struct PostgreSQLServerTests {
  @Test func `an ordinary role creates a schema, and the superuser sees its rows`() async throws {
    try await PostgreSQLServer.running { server in
      try await PostgreSQLServer.run(
        "CREATE SCHEMA own; CREATE TABLE own.t AS SELECT 1 AS a, 'x' AS b UNION SELECT 2, 'y'",
        at: server.connection)
      #expect(try await server.run("SELECT * FROM own.t ORDER BY a") == "1|x\n2|y")
      #expect(try await server.run("SHOW fsync") == "on")
      #expect(try await server.run("SELECT rolsuper FROM pg_roles WHERE rolname = 'app'") == "f")
    }
  }

  @Test func `a role connects only with its own password`() async throws {
    try await PostgreSQLServer.running(settings: ["max_connections": "7"]) { server in
      try await server.createRole("o'ne /two", password: "it's % secret")
      let own = server.connection(as: "o'ne /two", password: "it's % secret")
      let seen = try await PostgreSQLServer.run(
        "SELECT current_user; SHOW max_connections", at: own)
      #expect(seen == "o'ne /two\n7")
      for password in ["wrong", nil] {
        let connection = server.connection(password: password)
        await #expect(throws: ChildProcessError.self) {
          try await PostgreSQLServer.run("SELECT 1", at: connection)
        }
      }
    }
  }

  @Test func `committed rows survive a kill, and an open transaction does not`() async throws {
    try await PostgreSQLServer.running { server in
      try await server.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
      let session = try await server.sleeper("BEGIN; INSERT INTO t VALUES (2);")
      let processes = server.processIDs
      #expect(processes.count > 5)
      server.kill()
      #expect(processes.allSatisfy(hasEnded))
      #expect(try await session.result().status != 0)
      try await server.restart()
      #expect(try await server.run("SELECT * FROM t") == "1")
      #expect(server.log.contains("not properly shut down"))
    }
  }

  @Test func `a clean restart keeps the port and the rows`() async throws {
    try await PostgreSQLServer.running { server in
      try await server.run("CREATE TABLE t AS SELECT 1 AS a")
      let connection = server.connection
      await server.stop()
      await #expect(throws: ChildProcessError.self) {
        try await PostgreSQLServer.run("SELECT 1", at: connection)
      }
      try await server.restart()
      #expect(try await PostgreSQLServer.run("SELECT 'again'", at: connection) == "again")
      #expect(try await server.run("SELECT * FROM t") == "1")
      #expect(!server.log.contains("not properly shut down"))
    }
  }

  @Test func `a paused server answers after it resumes`() async throws {
    try await PostgreSQLServer.running { server in
      server.pause()
      let session = try PostgreSQLServer.psql("SELECT 'late'", at: server.connection)
      let states = server.processIDs.map { state($0) }
      #expect(states.count > 5)
      #expect(states.allSatisfy { $0 == "T" })
      #expect(session.isRunning)
      server.resume()
      #expect(try await session.result().output == "late\n")
    }
  }

  @Test func `an administrator can end sessions`() async throws {
    try await PostgreSQLServer.running { server in
      let session = try await server.sleeper("", at: server.connection)
      #expect(try await server.terminateSessions() == 1)
      #expect(try await session.result().errors.contains("terminating connection"))
      #expect(try await server.terminateSessions() == 0)
    }
  }

  @Test func `a client can verify the server's TLS certificate and rejects an expired certificate`()
    async throws
  {
    let certificates = try await Certificates()
    let verified = ["sslmode": "verify-full", "sslrootcert": certificates.path("ca.pem")]
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    try await PostgreSQLServer.running(certificates: certificates) { server in
      let isSecure = try await PostgreSQLServer.run(
        sql, at: server.connection(parameters: verified))
      #expect(isSecure == "t")
    }
    try await PostgreSQLServer.running(
      settings: ["ssl_cert_file": "expired.pem"], certificates: certificates
    ) { server in
      let connection = server.connection(parameters: verified)
      await #expect(throws: ChildProcessError.self) {
        try await PostgreSQLServer.run(sql, at: connection)
      }
    }
  }

  @Test func `a promoted standby has every acknowledged commit`() async throws {
    try await PostgreSQLServer.running { primary in
      try await primary.run("CREATE TABLE t (a int)")
      let standby = try await PostgreSQLServer.start(standbyOf: primary)
      let writer = try PostgreSQLServer.psql(
        (1...1000).map { "INSERT INTO t VALUES (\($0)) RETURNING a;\n" }.joined(),
        at: primary.superuserConnection)
      _ = try await writer.line(after: "20")
      primary.kill()
      let acknowledged = try await writer.result().output.split(separator: "\n").count
      #expect(acknowledged >= 20)
      await #expect(throws: ChildProcessError.self) {
        try await standby.run("CREATE TABLE u ()")
      }
      try await standby.promote()
      let kept = try #require(Int(try await standby.run("SELECT count(*) FROM t")))
      #expect(kept >= acknowledged)
      try await standby.run("INSERT INTO t VALUES (0)")
    }
  }

  // MARK: The end

  @Test(arguments: ["released", "killed", "paused", "stopped"])
  func `an ended server leaves no processes, files or shared memory`(_ end: String) async throws {
    var server: PostgreSQLServer? = try await PostgreSQLServer.start()
    let folder = try #require(server?.socketFolder)
    let segment = try segment(in: folder)
    // The system's list may lack a line while other segments come and go.
    try await eventually("the server's memory is listed") { try segments().contains(segment) }
    let processes = try #require(server?.processIDs)
    switch end {
    case "killed": server?.kill()
    case "paused": server?.pause()
    case "stopped": await server?.stop()
    default: break
    }
    server = nil
    // The system removes the memory of a killed process with a delay.
    try await eventually("the server's processes end") { processes.allSatisfy(hasEnded) }
    #expect(!FileManager.default.fileExists(atPath: folder))
    try await eventually("the server's memory is free") { try !segments().contains(segment) }
  }
}

extension PostgreSQLServer {
  /// Starts a session that runs SQL and then sleeps, and returns when the session sleeps.
  ///
  /// Without `connection`, it is a session of the superuser.
  func sleeper(
    _ sql: String, at connection: String? = nil
  ) async throws -> ChildProcess {
    let session = try Self.psql(
      "SET application_name = 'sleeper'; \(sql) SELECT pg_sleep(3600);",
      at: connection ?? superuserConnection)
    try await eventually("the session sleeps") {
      try await run(
        """
        SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sleeper'
        AND query ~ '^SELECT (pg_sleep|sum)'
        """) == "1"
    }
    return session
  }
}

private func state(_ process: pid_t) -> Substring? {
  let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
  return text?.split(separator: ")").last?.split(separator: " ").first
}

private func hasEnded(_ process: pid_t) -> Bool {
  ["Z", "X", nil].contains(state(process))
}

/// Returns the number of the shared memory segment by which a server finds that an earlier server
/// still runs.
private func segment(in folder: String) throws -> Substring {
  let file = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
  return try #require(file.split(separator: "\n")[6].split(separator: " ").last)
}

/// Returns the numbers of the system's shared memory segments.
private func segments() throws -> [Substring] {
  // The file has no size, and a read returns no more than a page of it.
  let list = try FileHandle(forReadingFrom: URL(filePath: "/proc/sysvipc/shm")).readToEnd()
  return String(decoding: list ?? Data(), as: UTF8.self).split(separator: "\n")
    .compactMap { $0.split(separator: " ").dropFirst().first }
}
