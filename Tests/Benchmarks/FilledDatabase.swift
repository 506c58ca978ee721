import SequencingOAuth
import SequencingOAuthSQLite

/// An SQLite database with many accounts, which is filled on first use.
actor FilledDatabase {
  private let path: String
  private let count: Int
  /// The number of rows that are valid records.
  ///
  /// The other rows are copies under other IDs, and only add to the size.
  private let real: Int
  private var store: SQLiteTokenStore?

  init(folder: String, count: Int) {
    path = "\(folder)/\(count).sqlite"
    self.count = count
    real = min(count, 100_000)
  }

  func saves(_ operations: Int) async throws -> Benchmark.Sample {
    try await filled().saves(operations, of: real)
  }

  func loads(_ operations: Int) async throws -> Benchmark.Sample {
    try await filled().loads(operations, of: real)
  }

  /// Loads pages of 100 accounts.
  func pages(_ operations: Int) async throws -> Benchmark.Sample {
    try await filled().pages(operations, of: 100)
  }

  private func filled() async throws -> SQLiteTokenStore {
    if let store { return store }
    let store = SQLiteTokenStore(path: path, key: nil)
    try await store.save(StoreBenchmarks.record("account 0"))
    // SQL inserts the rows, because the store would flush each save to the disk. The rows equal
    // those of `save`.
    for first in stride(from: 1, to: real, by: 1000) {
      let rows = try (first..<min(first + 1000, real)).map { number in
        let json = try StoreBenchmarks.record("account \(number)").json()
        let value = String(decoding: EmbeddedDigest.appended(to: json), as: UTF8.self)
        return "('account \(number)', CAST('\(value)' AS BLOB))"
      }
      try BareDatabase.execute(
        "INSERT INTO accounts (id, value) VALUES \(rows.joined(separator: ", "))", path: path)
    }
    // The ids of the copies lie between those of the real accounts.
    for first in stride(from: real, to: count, by: 10_000) {
      try BareDatabase.execute(
        """
        WITH RECURSIVE numbers(n) AS (
          SELECT \(first) UNION ALL
          SELECT n + 1 FROM numbers WHERE n + 1 < \(min(first + 10_000, count)))
        INSERT INTO accounts (id, value)
        SELECT 'account ' || (n % \(real)) || ' copy ' || n, value FROM numbers, accounts
        WHERE id = 'account 0'
        """, path: path)
    }
    self.store = store
    return store
  }
}
