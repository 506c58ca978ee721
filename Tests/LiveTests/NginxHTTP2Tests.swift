import Foundation
import SequencingOAuth
import TestSupport
import Testing

/// Many requests on one connection of HTTP/2, and connections that end under them.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxHTTP2Tests {
  /// Sends so many requests at once, and returns their statuses.
  private func statuses(
    _ count: Int, _ bench: NginxBench, _ makeRequest: (Int) throws -> HTTPRequest
  ) async throws -> [Int: Int] {
    let requests = try (0..<count).map(makeRequest)
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for request in requests {
        group.addTask { try await bench.module.send(request).status }
      }
      return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
  }

  @Test func `500 requests go over one connection`() async throws {
    try await NginxBench.running { bench in
      try bench.write(NginxBench.bytes(20_000), "files/a.bin")
      let result = try await statuses(500, bench) { _ in
        try bench.request("GET", "/files/a.bin", .http2)
      }
      #expect(result == [200: 500])
      let requests = try await bench.nginx.requests()
      #expect(requests.count == 500 && requests.allSatisfy { $0.protocol == "HTTP/2.0" })
      #expect(Set(requests.map(\.connection)).count == 1)
      #expect(requests.allSatisfy { $0.isAuthorized && $0.isComplete })
    }
  }

  @Test func `where a connection ends after ten requests, 200 still get their answers`()
    async throws
  {
    try await NginxBench.running(requestsPerConnection: 10) { bench in
      try bench.write(NginxBench.bytes(20_000), "files/a.bin")
      let result = try await statuses(200, bench) { _ in
        try bench.request("GET", "/files/a.bin", .http2)
      }
      #expect(result == [200: 200])
      let requests = try await bench.nginx.requests(atLeast: 200)
      #expect(requests.count == 200)
      #expect(Set(requests.map(\.connection)).count >= 20)
    }
  }

  @Test func `bodies go up side by side`() async throws {
    let content = NginxBench.bytes(300_000)
    try await NginxBench.running { bench in
      let result = try await statuses(40, bench) { index in
        try bench.request("PUT", "/files/\(index).bin", .http2, body: .bytes(content))
      }
      #expect(result == [201: 40])
      for index in 0..<40 {
        #expect(try Data(contentsOf: bench.nginx.file("files/\(index).bin")) == content)
      }
    }
  }
}
