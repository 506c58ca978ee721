package import Foundation
import LoopbackSupport
import SQBasics
import TestSupport

/// A real PostgreSQL server, which a test runs on a free port.
///
/// Its database `tests` has an ordinary role `app`, which may create schemas there. Roles sign in
/// with passwords over TCP. The superuser `postgres` needs no password, but must use the server's
/// socket in a private folder. A commit is durable, as outside tests: `fsync` is on.
package final class PostgreSQLServer: Sendable {
  /// The port of 127.0.0.1, which stays the same after a restart.
  package let port: UInt16
  private let reservation: BoundSocket
  let folder: TemporaryFolder
  private let settings: [String: String]
  private let hasSmallDisk: Bool
  private let process = Locked<ServerProcess?>(nil)

  private init(settings: [String: String], hasSmallDisk: Bool) throws {
    reservation = try BoundSocket()
    port = reservation.port
    folder = try ServerUser.folder()
    self.settings = settings
    self.hasSmallDisk = hasSmallDisk
  }

  deinit {
    close()
  }

  /// Starts a server, which ends with ``close()`` or when its last reference is released.
  ///
  /// With certificates, the server also accepts TLS; its certificate is `server.pem` or the file in
  /// the setting `ssl_cert_file`. A standby has all commits of the primary server: from now on, a
  /// commit on the primary server waits until it is on the standby's disk. With a small disk, the
  /// tables are on a file system that ``fillDisk()`` fills. Such a server must not be started
  /// again.
  package static func start(
    settings: [String: String] = [:], certificates: Certificates? = nil,
    standbyOf primary: PostgreSQLServer? = nil, hasSmallDisk: Bool = false
  ) async throws -> PostgreSQLServer {
    let server = try PostgreSQLServer(
      settings: (primary?.settings ?? [:]).merging(settings) { $1 }, hasSmallDisk: hasSmallDisk)
    do {
      if let primary {
        try await server.copy(primary)
      } else {
        try await PostgreSQLTemplate.copy(to: server.folder)
      }
      try server.configure(certificates, primary: primary)
      try await server.launch()
      try await primary?.waitForCommits(of: server)
      return server
    } catch {
      server.close()
      throw error
    }
  }

  /// Runs a body with a server, and ends the server afterwards.
  package static func running<Result: Sendable>(
    settings: [String: String] = [:], certificates: Certificates? = nil,
    hasSmallDisk: Bool = false, _ body: (PostgreSQLServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(
      settings: settings, certificates: certificates, hasSmallDisk: hasSmallDisk)
    return try await stopping({ server.close() }) { try await body(server) }
  }

  // MARK: Connections

  /// The password of the role `app`, with characters that a URI encodes.
  package static let password = "app pass:w@rd/100%"

  /// The URI with which the role `app` connects to the database.
  package var connection: String { connection() }

  /// Returns the URI for libpq with which a role connects.
  ///
  /// The port may be that of a relay.
  package func connection(
    as role: String = "app", password: String? = PostgreSQLServer.password,
    through port: UInt16? = nil, parameters: [String: String] = [:]
  ) -> String {
    Self.uri(
      user: role, password: password, host: "127.0.0.1:\(port ?? self.port)",
      parameters: parameters)
  }

  /// The URI with which the superuser connects.
  package var superuserConnection: String {
    Self.uri(
      user: "postgres", password: nil, host: "",
      parameters: ["host": socketFolder, "port": "\(port)"])
  }

  static func uri(
    user: String, password: String?, host: String, database: String = "tests",
    parameters: [String: String]
  ) -> String {
    func encoded(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
    let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(encoded($0.value))" }
    return "postgresql://\(encoded(user))\(password.map { ":\(encoded($0))" } ?? "")@\(host)/"
      + database + (query.isEmpty ? "" : "?") + query.joined(separator: "&")
  }

  /// The folder of the server's socket.
  package var socketFolder: String { folder.path }

  /// Creates a role that may only connect, with a password.
  package func createRole(_ name: String, password: String) async throws {
    try await run("CREATE ROLE \"\(name)\" LOGIN PASSWORD \(Self.quoted(password))")
  }

  /// Runs SQL as the superuser with psql, and returns the rows as lines, with `|` between the
  /// columns.
  @discardableResult
  package func run(_ sql: String) async throws -> String {
    try await Self.run(sql, at: superuserConnection)
  }

  /// Runs SQL with psql over any connection.
  @discardableResult
  package static func run(_ sql: String, at connection: String) async throws -> String {
    let result = try await psql(sql, at: connection).result()
    guard result.status == 0 else { throw ChildProcessError(message: "psql: \(result.errors)") }
    return result.output.hasSuffix("\n") ? String(result.output.dropLast()) : result.output
  }

  /// Starts psql with SQL, for a session that a test interrupts.
  package static func psql(_ sql: String, at connection: String) throws -> ChildProcess {
    try ChildProcess(
      [
        program("psql"), "-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", connection,
        "-f", "-",
      ], environment: ServerUser.environment, input: .text(sql))
  }

  /// Ends all client sessions except the superuser's, as an administrator may, and returns their
  /// number once they have ended.
  @discardableResult
  package func terminateSessions() async throws -> Int {
    let count = try await run(
      """
      SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 20000)) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND usename <> current_user
      """)
    return Int(count) ?? 0
  }

  // MARK: Starting and ending

  /// Ends the server normally: sessions end, and committed data is in the files.
  package func stop() async {
    await process.withLock { $0 }?.stop(SIGINT)
  }

  /// Kills all processes of the server at once, as the kernel does if memory runs out.
  package func kill() {
    process.withLock { $0 }?.kill()
  }

  /// Starts the server again on its port, and stops it first if it still runs.
  package func restart() async throws {
    await stop()
    try await launch()
  }

  /// Suspends all processes of the server.
  ///
  /// Connections stay open without answers.
  package func pause() {
    process.withLock { $0 }?.pause()
  }

  /// Continues the server after ``pause()``.
  package func resume() {
    process.withLock { $0 }?.resume()
  }

  /// Makes a standby an independent server that can write.
  package func promote() async throws {
    guard try await run("SELECT pg_promote()") == "t" else {
      throw ChildProcessError(message: "PostgreSQL: the standby was not promoted; its log: \(log)")
    }
  }

  /// Kills the server, and removes its files.
  package func close() {
    kill()
    // A killed server leaves a segment of shared memory that belongs to no process.
    if let words = lockFile.dropFirst(6).first?.split(separator: " "),
      let segment = words.last.flatMap({ Int32($0) })
    {
      shmctl(segment, IPC_RMID, nil)
    }
    try? FileManager.default.removeItem(atPath: folder.path)
  }

  /// The process IDs of the server.
  package var processIDs: [pid_t] { process.withLock { $0 }?.processIDs ?? [] }

  /// The content of the log since the last start.
  package var log: String { process.withLock { $0 }?.log ?? "" }

  private func launch() async throws {
    let process = try ServerProcess([Self.program("postgres"), "-D", "data"], in: folder) {
      hasSmallDisk
        ? SmallDisk.command($0, folder: folder.file("data/base"), megabytes: 64) : $0
    }
    self.process.withLock { $0 = process }
    try await process.isReady {
      let lines = lockFile
      // The file may still be that of a killed server.
      return lines.first == "\(process.processID)" && lines.count > 7
        && lines[7].hasPrefix("ready")
    }
  }

  /// The lines of the file in which the server writes its process and its state.
  private var lockFile: [Substring] {
    let path = folder.file("data/postmaster.pid")
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  // MARK: Files

  private func configure(_ certificates: Certificates?, primary: PostgreSQLServer?) throws {
    var values = [
      "listen_addresses": "127.0.0.1", "port": "\(port)",
      "unix_socket_directories": socketFolder, "shared_buffers": "16MB",
      // With `mmap`, dynamic shared memory is in the data folder, so a killed server leaves none
      // elsewhere.
      "dynamic_shared_memory_type": "mmap",
    ]
    if let certificates {
      for name in try FileManager.default.contentsOfDirectory(atPath: certificates.folder.path) {
        try ServerUser.write(try certificates.data(name), to: folder.file("data/\(name)"))
      }
      values.merge(
        [
          "ssl": "on", "ssl_cert_file": "server.pem", "ssl_key_file": "server.key",
          "ssl_ca_file": "ca.pem",
        ]) { $1 }
    }
    if let primary {
      values["primary_conninfo"] =
        "host=\(primary.socketFolder) port=\(primary.port) user=postgres application_name=\(name)"
      // The changes that were made on the primary server, for example the wait for its standbys,
      // must not apply to a standby.
      try ServerUser.write(Data(), to: folder.file("data/postgresql.auto.conf"))
      try ServerUser.write(Data(), to: folder.file("data/standby.signal"))
    }
    let lines = values.merging(settings) { $1 }.map { "\($0.key) = \(Self.quoted($0.value))\n" }
    try ServerUser.write(Data(lines.joined().utf8), to: folder.file("data/postgresql.conf"))
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("'", with: "''"))'"
  }
}
