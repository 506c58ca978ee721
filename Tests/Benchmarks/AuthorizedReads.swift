import FoundationEssentials
import SequencingOAuth
import SequencingOAuthPipes

/// Benchmarks of reads with a token, compared with Go's client and bare libcurl on the same server.
enum AuthorizedReads {
  static func all(_ server: ByteServer, _ go: GoPeer?) throws -> [Benchmark] {
    let url = try server.url
    let text = url.absoluteString
    let alone = "authorized read, one after the other"
    let together = "authorized read, 64 at once"
    return [
      Benchmark(
        name: alone, peer: .go(go) { try await $0.reads(4000, width: 1, url) },
        subject: { try await reads(url, 4000, width: 1) }, aim: 1),
      Benchmark(
        name: together, peer: .go(go) { try await $0.reads(12_000, width: 64, url) },
        subject: { try await reads(url, 12_000, width: 64) }, aim: 1),
      Benchmark(
        name: together, peer: .rawCurl { try await RawCurl.concurrent(text, 12_000, width: 64) },
        subject: { try await reads(url, 12_000, width: 64) }, aim: 0.9),
    ]
  }

  /// Returns a pipe with a valid token; the pipe's endpoint adds no path to the URL `base`.
  static func pipe(_ base: String) async throws -> Pipeline.Pipe {
    try pipe(base, try await module())
  }

  private static func pipe(
    _ base: String, _ module: AuthorizationModule
  ) throws -> Pipeline.Pipe {
    try Pipeline(base, module: module).add("files", PipeConfiguration(endpoint: ""))
  }

  /// Returns an account with a valid token.
  private static func module() async throws -> AuthorizationModule {
    let now = Date()
    let token = SQToken(
      accessToken: "access", expirationDate: now + 3600, refreshToken: "refresh", issueDate: now)
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-app", provider: .issuer("https://id.example")))
    try await module.environment.tokenStore.save(
      AccountRecord(
        id: module.accountID, clientID: "sandbox-app", issuer: "https://id.example", token: token))
    try await module.restore()
    return module
  }

  private static func reads(
    _ url: URL, _ count: Int, width: Int
  ) async throws -> Benchmark.Sample {
    try await reads(url, count, width: width, by: try await module())
  }

  /// Reads a resource with an account's token `count` times, and runs `work` before each read.
  static func reads(
    _ url: URL, _ count: Int, width: Int, by module: AuthorizationModule,
    after work: @escaping @Sendable () throws -> Void = {}
  ) async throws -> Benchmark.Sample {
    guard let host = url.host(), let port = url.port else { throw BenchmarkError("no URL") }
    let pipe = try pipe("http://\(host):\(port)", module)
    return try await sample(count) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<width {
          group.addTask {
            for _ in 0..<(count / width) {
              try work()
              _ = try await pipe.content(id: "data")
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
