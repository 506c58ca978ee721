import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import Testing

@testable import LoopbackSupport

/// Accounts of the SDK whose tokens are bound to a key, and the server that checks their proofs.
@Suite(.timeLimit(.minutes(1))) struct BoundAccountTests {
  /// Signs an account in, and runs `body` with a channel that carries its token.
  private func running(
    _ change: (inout SandboxDPoPOptions) -> Void = { _ in },
    _ body: (BoundFixture, SandboxGRPCServer, RPCChannel) async throws -> Void
  ) async throws {
    var options = BoundFixture.strict
    change(&options.dpop)
    let bound = try await BoundFixture(.public, options).signedIn()
    try await Fixture.running(on: bound.sandbox) { fixture in
      try await body(bound, fixture.server, try fixture.channel(.account(bound.module)))
    }
  }

  /// Makes unary calls, which must return the user.
  private func ask(_ channel: RPCChannel, times: Int = 1) async throws {
    for _ in 0..<times {
      let response = try await channel.call(Method.unaryCall, request: everything).response()
      #expect(try Answer(response).user == "alice")
    }
  }

  /// Makes a stream, which must have all of its messages.
  private func listen(_ channel: RPCChannel) async throws {
    let request = streamRequest(Array(repeating: (1, 100), count: 20))
    let call = try channel.call(Method.stream, request: request, kind: .serverStreaming)
    var count = 0
    for try await _ in call.messages { count += 1 }
    #expect(count == 20)
  }

  @Test func `an observer receives an event for each attempt of a call, and its fields are sent`()
    async throws
  {
    let events = Locked<[ClientEvent]>([])
    let observer = ClientObserver(requestFields: { begin in
      ["traceparent": "00-\(begin.operation ?? 0)"]
    }) { event in
      guard case .request(let request) = event.subject, request.purpose == .resource else { return }
      events.withLock { $0.append(event) }
    }
    try await running { bound, server, channel in
      bound.module.environment.observer = observer
      try await ask(channel)
      await observer.flush()
      let numbers = events.withLock { $0.filter { $0.phase == .begin }.compactMap(\.operation) }
      #expect(numbers.count == 2)
      #expect(server.calls.map { $0.metadata("traceparent") } == numbers.map { "00-\($0)" })
      let ends = events.withLock { $0.map(\.phase) }.compactMap { phase -> String? in
        guard case .end(_, let error) = phase else { return nil }
        return error?.rawValue ?? "ok"
      }
      #expect(ends == ["grpc_unauthenticated", "ok"])
    }
  }

  @Test func `a call is repeated with the server's DPoP nonce, and later calls have the nonce`()
    async throws
  {
    try await running { bound, server, channel in
      try await ask(channel, times: 2)
      try await listen(channel)
      let nonce = bound.sandbox.proofNonce(of: .api)
      #expect(server.calls.map { $0.proof?.nonce } == [nil, nonce, nonce, nonce])
      #expect(Set(server.calls.map { $0.proof?.id }).count == 4)
      #expect(Set(server.calls.map { $0.proof?.keyThumbprint }).count == 1)
      bound.outdateNonces()
      try await ask(channel)
      #expect(
        server.calls.suffix(2).map { $0.proof?.nonce } == [
          nonce, bound.sandbox.proofNonce(of: .api),
        ])
    }
  }

  @Test func `a new nonce in a successful response is used in the next call`() async throws {
    let change = { (options: inout SandboxDPoPOptions) in
      options.offersNonceInEveryAnswer = true
      options.renewsNonceAfterSuccess = true
    }
    try await running(change) { _, server, channel in
      try await ask(channel, times: 3)
      for _ in 0..<2 { try await listen(channel) }
      // Only the first call had to be repeated.
      let nonces = server.calls.map { $0.proof?.nonce }
      #expect(nonces.count == 6 && nonces.first == .some(nil) && Set(nonces).count == 6)
    }
  }

  @Test func `after the nonce changes without notice, the call is repeated with the error's nonce`()
    async throws
  {
    try await running({ $0.renewsNonceAfterSuccess = true }) { _, server, channel in
      try await ask(channel, times: 3)
      #expect(server.calls.count == 6)
    }
  }

  @Test func `a stream without the required nonce fails, and the next stream has the nonce`()
    async throws
  {
    try await running { _, server, channel in
      try await rpcFailure(.unauthenticated) { try await listen(channel) }
      #expect(server.calls.count == 1)
      try await listen(channel)
    }
  }

  @Test(arguments: [-1000, 1000])
  func `a client with a wrong clock uses the server's time after a rejected proof`(seconds: Int)
    async throws
  {
    try await running { bound, server, channel in
      try await ask(channel)
      let before = server.calls.count
      bound.sandbox.advance(by: .seconds(seconds))
      try await ask(channel, times: 2)
      #expect(server.calls.count <= before + 4)
    }
  }

  @Test func `an expired token is refreshed with a proof`() async throws {
    try await running { bound, server, channel in
      try await ask(channel)
      bound.sandbox.expireAccessTokens()
      try await ask(channel)
      #expect(Set(server.calls.map(\.boundToken)).count == 2)
      #expect(bound.sandbox.requests(to: .token).last?.proof != nil)
    }
  }

  @Test func `a bound token that an app sends without a proof is rejected`() async throws {
    try await running { bound, server, _ in
      let token = try await bound.module.token().accessToken
      let fixture = Fixture(sandbox: bound.sandbox, server: server)
      let channel = try fixture.channel(.accessToken(token))
      let error = try await rpcFailure(.unauthenticated) { try await ask(channel) }
      #expect(error.oauth2ChallengeHeader?.hasPrefix("DPoP ") == true)
    }
  }
}
