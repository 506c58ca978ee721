import Foundation
import TestSupport

// The small disk of a server that was started with `hasSmallDisk`.
extension PostgreSQLServer {
  private var filler: String { folder.file("data/base/filler") }

  /// Fills the disk of the tables until less than a megabyte is left.
  package func fillDisk() async throws {
    // The checkpoint removes the files of dropped tables now, because a later removal would free
    // space.
    try await run("CHECKPOINT")
    let fill = "COPY (SELECT repeat('x', 8000) FROM generate_series(1, 100000)) TO '\(filler)'"
    do {
      try await run(fill)
    } catch {
      guard "\(error)".contains("No space left") else { throw error }
      return
    }
    throw ChildProcessError(message: "PostgreSQL: the disk is not small")
  }

  /// Frees the space on the disk again.
  package func freeDisk() async throws {
    try await run("COPY (SELECT 1 WHERE false) TO '\(filler)'")
  }
}
