import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Many requests on one HTTP/2 connection, and connections that end during requests.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxHTTP2Tests {
  /// Sends `count` requests, `width` at a time, and returns how often each status was returned.
  private func statuses(
    _ count: Int, atOnce width: Int, _ fixture: NginxFixture,
    _ makeRequest: (Int) throws -> WebRequest
  ) async throws -> [Int: Int] {
    var rest = try (0..<count).map(makeRequest)[...]
    return try await withThrowingTaskGroup(of: Int.self) { group in
      var result: [Int: Int] = [:]
      func start() {
        guard let request = rest.popFirst() else { return }
        group.addTask { try await fixture.module.send(request).status }
      }
      for _ in 0..<width { start() }
      while let status = try await group.next() {
        result[status, default: 0] += 1
        start()
      }
      return result
    }
  }

  @Test(.ownThreads) func `500 requests, 64 at a time, use one connection`() async {
    // A separate process: connections of other tests could push out a kept connection.
    await #expect(processExitsWith: .success) {
      let tests = NginxHTTP2Tests()
      try await NginxFixture.running { fixture in
        try fixture.write(pattern(20_000), "files/a.bin")
        let result = try await tests.statuses(500, atOnce: 64, fixture) { _ in
          try fixture.request("GET", "/files/a.bin", .http2)
        }
        #expect(result == [200: 500])
        let requests = try await fixture.nginx.requests()
        #expect(requests.count == 500 && requests.allSatisfy { $0.protocol == "HTTP/2.0" })
        #expect(Set(requests.map(\.connection)).count == 1)
        #expect(requests.allSatisfy { $0.isAuthorized && $0.isComplete })
      }
    }
  }

  @Test(arguments: ["GET", "POST"])
  func `all requests succeed although connections end after fifty requests`(
    method: String
  ) async throws {
    try await NginxFixture.running(requestsPerConnection: 50) { fixture in
      let result = try await statuses(1000, atOnce: 20, fixture) { _ in
        try fixture.request(method, "/nothing", .http2)
      }
      #expect(result == [204: 1000])
      let requests = try await fixture.nginx.requests(atLeast: 1000)
      #expect(requests.count == 1000, "a request was processed twice")
      #expect(Set(requests.map(\.connection)).count >= 20)
    }
  }

  @Test func `40 bodies uploaded at the same time arrive unchanged`() async throws {
    let content = pattern(300_000)
    try await NginxFixture.running { fixture in
      let result = try await statuses(40, atOnce: 40, fixture) { index in
        try fixture.request("PUT", "/files/\(index).bin", .http2, body: .bytes(content))
      }
      #expect(result == [201: 40])
      for index in 0..<40 {
        #expect(try Data(contentsOf: fixture.nginx.file("files/\(index).bin")) == content)
      }
    }
  }
}
