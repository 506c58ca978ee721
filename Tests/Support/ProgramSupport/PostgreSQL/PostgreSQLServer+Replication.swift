import TestSupport

extension PostgreSQLServer {
  /// The name that a standby uses to connect to its primary server.
  var name: String { "standby_\(port)" }

  func copy(_ primary: PostgreSQLServer) async throws {
    try await ServerUser.run(
      [
        Self.program("pg_basebackup"), "-D", "data", "-h", primary.socketFolder,
        "-p", "\(primary.port)", "-U", "postgres", "-c", "fast", "--no-sync",
      ], in: folder)
  }

  func waitForCommits(of standby: PostgreSQLServer) async throws {
    try await run("ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf()")
    try await eventually("the standby has all commits") {
      try await run(
        """
        SELECT sync_state IN ('sync', 'potential') FROM pg_stat_replication
        WHERE application_name = '\(standby.name)' AND state = 'streaming'
        """) == "t"
    }
  }
}
