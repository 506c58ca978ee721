import Foundation
import TestSupport

/// The files of a new database, which are created once.
///
/// Each server of the test process gets a copy.
final class PostgreSQLTemplate: Sendable {
  private static let shared = Task { try await PostgreSQLTemplate() }
  private let folder: TemporaryFolder
  /// A process that removes the folder when the test process ends: objects are not released then.
  private let remover: ChildProcess

  private init() async throws {
    folder = try ServerUser.folder()
    remover = try ChildProcess(
      ["sh", "-c", "trap '' INT TERM; cat >/dev/null; rm -rf \"$0\"", folder.path], input: .open)
    try await ServerUser.run(
      [
        PostgreSQLServer.program("initdb"), "-D", "data", "-U", "postgres", "-A", "trust",
        "--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C.UTF-8",
        // Small segments of the log make a copy small.
        "--wal-segsize=1",
      ], in: folder)
    let access = """
      local all postgres trust
      local replication postgres trust
      host all all 127.0.0.1/32 scram-sha-256

      """
    try ServerUser.write(Data(access.utf8), to: folder.file("data/pg_hba.conf"))
    try await run(
      """
      CREATE DATABASE tests;
      CREATE ROLE app LOGIN PASSWORD '\(PostgreSQLServer.password)';
      GRANT CREATE ON DATABASE tests TO app;
      UPDATE pg_database SET datistemplate = false;

      """, in: "postgres")
    // Without the databases that initdb creates, a copy has a third of the size.
    try await run(
      """
      DROP DATABASE template0;
      DROP DATABASE template1;
      DROP DATABASE postgres;

      """, in: "tests")
  }

  /// Runs SQL without a server.
  ///
  /// Each line is a statement.
  private func run(_ sql: String, in database: String) async throws {
    try await ServerUser.run(
      [
        PostgreSQLServer.program("postgres"), "--single", "-D", "data",
        "-c", "exit_on_error=on", "-c", "fsync=off", database,
      ], in: folder, input: .text(sql))
  }

  /// Copies the files into a server's folder.
  static func copy(to folder: TemporaryFolder) async throws {
    try await ServerUser.run(
      ["cp", "-a", "--reflink=auto", try await shared.value.folder.file("data"), "data"],
      in: folder)
  }
}
