import GRPCValueSupport
import SQBasics
import SequencingOAuth
import Testing

@testable import GRPCSupport
@testable import SequencingOAuthGRPC
@testable import TestSupport

/// An authenticator of an app, whose server sends a nonce in a field of its own.
private final class NonceAuthenticator: ResourceRequestAuthenticator {
  let nonce = Locked<String?>(nil)

  func headerFields(for token: SQToken) -> HeaderFields {
    ["X-Nonce": nonce.withLock(\.self) ?? "none"]
  }

  func repeats(
    _ request: ResourceRequest, with token: SQToken, afterStatus status: Int, fields: HeaderFields
  ) async -> Bool {
    nonce.withLock { $0 = "\(status) \(fields["X-Next"] ?? "")" }
    return true
  }
}

/// Calls that wait for the token of an account.
@Suite(.timeLimit(.minutes(1))) struct AccountCallTests {
  @Test func `a call that waits for a refresh does not carry the token of a later sign-in`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    try await ScriptedServer.answering(.grpc()) { server in
      let channel = try server.channel(credential: .account(fixture.module))
      let call = begin { try await channel.test("X").response() }
      try await fixture.server.gate.isHolding()
      #expect(try await fixture.oauth.signIn().accessToken == "T2")
      let error = await rpcFailure(.unauthenticated) { try await call.value }
      #expect(error?.oauthError?.code == .sessionReplaced && server.requests.isEmpty)
      fixture.server.gate.open()
      _ = try await channel.test("X").response()
      #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer T2"])
    }
  }

  @Test(arguments: [false, true])
  func `a call whose token cannot be refreshed at the moment is unavailable`(isRefused: Bool)
    async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.server.always(ScriptedTransport.json("{}", status: 503))
    if !isRefused { fixture.clock.advance(by: 3600) }
    try await ScriptedServer.answering(.grpc([], trailers: ["grpc-status": "16"])) { server in
      let channel = try server.channel(credential: .account(fixture.module))
      let error = await rpcFailure(.unavailable) { try await channel.test("X").response() }
      #expect(error?.oauthError?.status == 503 && error?.isFromServer == false)
      #expect(server.requests.count == (isRefused ? 1 : 0))
    }
  }

  @Test(arguments: [(16, 401), (7, 403)])
  func `an authenticator of the app sees all texts of a refusal, and can repeat the call`(
    status: Int, asHTTP: Int
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.module.environment.requestAuthenticator = NonceAuthenticator()
    try await ScriptedServer.running({ request in
      request.headers["x-nonce"] == "none"
        ? .grpc([], trailers: ["grpc-status": "\(status)", "x-next": "n1"]) : .grpc()
    }) { server in
      let channel = try server.channel(credential: .account(fixture.module))
      _ = try await channel.test("X").response()
      #expect(server.requests.map { $0.headers["x-nonce"] } == ["none", "\(asHTTP) n1"])
    }
  }

  @Test(arguments: [
    ("7", #"Bearer error="insufficient_scope", scope="write""#, "demo write"),
    ("16", #"Bearer error="insufficient_user_authentication", acr_values="gold""#, "demo"),
  ])
  func `the error of a refused token leads to the sign-in that the server demands`(
    status: String, challenge: String, scope: String
  ) async throws {
    let fixture = try await SessionFixture().restored()
    let refusal = WebResponse.grpc(
      [], trailers: ["grpc-status": status, "www-authenticate": challenge])
    try await ScriptedServer.answering(refusal) { server in
      let channel = try server.channel(credential: .account(fixture.module))
      let failed = await rpcFailure { try await channel.test("X").response() }
      let error = try #require(failed?.oauthError)
      #expect(failed?.isFromServer == true && failed?.status.rawValue.description == status)
      #expect(try await fixture.oauth.requestAccess(answering: error).accessToken == "T2")
      let page = try #require(fixture.fixture.opened.first)
      #expect(page.parameters["scope"] == scope)
      #expect(page.parameters["acr_values"] == (status == "16" ? "gold" : nil))
      // Another user must not answer for the user of the call.
      try await fixture.oauth.signIn()
      await failure(.sessionReplaced) { try await fixture.oauth.requestAccess(answering: error) }
    }
  }

  @Test func `a refusal without a challenge has no SDK error`() async throws {
    let fixture = try await SessionFixture().restored()
    try await ScriptedServer.answering(.grpc([], trailers: ["grpc-status": "7"])) { server in
      let channel = try server.channel(credential: .account(fixture.module))
      let error = await rpcFailure(.permissionDenied) { try await channel.test("X").response() }
      #expect(error?.oauthError == nil)
    }
  }

  @Test func `metadata for another library does not get the token of a later sign-in`() async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.gate.close()
    let metadata = begin { try await RPCMetadata.authorization(of: module) }
    try await fixture.server.gate.isHolding()
    #expect(try await fixture.oauth.signIn().accessToken == "T2")
    await failure(.sessionReplaced) { try await metadata.value }
    fixture.server.gate.open()
    #expect(try await RPCMetadata.authorization(of: module)["authorization"] == "Bearer T2")
  }
}
