import Foundation
import LoopbackSupport
import SQBasics
import TestSupport

/// A connection pool, pgbouncer, that a test runs on a free port in front of a PostgreSQL server.
///
/// Each transaction may get another connection to the server, so settings of a client outside a
/// transaction are lost.
package final class PgBouncer: Sendable {
  /// The port of 127.0.0.1, which stays the same after a restart.
  package let port: UInt16
  private let reservation: BoundSocket
  private let server: PostgreSQLServer
  private let folder: TemporaryFolder
  private let process = Locked<ServerProcess?>(nil)

  private init(
    _ server: PostgreSQLServer, users: [String: String], settings: [String: String]
  ) throws {
    self.server = server
    reservation = try BoundSocket()
    port = reservation.port
    folder = try ServerUser.folder()
    let values = [
      "listen_addr": "127.0.0.1", "listen_port": "\(port)", "unix_socket_dir": folder.path,
      "pool_mode": "transaction", "auth_type": "scram-sha-256",
      "auth_file": folder.file("users.txt"), "admin_users": "pgbouncer",
    ].merging(settings) { $1 }
    let configuration =
      "[databases]\n* = host=127.0.0.1 port=\(server.port)\n[pgbouncer]\n"
      + values.map { "\($0.key) = \($0.value)\n" }.joined()
    try ServerUser.write(Data(configuration.utf8), to: folder.file("pgbouncer.ini"))
    let lines = users.map { "\(Self.quoted($0.key)) \(Self.quoted($0.value))\n" }
    try ServerUser.write(Data(lines.joined().utf8), to: folder.file("users.txt"))
  }

  deinit {
    close()
  }

  /// Starts a pool, which ends with ``close()`` or when its last reference is released.
  ///
  /// The users with their passwords must be roles of the server. The settings are those of
  /// `pgbouncer.ini`, for example `default_pool_size`.
  package static func start(
    _ server: PostgreSQLServer, users: [String: String] = ["app": PostgreSQLServer.password],
    settings: [String: String] = [:]
  ) async throws -> PgBouncer {
    let pool = try PgBouncer(server, users: users, settings: settings)
    do {
      try await pool.launch()
      return pool
    } catch {
      pool.close()
      throw error
    }
  }

  /// Runs a body with a pool, and ends the pool afterwards.
  package static func running<Result: Sendable>(
    _ server: PostgreSQLServer, users: [String: String] = ["app": PostgreSQLServer.password],
    settings: [String: String] = [:], _ body: (PgBouncer) async throws -> Result
  ) async throws -> Result {
    let pool = try await start(server, users: users, settings: settings)
    return try await stopping({ pool.close() }) { try await body(pool) }
  }

  /// The URI for libpq with which the role `app` connects to the database through the pool.
  package var connection: String { connection() }

  /// Returns the URI for libpq with which a role connects through the pool.
  package func connection(
    as role: String = "app", password: String = PostgreSQLServer.password,
    parameters: [String: String] = [:]
  ) -> String {
    server.connection(as: role, password: password, through: port, parameters: parameters)
  }

  /// Runs a command of pgbouncer itself, for example `SHOW SERVERS`, and returns the rows as lines.
  @discardableResult
  package func run(_ command: String) async throws -> String {
    // pgbouncer's socket admits the system user who runs pgbouncer, under this name and without a
    // password.
    let connection = PostgreSQLServer.uri(
      user: "pgbouncer", password: nil, host: "", database: "pgbouncer",
      parameters: ["host": folder.path, "port": "\(port)"])
    return try await ServerUser.run(
      [
        PostgreSQLServer.program("psql"), "-X", "-q", "-A", "-t", "-w", "-d", connection,
        "-c", command,
      ], in: folder)
  }

  /// Ends the pool normally: running transactions may finish.
  package func stop() async {
    await process.withLock { $0 }?.stop(SIGINT)
  }

  /// Kills the pool at once.
  package func kill() {
    process.withLock { $0 }?.kill()
  }

  /// Starts the pool again on its port, and stops it first if it still runs.
  package func restart() async throws {
    await stop()
    try await launch()
  }

  /// Kills the pool, and removes its files.
  package func close() {
    kill()
    try? FileManager.default.removeItem(atPath: folder.path)
  }

  /// The content of the log since the last start.
  package var log: String { process.withLock { $0 }?.log ?? "" }

  private func launch() async throws {
    let process = try ServerProcess(["pgbouncer", "pgbouncer.ini"], in: folder)
    self.process.withLock { $0 = process }
    try await process.isReady { process.log.contains("process up") }
  }

  private static func quoted(_ text: String) -> String {
    "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
