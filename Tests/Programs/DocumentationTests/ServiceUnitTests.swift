import Foundation
import ProgramSupport
import TestSupport
import Testing

/// The systemd unit in the article about services: it is valid, and its stop timeout is long
/// enough.
@Suite(.requires(.systemd), .timeLimit(.minutes(1))) struct ServiceUnitTests {
  private let folder: TemporaryFolder
  /// The path of a copy of the unit, in which `/usr/bin/env` replaces the program.
  private let path: String
  private let unit: String
  private let article: String

  init() throws {
    article = try String(
      contentsOf: PackageSources.root.appending(
        path: "Sources/SequencingOAuthBackend/SequencingOAuthBackend.docc/AsAService.md"),
      encoding: .utf8)
    let block = try #require(article.firstMatch(of: /```ini\n([\s\S]*?)```/))
    unit = String(block.output.1)
    folder = try TemporaryFolder()
    path = folder.file("example.service")
    try unit.replacing("/usr/local/bin/sq-demo", with: "/usr/bin/env")
      .write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func analyze(_ words: String...) async throws -> ChildProcess.Result {
    try await ChildProcess.run(["systemd-analyze"] + words + [path])
  }

  @Test func `systemd accepts each line of the unit`() async throws {
    let result = try await analyze("verify", "--man=no", "--recursive-errors=no")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
  }

  /// The scale of systemd ends at 10, the score of a unit without the restrictions.
  ///
  /// The threshold 20 means 2.0.
  @Test func `systemd-analyze rates the unit's exposure as at most 2.0`() async throws {
    let result = try await analyze("security", "--offline=yes", "--threshold=20")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test func `the stop timeout is at least the sum of the times in the article's table`() throws {
    let table = try #require(
      article.firstMatch(of: /\| what is under way \| at most \|\n\|---\|---\|\n((?:\|.*\n)+)/)
    ).output.1
    let rows = table.split(separator: "\n")
    let times = try rows.map { row in
      let time = try #require(row.firstMatch(of: /\| (\d+) s\b[^|]*\|$/), "\(row)")
      return try #require(Int(time.output.1))
    }
    #expect(times.count >= 4)
    let timeout = try #require(unit.firstMatch(of: /TimeoutStopSec=(\d+)/)).output.1
    #expect(try #require(Int(timeout)) >= times.reduce(0, +), "\(times)")
    #expect(unit.contains("Type=exec\n"))
    for option in ["TimeoutStopSec=", "--stop-timeout ", "terminationGracePeriodSeconds: "] {
      #expect(article.contains("`\(option)\(timeout)`"), "\(option)")
    }
  }
}
