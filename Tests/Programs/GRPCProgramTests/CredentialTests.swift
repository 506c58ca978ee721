import Foundation
import GRPCValueSupport
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC

/// The token that a call carries, and what happens when the server rejects it.
@Suite(.timeLimit(.minutes(2)), .requiresGRPCIO) struct CredentialTests {
  private static let response = TestResponseCodec()

  @Test func `a rejected token is refreshed and the call repeated once`() async throws {
    try await CallFixture.running { fixture in
      fixture.sandbox.expireAccessTokens()
      let call = try fixture.unaryCall()
      #expect(try await call.response(as: Self.response).username == "alice")
      try await fixture.server.caughtUp()
      #expect(fixture.refreshes == 1 && fixture.server.count(of: "UnaryCall") == 2)
      #expect(call.oauth2ChallengeHeader == nil, "nothing of the rejected attempt is left")
      // The next call carries the new token at once.
      _ = try await fixture.unaryCall().response()
      try await fixture.server.caughtUp()
      #expect(fixture.refreshes == 1 && fixture.server.count(of: "UnaryCall") == 3)
    }
  }

  @Test func `many simultaneous calls with the same rejected token cause one refresh`() async throws
  {
    try await CallFixture.running { fixture in
      fixture.sandbox.expireAccessTokens()
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<30 {
          group.addTask { try await fixture.unaryCall().response(as: Self.response).username }
        }
        for try await name in group { #expect(name == "alice") }
      }
      #expect(fixture.refreshes == 1)
    }
  }

  @Test func `if the refreshed token is rejected too, the call fails without a second refresh`()
    async throws
  {
    try await CallFixture.running { fixture in
      let answer = WebResponse.grpc(
        [],
        headers: [
          "grpc-status": "16", "www-authenticate": #"Bearer realm="r", error="invalid_token""#,
        ], trailers: [:])
      try await ScriptedServer.answering(answer) { server in
        let channel = try server.channel(credential: .account(fixture.module))
        let error = await rpcFailure(.unauthenticated) { try await channel.test("X").response() }
        #expect(error?.challenge?.realm == "r" && server.requests.count == 2)
        #expect(fixture.refreshes == 1)
        let tokens = server.requests.map { $0.headers.values(for: "authorization") }
        #expect(tokens.allSatisfy { $0.count == 1 } && tokens[0] != tokens[1])
      }
    }
  }

  @Test func `repeated rejections cause no second refresh before the delay is over`() async throws {
    try await CallFixture.running { fixture in
      let clock = ManualClock(now: Date())
      fixture.module.environment.clock = clock
      let challenge = #"Bearer error="invalid_token""#
      let answer = WebResponse.grpc(
        [], trailers: ["grpc-status": "16", "www-authenticate": challenge])
      try await ScriptedServer.answering(answer) { server in
        let channel = try server.channel(credential: .account(fixture.module))
        func call() async {
          await rpcFailure(.unauthenticated) { try await channel.test("X").response() }
        }
        for _ in 0..<5 { await call() }
        #expect(fixture.refreshes == 1 && server.requests.count == 6)
        clock.advance(by: 1)
        for _ in 0..<5 { await call() }
        #expect(fixture.refreshes == 2 && server.requests.count == 12)
      }
    }
  }

  @Test(
    arguments: [
      (16, #"Bearer error="insufficient_scope", scope="x""#, 1), (16, nil, 2), (16, "Basic", 2),
      (16, #"Bearer error="invalid_request""#, 1), (7, #"Bearer error="invalid_token""#, 1),
    ] as [(Int, String?, Int)])
  func `only a rejection of the token causes a refresh`(
    status: Int, challenge: String?, count: Int
  ) async throws {
    try await CallFixture.running { fixture in
      var trailers: HeaderFields = ["grpc-status": "\(status)"]
      trailers["www-authenticate"] = challenge
      try await ScriptedServer.answering(.grpc([], trailers: trailers)) { server in
        let channel = try server.channel(credential: .account(fixture.module))
        await rpcFailure(RPCStatus(rawValue: status)) { try await channel.test("X").response() }
        #expect(server.requests.count == count && fixture.refreshes == count - 1)
      }
    }
  }

  @Test func `a stream whose token is rejected is not repeated`() async throws {
    try await CallFixture.running { fixture in
      fixture.sandbox.expireAccessTokens()
      let call = try fixture.channel.test("Count", "2 10 refuse", kind: .serverStreaming)
      var count = 0
      let error = await rpcFailure(.unauthenticated) {
        for try await _ in call.messages { count += 1 }
      }
      #expect(count == 2 && error?.challenge?.error == .invalidToken)
      try await fixture.server.caughtUp()
      #expect(fixture.refreshes == 0 && fixture.server.count(of: "Count") == 1)
    }
  }

  @Test func `without a token nothing is sent`() async throws {
    try await CallFixture.running(signedIn: false) { fixture in
      let error = await rpcFailure(.unauthenticated) { try await fixture.unaryCall().response() }
      #expect(error?.oauthError?.code == .notAuthorized && error?.isFromServer == false)
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 0)
    }
  }

  @Test func `after a failed refresh the call is not sent again`() async throws {
    try await CallFixture.running { fixture in
      fixture.sandbox.revokeEverything()
      let error = await rpcFailure(.unauthenticated) { try await fixture.unaryCall().response() }
      #expect(error?.oauthError?.code == .invalidGrant)
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 1 && !fixture.module.hasAccessToken)
    }
  }

  @Test func `a fixed access token is used and never replaced`() async throws {
    try await CallFixture.running(signedIn: false) { fixture in
      let token = fixture.sandbox.issueTokens(for: "bob").accessToken
      for (token, status) in [(token, RPCStatus.ok), ("bad", .unauthenticated)] {
        let channel = try RPCChannel(fixture.server, credential: .accessToken(token))
        let call = try channel.call(.unaryCall, TestRequest(fillUsername: true))
        _ = try? await call.response()
        #expect(call.status == status)
      }
      let bad = try RPCChannel(fixture.server, credential: .accessToken("a b"))
      await rpcFailure(.invalidArgument) { try await bad.test("Echo").response() }
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 2 && fixture.server.count(of: "Echo") == 0)
    }
  }

  @Test func `a call's own token overrides the channel's credential`() async throws {
    try await CallFixture.running { fixture in
      let call = try fixture.unaryCall()
      try call.setOAuth2AccessToken(fixture.sandbox.issueTokens(for: "bob").accessToken)
      #expect(try await call.response(as: Self.response).username == "bob")
      let bad = try fixture.unaryCall()
      try bad.setOAuth2AccessToken("bad")
      await rpcFailure(.unauthenticated) { try await bad.response() }
      try await fixture.server.caughtUp()
      #expect(fixture.refreshes == 0 && fixture.server.count(of: "UnaryCall") == 2)
    }
  }

  @Test func `a token is sent only to allowed servers`() async throws {
    let origin = try ResourceOrigin("https://api.example")
    try await CallFixture.running(change: { $0.resourceOrigins = [origin] }) { fixture in
      let error = await rpcFailure(.unauthenticated) { try await fixture.unaryCall().response() }
      #expect(error?.oauthError?.code == .originNotAllowed)
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 0)
    }
  }

  @Test func `a channel adds only its own server to the allowed servers of its account`()
    async throws
  {
    try await CallFixture.running { fixture in
      try await ScriptedServer.answering(.grpc()) { server in
        let channel = try server.channel(credential: .account(fixture.module))
        #expect(try await channel.test("X").response().isEmpty)
      }
      let request = WebRequest(url: try #require(URL(string: "https://evil.example/")))
      let error = await #expect(throws: SQOAuthError.self) {
        try await fixture.module.authenticate(request)
      }
      #expect(error?.code == .originNotAllowed)
    }
  }

  @Test func `a token is not sent over http to another machine`() async throws {
    try await CallFixture.running { fixture in
      let url = try #require(URL(string: "http://192.0.2.1:1"))
      for credential in [RPCCredential.account(fixture.module), .accessToken("T"), .none] {
        let channel = try RPCChannel(url: url, credential: credential, configuration: .direct)
        let call = try channel.test("X")
        if case .none = credential { try call.setOAuth2AccessToken("T") }
        let error = await rpcFailure(.unauthenticated) { try await call.response() }
        #expect(error?.oauthError?.code == .insecureEndpoint)
      }
    }
  }

  @Test func `a call's time limit includes the wait for a token`() async throws {
    try await CallFixture.running { fixture in
      let gate = Gate(isOpen: false)
      fixture.module.environment.transport = WaitingClient(gate: gate)
      fixture.module.invalidateAccessToken()
      let call = try fixture.unaryCall()
      try call.setTimeout(.milliseconds(200))
      await rpcFailure(.deadlineExceeded) { try await call.response() }
      try await fixture.server.caughtUp()
      #expect(fixture.server.count(of: "UnaryCall") == 0)
      gate.open()
    }
  }

  @Test func `a token repeated by the server is removed from the error`() async throws {
    let secret = "c4n4ry-token"
    let answer = WebResponse.grpc(
      [],
      headers: [
        "grpc-status": "16", "grpc-message": "bad c4n4ry%2Dtoken",
        "www-authenticate": "Bearer realm=\"c4n4ry-token\"",
      ], trailers: [:])
    try await ScriptedServer.answering(answer) { server in
      let call = try server.channel(credential: .accessToken(secret)).test("X")
      let error = try #require(await rpcFailure(.unauthenticated) { try await call.response() })
      var texts = "\(error) \(error.message) \(call.oauth2ChallengeHeader ?? "")"
      dump(error, to: &texts)
      #expect(!texts.contains(secret) && texts.contains("[removed]"))
    }
  }

  @Test func `an account's authorization metadata is one entry with its access token`() async throws
  {
    try await CallFixture.running { fixture in
      let metadata = try await RPCMetadata.authorization(of: fixture.module)
      let token = try await fixture.module.token().accessToken
      #expect(metadata.oauth2AccessToken == token && metadata.count == 1)
    }
  }
}

/// An HTTP client whose requests wait for a gate and then fail.
private struct WaitingClient: HTTPTransport {
  let gate: Gate

  func send(_ request: WebRequest) async throws -> WebResponse {
    await gate.opened()
    throw CancellationError()
  }
}
