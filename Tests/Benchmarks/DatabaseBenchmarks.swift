import FoundationEssentials
import SequencingOAuth
import SequencingOAuthPostgreSQL

/// What the PostgreSQL store adds to bare statements, and what many accounts add to few.
///
/// The server is the one in `DATABASE`; each commit waits for the disk.
struct DatabaseBenchmarks {
  private let address: String
  private let bare: BarePostgreSQL
  private let record: AccountRecord

  /// `nil` without a server, or if no row has the word.
  init?(word: String) throws {
    guard Self.names.contains(where: { word.isEmpty || $0.contains(word) }),
      let address = ProcessInfo.processInfo.environment["DATABASE"]
    else { return nil }
    self.address = address
    record = StoreBenchmarks.record("alice")
    // As large as a sealed record.
    bare = try BarePostgreSQL(address, size: JSONEncoder().encode(record).count + 40)
  }

  private static let names = [
    "durable save, PostgreSQL", "64 saves at once, PostgreSQL", "load, PostgreSQL",
    "load, 1,000,000 accounts, PostgreSQL", "due, 1,000,000 accounts, PostgreSQL",
  ]

  func all() -> [Benchmark] { [save(), manySaves(), load()] + manyAccounts() }

  private func store(_ schema: String, connections: Int = 4) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(
      connection: address, key: .raw(Data(0..<32)), schema: schema, connections: connections)
  }

  // MARK: Saves

  private static let saves = 200

  private func save() -> Benchmark {
    let (store, bare) = (store("saves"), bare)
    let records = (0..<Self.saves).map { StoreBenchmarks.record("alice", $0) }
    return Benchmark(
      name: Self.names[0],
      peer: Benchmark.Peer(name: "bare libpq upsert") {
        try await sample(Self.saves) {
          for _ in 0..<Self.saves { try bare.save("alice") }
        }
      },
      subject: {
        try await sample(Self.saves) {
          for record in records { try await store.save(record) }
        }
      }, aim: 1 / 1.3)
  }

  private static let manySaves = 3200
  private static let atOnce = 64

  private func manySaves() -> Benchmark {
    let store = store("many_saves", connections: Self.atOnce)
    let records = (0..<Self.atOnce).map { account in
      (0..<Self.manySaves / Self.atOnce).map { StoreBenchmarks.record("account \(account)", $0) }
    }
    let program = ProcessInfo.processInfo.environment["PGBENCH"]
    let bench = PGBench(program: program ?? "", address: address, value: bare.size)
    let peer: Benchmark.Run = { try bench.saves(Self.manySaves, atOnce: Self.atOnce) }
    return Benchmark(
      name: Self.names[1],
      peer: Benchmark.Peer(name: "pgbench", run: program == nil ? nil : peer),
      subject: {
        try await sample(Self.manySaves) {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for records in records {
              group.addTask {
                for record in records { try await store.save(record) }
              }
            }
            try await group.waitForAll()
          }
        }
      }, aim: 0.8)
  }

  // MARK: Loads

  private static let loads = 5000

  private func load() -> Benchmark {
    let (store, bare, record) = (store("loads"), bare, record)
    return Benchmark(
      name: Self.names[2],
      peer: Benchmark.Peer(name: "bare libpq select") {
        try bare.save("alice")
        return try await sample(Self.loads) {
          for _ in 0..<Self.loads { try bare.load("alice") }
        }
      },
      subject: {
        try await store.save(record)
        return try await sample(Self.loads) {
          for _ in 0..<Self.loads { _ = try await store.load("alice") }
        }
      }, aim: 1 / 1.3)
  }

  // MARK: Many accounts

  private func manyAccounts() -> [Benchmark] {
    let few = Accounts(store("few"), bare, schema: "few", count: 1000)
    let many = Accounts(store("many"), bare, schema: "many", count: 1_000_000)
    return [
      Benchmark(
        name: Self.names[3],
        peer: Benchmark.Peer(name: "1,000 accounts") { try await few.loads(Self.loads) },
        subject: { try await many.loads(Self.loads) }, aim: 1 / 1.3),
      Benchmark(
        name: Self.names[4],
        peer: Benchmark.Peer(name: "1,000 accounts") { try await few.dues(200) },
        subject: { try await many.dues(200) }, aim: 1 / 1.3),
    ]
  }

  /// A schema with so many accounts, which is filled when it is first used.
  private actor Accounts {
    private let store: PostgreSQLTokenStore
    private let bare: BarePostgreSQL
    private let schema: String
    private let count: Int
    private var isFilled = false

    /// How many of the rows can be opened; the others are copies, which are only in the way.
    private static let real = 1000

    init(_ store: PostgreSQLTokenStore, _ bare: BarePostgreSQL, schema: String, count: Int) {
      self.store = store
      self.bare = bare
      self.schema = schema
      self.count = count
    }

    private func fill() async throws {
      guard !isFilled else { return }
      isFilled = true
      for number in 0..<Self.real {
        try await store.save(StoreBenchmarks.record("account \(number)"))
      }
      // The ids of the copies lie between the others.
      try bare.execute(
        """
        INSERT INTO \(schema).accounts (id, version, key_number, value, server, due)
        SELECT convert_to('account ' || n % 1000 || ' copy ' || n, 'UTF8'), 1, 1, a.value,
          a.server, now() + n * interval '1 minute'
        FROM \(schema).accounts a, generate_series(1, \(count - Self.real)) n
        WHERE a.id = convert_to('account 0', 'UTF8')
        """)
      try bare.execute("VACUUM ANALYZE \(schema).accounts")
    }

    func loads(_ operations: Int) async throws -> Benchmark.Sample {
      try await fill()
      let store = store
      return try await sample(operations) {
        for number in 0..<operations {
          guard try await store.load("account \(number * 7919 % Self.real)") != nil else {
            throw BenchmarkError("an account is not there")
          }
        }
      }
    }

    /// Takes one account that is due after the other.
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
}
