import ProgramSupport
import SQBasics
import TestSupport
import Testing

@testable import SequencingOAuthSQLite

/// How the log is emptied while other programs use the database.
@Suite(.timeLimit(.minutes(1))) struct SQLiteLogTests {
  /// SQLite would copy the log without the write lock.
  @Test func `while another program writes, the log is not copied into the database`() async throws
  {
    let files = try SQLiteFolder()
    try await files.fill([record("a")])
    let table = try AccountTable(path: files.path, key: nil, waitingUntil: .now + .seconds(30))
    try table.put(record("b"))
    let writer = try await files.holder("BEGIN IMMEDIATE")
    let before = try await Self.digest(files)
    try table.emptyLog(attempts: 3)
    #expect(table.logHoldsErased)
    #expect(try await Self.digest(files) == before)
    await writer.stop()
    try table.emptyLog()
    #expect(!table.logHoldsErased)
    #expect(try await Self.digest(files) != before)
  }

  /// Returns a digest of the database without its log.
  ///
  /// If this process read the file, the locks of the open database would end.
  private static func digest(_ files: SQLiteFolder) async throws -> String {
    let result = try await ChildProcess.run(["sha256sum", files.path])
    try #require(result.status == 0, "\(result.errors)")
    return result.output
  }
}
