import Foundation
import OAuthSandbox
import SQBasics
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Many callers with bound tokens at the same time, and the number of their requests.
@Suite("End to end: crowds with bound tokens", .serialized, .timeLimit(.minutes(5)))
struct BoundCrowdTests {
  /// An HTTP client that sends at most a hundred requests at a time.
  ///
  /// More simultaneous connections could fill a queue of the operating system. A request that waits
  /// here already has its DPoP proof.
  private final class Queue: HTTPTransport {
    private let transport = CurlTransport()
    private let state = Locked<(free: Int, waiting: [CheckedContinuation<Void, Never>])>((100, []))

    func send(_ request: WebRequest) async throws -> WebResponse {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          guard state.free > 0 else {
            state.waiting.append(continuation)
            return false
          }
          state.free -= 1
          return true
        }
        if isFree { continuation.resume() }
      }
      defer { leave() }
      return try await transport.send(request)
    }

    private func leave() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.free += 1
        return nil
      }
      next?.resume()
    }
  }

  private func signedIn() async throws -> BoundFixture {
    let bound = try await BoundFixture()
    bound.oauth.environment.transport = Queue()
    return try await bound.signedIn()
  }

  /// The number of callers.
  ///
  /// ThreadSanitizer sees the same accesses with fewer callers, and with a thousand callers a test
  /// would take minutes.
  private static let count = isSanitized ? 200 : 1_000

  /// Sends requests of all callers at the same time.
  private func crowd(_ bound: BoundFixture) async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<Self.count { group.addTask { try await bound.send().status } }
      for try await status in group { #expect(status == 200) }
    }
  }

  @Test func `after a nonce change, many callers repeat at most one request each`()
    async throws
  {
    let bound = try await signedIn()
    _ = try await bound.send()
    bound.outdateNonces()
    bound.sandbox.forgetRequests()
    try await crowd(bound)
    let nonces = bound.nonces(at: .me)
    #expect((Self.count + 1...2 * Self.count).contains(nonces.count))
    #expect(Set(nonces).count == 2, "the old nonce and the new one")
    #expect(nonces.count { $0 == bound.sandbox.proofNonce(of: .api) } == Self.count)
    #expect(bound.sandbox.requests(to: .token).isEmpty)
    try bound.audit()
  }

  @Test func `many callers with a refused token and an old nonce cause one refresh`()
    async throws
  {
    let bound = try await signedIn()
    _ = try await bound.send()
    bound.sandbox.expireAccessTokens()
    bound.outdateNonces()
    bound.sandbox.forgetRequests()
    try await crowd(bound)
    let token = bound.module.currentToken?.accessToken
    let requests = bound.sandbox.requests(to: .me)
    let fresh = requests.filter { $0.boundToken == token }
    #expect((Self.count + 1...2 * Self.count).contains(fresh.count))
    #expect(requests.count - fresh.count <= Self.count)
    #expect(bound.sandbox.requests(to: .token).count == 2, "one refresh, and one for its nonce")
    #expect(bound.sandbox.refreshTokenReuses == 0)
    try bound.audit()
  }
}
