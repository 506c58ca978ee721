import FoundationEssentials
import SequencingOAuth

/// The SDK's HTTP client compared with raw libcurl, in the same process and at the same server.
enum HTTPBenchmarks {
  static func all(_ server: ByteServer) throws -> [Benchmark] {
    let url = try server.url
    let text = url.absoluteString
    return [
      Benchmark(
        name: "GET 1 KB, one after the other",
        peer: .rawCurl { try await RawCurl.sequential(text, 4000) },
        subject: { try await sequential(url, 4000) }, aim: 0.7),
      Benchmark(
        name: "GET 1 KB, 64 at once",
        peer: .rawCurl { try await RawCurl.concurrent(text, 12000, width: 64) },
        subject: { try await concurrent(url, 12000, width: 64) }, aim: 0.9),
    ]
  }

  private static func sequential(_ url: URL, _ count: Int) async throws -> Benchmark.Sample {
    let client = CurlTransport.shared
    return try await sample(count) {
      for _ in 0..<count { _ = try await client.send(WebRequest(url: url)) }
    }
  }

  static func concurrent(
    _ url: URL, _ count: Int, width: Int
  ) async throws -> Benchmark.Sample {
    let client = CurlTransport.shared
    return try await sample(count) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<width {
          group.addTask {
            for _ in 0..<(count / width) { _ = try await client.send(WebRequest(url: url)) }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
