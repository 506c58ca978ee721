import FoundationEssentials
import SequencingOAuth

/// The costs of a client credentials grant in addition to its POST, part by part.
///
/// Nothing inside the SDK is timed. Each part is the time of a whole run, or the difference between
/// the times of two runs.
enum GrantParts {
  static let name = "parts of a grant"
  private static let count = 4000

  /// Measures the runs in turn and prints the parts in microseconds.
  static func report(_ server: ByteServer) async throws {
    let url = try server.tokenURL
    let post = RawCurl.Post(url: url.absoluteString, body: TokenBenchmarks.credentials)
    let canned = CannedClient(try await CurlTransport.shared.send(request(url)))
    let ways: [Benchmark.Run] = [
      { try await RawCurl.posts(post, count) },
      { try await posts(url) },
      { try await TokenBenchmarks.tokenRequests(url, count) },
      { try await TokenBenchmarks.tokenRequests(url, count, by: canned) },
      { try await exchanges(url, by: canned) },
    ]
    let times = try await secondsInTurns(ways).map { 1e6 * $0 }
    let (bare, sent, whole, answered, read) = (times[0], times[1], times[2], times[3], times[4])
    print(
      "\(name): \(Table.fixed(whole)) µs. Its POST alone takes the client \(Table.fixed(sent)) µs, and "
        + "libcurl \(Table.fixed(bare)); to make the request and to read and check its answer "
        + "\(Table.fixed(read)); to store the token and to tell of it \(Table.fixed(answered - read))"
    )
  }

  /// Returns the request of the grant.
  private static func request(_ url: URL) -> WebRequest {
    var request = WebRequest(url: url)
    request.method = "POST"
    request.headers["Accept"] = "application/json"
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    request.headers["Cache-Control"] = "no-store"
    request.body = .bytes(Data(TokenBenchmarks.credentials.utf8))
    return request
  }

  /// Sends the POST with the SDK's HTTP client, and nothing else.
  private static func posts(_ url: URL) async throws -> Benchmark.Sample {
    let request = request(url)
    return try await sample(count) {
      for _ in 0..<count { _ = try await CurlTransport.shared.send(request) }
    }
  }

  /// Requests, reads and checks tokens as in a grant, but does not store them.
  private static func exchanges(
    _ url: URL, by client: CannedClient
  ) async throws -> Benchmark.Sample {
    let module = try TokenBenchmarks.serviceModule(url)
    module.environment.transport = client
    _ = try await module.requestAccessTokenAsClient()
    let exchange = TokenExchange()
    return try await sample(count) {
      for _ in 0..<count { _ = try await module.exchangeToken(exchange) }
    }
  }
}

/// An HTTP client that answers every request at once with the same response to a token exchange.
private struct CannedClient: HTTPTransport {
  private let answer: WebResponse

  init(_ answer: WebResponse) {
    let kind = #","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}"#
    var answer = answer
    answer.body = answer.body.dropLast() + Data(kind.utf8)
    self.answer = answer
  }

  func send(_ request: WebRequest) async -> WebResponse { answer }
}
