import FoundationEssentials
import SQBasics
import SequencingOAuth

/// The cost of reading and getting a token, compared with Go's `golang.org/x/oauth2`.
enum TokenBenchmarks {
  static func all(_ server: ByteServer, _ go: GoPeer?) throws -> [Benchmark] {
    let url = try server.tokenURL
    let subject: Benchmark.Run = { try await tokenRequests(url, 1000) }
    let post = RawCurl.Post(url: url.absoluteString, body: credentials)
    let rows = [
      tokenRequest(.rawCurl { try await RawCurl.posts(post, 1000) }, subject, aim: 0.9),
      tokenRequest(.go(go) { try await $0.tokenRequests(1000, url) }, subject, aim: 1),
      validTokenRead(go) { try await validTokens() },
      try failingStorm(server, go) { try await storm($0, callers, fails: true) },
    ]
    return rows + (try storms(server, go) { try await storm($0, callers) })
  }

  private static func tokenRequest(
    _ peer: Benchmark.Peer, _ subject: @escaping Benchmark.Run, aim: Double
  ) -> Benchmark {
    Benchmark(name: "client credentials grant", peer: peer, subject: subject, aim: aim)
  }

  static let credentials =
    "grant_type=client_credentials&client_id=sandbox-service&client_secret=sandbox-secret"

  /// Makes complete grants: each sends the request, reads the answer, and keeps the token in the
  /// store and in memory.
  ///
  /// If `client` is given, it answers the requests.
  static func tokenRequests(
    _ url: URL, _ count: Int, by client: (any HTTPTransport)? = nil
  ) async throws -> Benchmark.Sample {
    let module = try serviceModule(url)
    if let client { module.environment.transport = client }
    return try await sample(count) {
      for _ in 0..<count { _ = try await module.requestAccessTokenAsClient() }
    }
  }

  /// Returns a module for the client that the ``credentials`` name.
  static func serviceModule(_ url: URL) throws -> AuthorizationModule {
    try module(url, secret: "sandbox-secret")
  }

  private static func module(_ url: URL, secret: String? = nil) throws -> AuthorizationModule {
    AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-service", clientSecret: secret,
        redirectURI: "http://127.0.0.1/callback",
        provider: .endpoints(
          authorization: url.absoluteString, token: url.absoluteString),
        clientAuthentication: secret == nil ? nil : .post))
  }

  private static func module(
    _ url: URL, holding token: SQToken
  ) async throws -> AuthorizationModule {
    let module = try module(url)
    try await module.environment.tokenStore.save(
      AccountRecord(id: module.accountID, clientID: "sandbox-service", token: token))
    try await module.restore()
    return module
  }

  private static func validTokens() async throws -> Benchmark.Sample {
    let now = Date()
    let token = SQToken(
      accessToken: "access", expirationDate: now + 3600, refreshToken: "refresh", issueDate: now)
    guard let url = URL(string: "https://id.example") else { throw BenchmarkError("no URL") }
    let module = try await module(url, holding: token)
    return try await sample(reads) {
      for _ in 0..<reads {
        guard module.validToken != nil else { throw BenchmarkError("no valid token") }
      }
    }
  }

  /// Lets many callers ask for an expired token; the sample ends when each has a token or has
  /// failed.
  static func storm(
    _ url: URL, _ callers: Int, fails: Bool = false
  ) async throws -> Benchmark.Sample {
    let now = Date()
    let token = SQToken(
      accessToken: "access", expirationDate: now - 1, refreshToken: "refresh",
      issueDate: now - 3600)
    let module = try await module(url, holding: token)
    return try await sample(1) {
      // Each caller is a separate task, as in an app. A task group would search its list for each
      // task.
      let tasks = (0..<callers).map { _ in Task { (try? await module.token()) == nil } }
      var failures = 0
      for task in tasks where await task.value { failures += 1 }
      guard failures == (fails ? callers : 0) else {
        throw BenchmarkError("\(failures) of \(callers) callers failed")
      }
    }
  }

  // MARK: Measurements with a session

  /// How often a valid token is read for a sample.
  static let reads = 2_000_000

  /// Measures reads of a valid token; the subject must read it ``reads`` times.
  static func validTokenRead(_ go: GoPeer?, subject: @escaping Benchmark.Run) -> Benchmark {
    Benchmark(
      name: "read of a valid token", peer: .go(go) { try await $0.validTokens(reads) },
      subject: subject, aim: 1)
  }

  /// The number of callers that ask for the token at the same time.
  static let callers = 1000

  /// Measures callers that all find the token expired: one request must be enough for all of them.
  ///
  /// The subject gets the address of the token endpoint, and lets ``callers`` callers ask for the
  /// token. It returns one operation, and the time until the last caller has the token.
  static func storms(
    _ server: ByteServer, _ go: GoPeer?,
    subject: @escaping @Sendable (URL) async throws -> Benchmark.Sample
  ) throws -> [Benchmark] {
    let url = try server.slowTokenURL
    let name = "\(callers) callers, token expired"
    let once: Benchmark.Run = { try await countingOnePost(server) { try await subject(url) } }
    let post = RawCurl.Post(url: url.absoluteString, body: refresh)
    return [
      Benchmark(
        name: name,
        peer: Benchmark.Peer(name: "1 bare POST") { try await RawCurl.posts(post, 1) },
        subject: once, aim: 0.9),
      Benchmark(
        name: name,
        peer: Benchmark.Peer(name: "1 bare POST, bare tasks") {
          try await BareStorm(callers).run(post)
        }, subject: once),
      Benchmark(
        name: name,
        peer: .go(go) { go in
          try await countingOnePost(server) { try await go.storm(callers, url) }
        }, subject: once, aim: 1),
    ]
  }

  /// Measures callers that all find the token expired while the server fails: one request for all.
  ///
  /// The subject is as in ``storms(_:_:subject:)``, but every caller must fail. Go sends a request
  /// for each caller.
  static func failingStorm(
    _ server: ByteServer, _ go: GoPeer?,
    subject: @escaping @Sendable (URL) async throws -> Benchmark.Sample
  ) throws -> Benchmark {
    let url = try server.failingURL
    return Benchmark(
      name: "\(callers) callers, server failing",
      peer: .go(go) { try await $0.storm(callers, url, fails: true) },
      subject: { try await countingOnePost(server) { try await subject(url) } })
  }

  private static let refresh =
    "grant_type=refresh_token&refresh_token=refresh&client_id=sandbox-app"

  static func countingOnePost(
    _ server: ByteServer, _ work: () async throws -> Benchmark.Sample
  ) async throws -> Benchmark.Sample {
    let before = try server.posts
    let sample = try await work()
    let posts = try server.posts - before
    guard posts == 1 else { throw BenchmarkError("\(posts) token requests instead of one") }
    return sample
  }
}
