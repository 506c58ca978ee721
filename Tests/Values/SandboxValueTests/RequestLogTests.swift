import FoundationEssentials
import SQLoopback
import Testing

@testable import OAuthSandbox

/// The limits of the sandbox's log of requests.
@Suite(.timeLimit(.minutes(1))) struct RequestLogTests {
  private let log = RequestLog()

  private static func request(_ target: String, body: Data = Data()) -> SandboxRequest {
    SandboxRequest(
      LoopbackRequest(
        method: "POST", target: target,
        headers: [("content-type", "application/x-www-form-urlencoded")], body: body),
      date: Date(timeIntervalSince1970: 0))
  }

  private func add(_ request: SandboxRequest) {
    log.begin(request.remembered)
    log.end(request)
  }

  @Test func `the log keeps the newest requests, and counts all of them`() async throws {
    let count = RequestLog.mostRequests + 1
    for number in 1...count { add(Self.request("/token?\(number)")) }
    let kept = log.requests(to: .token)
    #expect(kept.count == count - RequestLog.mostRequests / 10)
    #expect(kept.last?.query.first?.name == "\(count)")
    #expect(kept.first?.query.first?.name == "\(count - kept.count + 1)")
    #expect(try await log.wait(for: count, to: .token).count == kept.count)
    log.clear()
    add(Self.request("/token"))
    #expect(try await log.wait(for: 1, to: .token).count == 1)
  }

  @Test func `the log keeps the newest bodies up to a limit, and all requests`() {
    let request = Self.request("/token", body: Data(repeating: UInt8(ascii: "a"), count: 1 << 20))
    let fitting = RequestLog.mostBodyBytes / request.bodyLength
    for _ in 0..<fitting + 3 { add(request) }
    let kept = log.requests(to: .token)
    #expect(kept.map(\.bodyLength) == Array(repeating: 1 << 20, count: fitting + 3))
    #expect(kept.map(\.body.isEmpty) == kept.indices.map { $0 < 3 })
    #expect(kept.map(\.form.isEmpty) == kept.indices.map { $0 < 3 })
  }

  @Test func `the log does not keep a body of more than 1 MiB`() {
    add(Self.request("/drive/v2/files", body: Data(count: (1 << 20) + 1)))
    #expect(log.requests.first?.body.isEmpty == true)
    #expect(log.requests.first?.bodyLength == (1 << 20) + 1)
  }
}
