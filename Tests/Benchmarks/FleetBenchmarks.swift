import CSQCurl
import FoundationEssentials
import Glibc
import SQBasics
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthPostgreSQL

/// Benchmarks of workers that share a database's accounts: how many tokens per second they renew.
///
/// The workers are compared with one bare loop of a POST and an upsert. The rows for more workers
/// show how the rate grows. All processes, the database and the token server share this machine's
/// cores, so one worker uses all cores if the token server answers without delay.
struct FleetBenchmarks {
  /// How far away the token server is.
  enum Distance: String, CaseIterable {
    case near
    /// Each answer takes 20 ms.
    case far

    var schema: String { "fleet_\(self)" }
    var accounts: Int { self == .near ? 20_000 : 4000 }
    /// The number of measured refreshes.
    var refreshes: Int { self == .near ? 2000 : 400 }
    /// The number of accounts that a worker renews at a time.
    var atOnce: Int { self == .near ? 16 : 4 }
  }

  private static func name(_ workers: Int, _ distance: Distance) -> String {
    "refreshes, \(workers) worker\(workers == 1 ? "" : "s"), \(distance) server"
  }

  private static let counts = [1, 2, 4]
  private static let memoryName = "memory of a worker"
  /// The number of refreshes before the measured ones.
  private static let first = 100

  private let address: String
  private let bare: BarePostgreSQL
  private let server: ByteServer
  private let distance: Distance

  /// Returns `nil` if `DATABASE` is not set, or if no benchmark has `word` in its name.
  init?(_ server: ByteServer, _ distance: Distance, word: String) async throws {
    let names = Self.counts.map { Self.name($0, distance) } + [Self.memoryName]
    guard names.contains(where: { $0.contains(word) }),
      let address = ProcessInfo.processInfo.environment["DATABASE"]
    else { return nil }
    self.address = address
    self.server = server
    self.distance = distance
    bare = try BarePostgreSQL(address, size: 1400)
    let (store, endpoint) = (Self.store(address, distance), try Self.endpoint(server, distance))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in 0..<16 {
        group.addTask {
          for number in stride(from: part, to: distance.accounts, by: 16) {
            try await store.save(
              AccountRecord(
                id: "account \(number)", clientID: "sandbox-app", tokenEndpoint: endpoint,
                token: StoreBenchmarks.record("").token))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func endpoint(_ server: ByteServer, _ distance: Distance) throws -> String {
    try (distance == .near ? server.tokenURL : server.farTokenURL).absoluteString
  }

  func all() -> [Benchmark] {
    Self.counts.map { row($0) } + [
      row(1, beside: Benchmark.Peer(name: "the same with a mark") { try await loop(marking: true) })
    ]
  }

  private func row(_ count: Int, beside peer: Benchmark.Peer? = nil) -> Benchmark {
    Benchmark(
      name: Self.name(count, distance),
      peer: peer ?? Benchmark.Peer(name: "one bare loop") { try await loop() },
      subject: { try await refreshes(by: count) })
  }

  /// Runs the bare loop; with `marking`, also saves a row before each POST, as the store does.
  ///
  /// Without that row on the disk, another host could send the same refresh token after a crash.
  private func loop(marking: Bool = false) async throws -> Benchmark.Sample {
    let easy = try RawCurl.handle(try Self.endpoint(server, distance))
    defer { curl_easy_cleanup(easy) }
    sq_set_text(
      easy, CURLOPT_COPYPOSTFIELDS,
      "grant_type=refresh_token&client_id=sandbox-app&refresh_token="
        + String(repeating: "r", count: 100))
    return try await sample(distance.refreshes) {
      for number in 0..<distance.refreshes {
        if marking { try bare.save("account \(number)") }
        guard curl_easy_perform(easy) == CURLE_OK else { throw BenchmarkError("no token") }
        try bare.save("account \(number)")
      }
    }
  }

  private func refreshes(by count: Int) async throws -> Benchmark.Sample {
    try makeDue(distance.accounts)
    let start = try server.posts
    let workers = try (0..<count).map { _ in try Worker(server, distance) }
    defer { workers.forEach { $0.stop() } }
    try await wait(for: start + Self.first)
    let first = try server.posts
    var sample = try await sample(distance.refreshes) {
      try await wait(for: first + distance.refreshes)
    }
    // The workers still run, so their processor time is unknown.
    sample.processorTime = nil
    return sample
  }

  private func makeDue(_ count: Int) throws {
    try bare.execute(
      """
      UPDATE \(distance.schema).accounts SET due = now() - interval '1 s'
      WHERE id = ANY (
        SELECT convert_to('account ' || n, 'UTF8') FROM generate_series(0, \(count - 1)) n)
      """)
    try bare.execute("VACUUM ANALYZE \(distance.schema).accounts")
  }

  private func wait(for posts: Int) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while try server.posts < posts {
      guard ContinuousClock.now < end else { throw BenchmarkError("too few refreshes in 120 s") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Prints a worker's memory after few and after many accounts.
  func reportMemory() async throws {
    var sizes: [Int] = []
    for count in [1000, distance.accounts] {
      try makeDue(count)
      let start = try server.posts
      let worker = try Worker(server, distance)
      defer { worker.stop() }
      try await wait(for: start + count)
      sizes.append(try worker.memory())
    }
    print(
      "\(Self.memoryName): \(sizes[0]) MB of its own after 1000 accounts, \(sizes[1]) MB after "
        + "\(distance.accounts)")
  }

  private static func store(_ address: String, _ distance: Distance) -> PostgreSQLTokenStore {
    PostgreSQLTokenStore(connection: address, key: .raw(Data(0..<32)), schema: distance.schema)
  }

  // MARK: Workers

  /// The argument that starts this program as a worker; the distance and the endpoint follow it.
  static let argument = "--keep"

  /// A process that keeps the accounts fresh until its input ends.
  private struct Worker {
    private let companion: Companion

    init(_ server: ByteServer, _ distance: Distance) throws {
      companion = try Companion(
        "/proc/self/exe",
        [FleetBenchmarks.argument, distance.rawValue, try endpoint(server, distance)])
    }

    /// Returns the process's own memory in megabytes.
    func memory() throws -> Int {
      try companion.write([0])
      return Int(try companion.read(atMost: 1)[0])
    }

    func stop() { companion.stop() }
  }

  /// Runs as a worker until the input ends.
  static func keep(_ distance: String, _ endpoint: String) async throws {
    guard let address = ProcessInfo.processInfo.environment["DATABASE"],
      let distance = Distance(rawValue: distance)
    else { return }
    let configuration = try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback",
      provider: .endpoints(authorization: endpoint, token: endpoint))
    let manager = AccountManager(store: store(address, distance))
    let keeper = manager.keepFresh(atOnce: distance.atOnce) { _ in configuration }
    await withCheckedContinuation { continuation in
      _ = Threads.start {
        var byte: UInt8 = 0
        while read(0, &byte, 1) > 0 {
          byte = UInt8(clamping: (try? Memory.megabytes("RssAnon:")) ?? 0)
          write(1, &byte, 1)
        }
        continuation.resume()
      }
    }
    // Without this stop, leases of unfinished renewals would block their accounts for the next
    // workers.
    await keeper.stop()
  }
}
