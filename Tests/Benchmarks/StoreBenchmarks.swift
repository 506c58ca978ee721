import FoundationEssentials
import Glibc
import SQBasics
import SequencingOAuth
import SequencingOAuthSQLite

/// The costs of a store compared with the bare work of saving a token, and of many accounts
/// compared with few.
///
/// The files are in the temporary folder; the `fsync` of its disk limits the rate of saves.
struct StoreBenchmarks {
  let folder: String

  /// Creates the folder for the files.
  init() throws {
    let name = "sq-benchmark-\(UUID().uuidString)"
    folder = FileManager.default.temporaryDirectory.appending(path: name).path
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  func removeFiles() {
    try? FileManager.default.removeItem(atPath: folder)
  }

  func all() throws -> [Benchmark] {
    try fileSaves() + databaseSaves() + [databaseLoad(), Self.recordText()]
  }

  /// Returns a record with an access token of a typical length and a refresh token.
  static func record(_ id: String = "account 0", _ number: Int = 0) -> AccountRecord {
    let token = SQToken(
      accessToken: "\(number)." + String(repeating: "x", count: 1000),
      expirationDate: Date(timeIntervalSince1970: 2_000_000_000), scope: "demo",
      refreshToken: "\(number)." + String(repeating: "r", count: 100),
      issueDate: Date(timeIntervalSince1970: 1_900_000_000))
    return AccountRecord(
      id: id, clientID: "sandbox-app", issuer: "https://id.example",
      tokenEndpoint: "https://id.example/token", token: token, attributes: ["name": "Alice"])
  }

  // MARK: The text of a record

  /// Compares the SDK's encoding of a record with a `JSONEncoder` that writes the same bytes.
  private static func recordText() -> Benchmark {
    let record = record()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Benchmark(
      name: "record as JSON",
      peer: Benchmark.Peer(name: "JSONEncoder") {
        try await sample(2000) { for _ in 0..<2000 { _ = try encoder.encode(record) } }
      },
      subject: { try await sample(20_000) { for _ in 0..<20_000 { _ = try record.json() } } },
      aim: 4)
  }

  // MARK: Saves

  /// Compares a store's saves with the bare work on this thread, and on a thread that may wait.
  ///
  /// The second comparison includes the time to wake the task that waits for the other thread. Its
  /// rate is the limit for a store that blocks no thread of Swift's pool.
  private static func saves(
    _ count: Int, in store: any TokenStore, _ name: String, bare: String,
    _ save: @escaping @Sendable () throws -> Void
  ) -> [Benchmark] {
    let direct = Benchmark.Peer(name: bare) {
      try await sample(count) { for _ in 0..<count { try save() } }
    }
    let queue = BlockingQueue("benchmark")
    let queued = Benchmark.Peer(name: "\(bare), queue") {
      try await sample(count) {
        for _ in 0..<count { try await queue.run { Result(catching: save) }.get() }
      }
    }
    let subject: Benchmark.Run = { try await store.saves(count, of: 1) }
    return [
      Benchmark(name: name, peer: direct, subject: subject, aim: 0.8),
      Benchmark(name: name, peer: queued, subject: subject, aim: 0.9),
    ]
  }

  private func fileSaves() throws -> [Benchmark] {
    let value = try JSONEncoder().encode(Self.record())
    let bare = BareFile(folder: folder, size: value.count)
    return Self.saves(
      100, in: FileTokenStore(path: "\(folder)/tokens.json"), "durable save, file",
      bare: "bare calls", bare.save)
  }

  private func databaseSaves() throws -> [Benchmark] {
    let bare = try BareDatabase(
      path: "\(folder)/bare.sqlite", value: JSONEncoder().encode(Self.record()))
    // There are enough saves that SQLite's log has its final size after the first round.
    // Overwriting the log takes the disk half the time of growing it, and a program grows the log
    // only after its start.
    return Self.saves(
      1200, in: SQLiteTokenStore(path: "\(folder)/tokens.sqlite", key: nil), "durable save, SQLite",
      bare: "bare upsert", bare.save)
  }

  // MARK: Loads

  private static let loads = 5000

  private func databaseLoad() throws -> Benchmark {
    let few = FilledDatabase(folder: folder, count: 100)
    let many = FilledDatabase(folder: folder, count: 100_000)
    return Benchmark(
      name: "load, 100,000 accounts, SQLite",
      peer: Benchmark.Peer(name: "100 accounts") { try await few.loads(Self.loads) },
      subject: { try await many.loads(Self.loads) }, aim: 1 / 1.3)
  }
}
