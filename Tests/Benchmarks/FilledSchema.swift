import SequencingOAuth
import SequencingOAuthPostgreSQL

/// A PostgreSQL schema with many accounts, which is filled on first use.
actor FilledSchema {
  private let store: PostgreSQLTokenStore
  private let bare: BarePostgreSQL
  private let schema: String
  private let count: Int
  /// The number of rows that can be decrypted.
  ///
  /// The other rows are copies under other IDs, and only add to the size.
  private let real: Int
  private var isFilled = false

  init(_ store: PostgreSQLTokenStore, _ bare: BarePostgreSQL, schema: String, count: Int) {
    self.store = store
    self.bare = bare
    self.schema = schema
    self.count = count
    real = min(count, 1000)
  }

  private func fill() async throws {
    guard !isFilled else { return }
    isFilled = true
    for number in 0..<real {
      try await store.save(StoreBenchmarks.record("account \(number)"))
    }
    // The ids of the copies lie between those of the real accounts.
    try bare.execute(
      """
      INSERT INTO \(schema).accounts (id, version, key_number, value, server, due)
      SELECT convert_to('account ' || n % \(real) || ' copy ' || n, 'UTF8'), 1, 1, a.value,
        a.server, now() + n * interval '1 minute'
      FROM \(schema).accounts a, generate_series(1, \(count - real)) n
      WHERE a.id = convert_to('account 0', 'UTF8')
      """)
    try bare.execute("VACUUM ANALYZE \(schema).accounts")
    // Without a checkpoint here, the server would write these rows to the disk during the next
    // measurement.
    try bare.execute("CHECKPOINT")
  }

  func saves(_ operations: Int) async throws -> Benchmark.Sample {
    try await fill()
    return try await store.saves(operations, of: real)
  }

  func loads(_ operations: Int) async throws -> Benchmark.Sample {
    try await fill()
    return try await store.loads(operations, of: real)
  }

  /// Takes accounts whose refresh is due, one after another.
  func dues(_ operations: Int) async throws -> Benchmark.Sample {
    try await fill()
    try bare.execute(
      """
      UPDATE \(schema).accounts SET due = now() - interval '1 s'
      WHERE id = ANY (SELECT convert_to('account ' || n, 'UTF8') FROM generate_series(0, 999) n)
      """)
    try bare.execute("VACUUM \(schema).accounts")
    let store = store
    return try await sample(operations) {
      for _ in 0..<operations {
        guard try await store.take(atMost: 1, for: .seconds(3600)).accounts.count == 1 else {
          throw BenchmarkError("no account is due")
        }
      }
    }
  }
}
