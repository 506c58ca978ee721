import FoundationEssentials
import SQBasics
import SequencingOAuth
import SequencingOAuthPostgreSQL

/// The costs of the PostgreSQL store compared with bare statements, and of many accounts compared
/// with few.
///
/// The environment variable `DATABASE` has the server's address. Each commit waits for the disk.
struct DatabaseBenchmarks {
  private let address: String
  private let bare: BarePostgreSQL
  private let record: AccountRecord

  /// Returns `nil` if `DATABASE` is not set, or if no benchmark has `word` in its name.
  init?(word: String) throws {
    guard Self.names.contains(where: { word.isEmpty || $0.contains(word) }),
      let address = ProcessInfo.processInfo.environment["DATABASE"]
    else { return nil }
    self.address = address
    record = StoreBenchmarks.record()
    // The bare value is as large as a sealed record.
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
    return Benchmark(
      name: Self.names[0],
      peer: Benchmark.Peer(name: "bare libpq upsert") {
        try await sample(Self.saves) {
          for _ in 0..<Self.saves { try bare.save("alice") }
        }
      },
      subject: { try await store.saves(Self.saves, of: 1) }, aim: 1 / 1.3)
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
        return try await store.loads(Self.loads, of: 1)
      }, aim: 1 / 1.3)
  }

  // MARK: Many accounts

  func filled(_ schema: String, _ count: Int) -> FilledSchema {
    FilledSchema(store(schema), bare, schema: schema, count: count)
  }

  private func manyAccounts() -> [Benchmark] {
    let few = filled("few", 1000)
    let many = filled("many", 1_000_000)
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
}
