import Foundation
import GRPCValueSupport
import SQBasics
import Testing

@testable import GRPCSupport
@testable import SequencingOAuth
@testable import SequencingOAuthGRPC
@testable import TestSupport

/// An authenticator of an app that ignores the cancellation of its task.
private struct BusyAuthenticator: ResourceRequestAuthenticator {
  let gate = Gate(isOpen: false)

  func headerFields(for token: SQToken, on request: ResourceRequest) async throws -> HeaderFields {
    await gate.pass()
    return headerFields(for: token)
  }
}

/// Calls that carry a token which is bound to a key (RFC 9449).
@Suite(.timeLimit(.minutes(1))) struct ProofCallTests {
  /// Returns an account whose token is bound to a key, and the key.
  private func account() async throws -> (AuthorizationModule, ProofKey) {
    let key = try ProofKey(.dpop(), supported: nil)
    var environment = ClientEnvironment()
    environment.tokenStore = MemoryTokenStore()
    environment.transport = ScriptedTransport(
      ScriptedTransport.json(
        #"{"access_token":"T2","token_type":"DPoP","expires_in":3600,"refresh_token":"R2"}"#))
    let token = SQToken(
      accessToken: "T1", expirationDate: Date() + 3600, tokenType: "DPoP", refreshToken: "R1",
      issueDate: Date())
    try await environment.tokenStore.save(
      AccountRecord(id: "default", clientID: "client", token: token.bound(to: key)))
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "client", provider: .endpoints(token: "https://id.example/token")),
      environment: environment)
    try await module.restore()
    return (module, key)
  }

  private func proof(_ request: ScriptedServer.Request) throws -> SentProof {
    let proof = try SentProof(try #require(request.headers["dpop"]))
    #expect(proof["htm"] == "POST")
    return proof
  }

  @Test func `each call sends a proof with its own URL and the server's latest nonce`()
    async throws
  {
    let (module, key) = try await account()
    let refusal = WebResponse.grpc(
      [],
      trailers: [
        "grpc-status": "16", "www-authenticate": #"DPoP error="use_dpop_nonce""#,
        "dpop-nonce": "n",
      ])
    try await ScriptedServer.running({ request in
      let proof = try? SentProof(request.headers["dpop"] ?? "")
      return proof?.nonce == nil
        ? refusal : .grpc(trailers: ["grpc-status": "0", "dpop-nonce": "next"])
    }) { server in
      let channel = try server.channel(credential: .account(module))
      for _ in 0..<2 { _ = try await channel.test("X").response() }
      let proofs = try server.requests.map(proof)
      #expect(proofs.map(\.nonce) == [nil, "n", "next"])
      #expect(Set(proofs.compactMap(\.id)).count == 3)
      #expect(proofs.allSatisfy { $0.thumbprint == key.thumbprint && $0.tokenDigest != nil })
      let path = try #require(server.requests.first?.headers[":path"])
      #expect(proofs.allSatisfy { $0["htu"] == channel.url.absoluteString + path })
      #expect(server.requests.allSatisfy { $0.headers["authorization"] == "DPoP T1" })
    }
  }

  @Test
  func `a stream refused for a missing nonce is not repeated, but the next call sends the nonce`()
    async throws
  {
    let (module, _) = try await account()
    let refusal = WebResponse.grpc(
      [],
      trailers: [
        "grpc-status": "16", "www-authenticate": #"DPoP error="use_dpop_nonce""#,
        "dpop-nonce": "n",
      ])
    try await ScriptedServer.answering(refusal) { server in
      let channel = try server.channel(credential: .account(module))
      for _ in 0..<2 {
        await rpcFailure(.unauthenticated) {
          for try await _ in try channel.test("X", kind: .serverStreaming).messages {}
        }
      }
      #expect(try server.requests.map { try proof($0).nonce } == [nil, "n"])
    }
  }

  @Test func `an authenticator of the app that does not answer cannot delay the end of a call`()
    async throws
  {
    let (module, _) = try await account()
    let authenticator = BusyAuthenticator()
    module.environment.requestAuthenticator = authenticator
    try await ScriptedServer.answering(.grpc()) { server in
      let channel = try server.channel(credential: .account(module))
      let call = try channel.test("X")
      let response = Task { try await call.response() }
      try await authenticator.gate.isHolding()
      call.cancel()
      await rpcFailure(.cancelled) { try await response.value }
      let late = try channel.test("X")
      try late.setTimeout(.milliseconds(1))
      await rpcFailure(.deadlineExceeded) { try await late.response() }
      authenticator.gate.open()
      // A request of an ended call would arrive before the last of these calls.
      for _ in 0..<2 { _ = try await channel.test("Y").response() }
      #expect(server.requests.map { $0.headers[":path"] } == [method("Y"), method("Y")])
    }
  }

  @Test func `a refused token is refreshed once, and the new one has its own proof`() async throws {
    let (module, _) = try await account()
    let refusal = WebResponse.grpc(
      [],
      trailers: ["grpc-status": "16", "www-authenticate": #"DPoP error="invalid_token""#])
    try await ScriptedServer.running({ request in
      request.headers["authorization"] == "DPoP T2" ? .grpc() : refusal
    }) { server in
      let channel = try server.channel(credential: .account(module))
      _ = try await channel.test("X").response()
      let proofs = try server.requests.map(proof)
      #expect(proofs.count == 2 && proofs[0].tokenDigest != proofs[1].tokenDigest)
    }
  }

  @Test func `RPCMetadata.authorization(of:) fails if the token of the account is bound to a key`()
    async throws
  {
    let (module, _) = try await account()
    await failure(.invalidConfiguration) { try await RPCMetadata.authorization(of: module) }
  }
}
