import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import LoopbackSupport

/// Calls with tokens that are bound to a key, and with proofs that are written by hand.
@Suite(.timeLimit(.minutes(1))) struct ProvenCallTests {
  /// Runs `body` with a sandbox that accepts proofs, and with a client that has a key.
  private func running(
    _ change: (inout SandboxDPoPOptions) -> Void = { _ in },
    _ body: (Fixture, ProvingPeer) async throws -> Void
  ) async throws {
    let sandbox = try await ProvingPeer.start { change(&$0.dpop) }
    try await Fixture.running(on: sandbox) { try await body($0, ProvingPeer(sandbox)) }
  }

  // MARK: Which proofs are right

  @Test func `a bound token is accepted with a proof of its key, for the scheme DPoP and dpop`()
    async throws
  {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      for scheme in ["DPoP", "dpop"] {
        let proof = fixture.proof(of: client, token)
        let response = try await fixture.call(scheme, token, proof).response()
        #expect(try Answer(response).user == "alice")
        let call = try #require(fixture.server.calls.last)
        #expect(call.boundToken == token && call.bearerToken == nil)
        #expect(call.proof?.keyThumbprint == client.thumbprint && call.proof?.method == "POST")
        #expect(call.proof?.url == fixture.server.url.absoluteString + Method.unaryCall)
      }
      let bearer = fixture.sandbox.issueTokens().accessToken
      _ = try await fixture.call("Bearer", bearer).response()
      #expect(fixture.server.calls.last?.boundToken == nil)
      #expect(fixture.server.calls.last?.proof == nil)
    }
  }

  @Test(arguments: WrongProof.all)
  func `a wrong proof is refused with the challenge of the sandbox's API`(
    fault: WrongProof
  ) async throws {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let wrong = fixture.proof(of: client, token, changing: fault.change)
      let error = try await fixture.refusal("DPoP", token, wrong)
      #expect(error.challenge?.error == .invalidDPoPProof && error.message.contains(fault.word))
      let challenge = try #require(error.oauth2ChallengeHeader)
      #expect(challenge.hasPrefix(#"DPoP realm="sandbox", error="invalid_dpop_proof", "#))
      #expect(challenge.hasSuffix(#", algs="ES256 PS256 EdDSA""#))
      let right = fixture.proof(of: client, token)
      _ = try await fixture.call("DPoP", token, right).response()
    }
  }

  @Test func `a bound token without its key's proof is refused`() async throws {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let thief = ProvingPeer(fixture.sandbox)
      let own = fixture.proof(of: client, token)
      let rows = [
        ("DPoP", token, nil, "invalid_dpop_proof"),
        ("DPoP", token, fixture.proof(of: thief, token), "invalid_token"),
        ("DPoP", token, fixture.proof(of: client, "another"), "invalid_dpop_proof"),
        ("DPoP", token, fixture.proof(of: client, nil), "invalid_dpop_proof"),
        ("DPoP", token, "x", "invalid_dpop_proof"),
        ("Bearer", token, own, "invalid_token"), ("Bearer", token, nil, "invalid_token"),
        ("DPoP", fixture.sandbox.issueTokens().accessToken, own, "invalid_dpop_proof"),
        ("DPoP", "unknown", own, "invalid_token"),
      ]
      for (scheme, token, proof, code) in rows {
        let error = try await fixture.refusal(scheme, token, proof)
        let challenge = error.oauth2ChallengeHeader
        #expect(challenge?.contains(#"error="\#(code)""#) == true, "\(challenge ?? "none")")
        #expect(challenge?.hasPrefix("DPoP ") == true)
      }
      _ = try await fixture.call("DPoP", token, own).response()
    }
  }

  @Test func `a proof that the gRPC server has accepted is rejected when it is used again`()
    async throws
  {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let proof = fixture.proof(of: client, token)
      _ = try await fixture.call("DPoP", token, proof).response()
      let again = try await fixture.refusal("DPoP", token, proof)
      #expect(again.message == "A proof with this jti was used before.")
      let id = try #require(fixture.server.calls.last?.proof?.id)
      let copied = client.proof("GET", "/api/me", token: token) { $0.claims["jti"] = .string(id) }
      #expect(try await client.api(token: token, proof: copied).text.contains("used before"))
    }
  }

  @Test func `a call with two proofs is rejected`() async throws {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let fields =
        [("authorization", "DPoP \(token)")]
        + (0..<2).map { _ in ("dpop", fixture.proof(of: client, token)) }
      let raw = try RawHTTP2Client(port: fixture.port)
      raw.call(1, Method.unaryCall, [0, 0, 0, 0, 0], fields)
      let answer = try await raw.wholeAnswer(1)
      #expect(answer["grpc-status"] == "16")
      #expect(answer["www-authenticate"]?.contains("came more than once") == true)
    }
  }

  @Test(arguments: [
    (":authority", "127.0.0.1", true), (":authority", "localhost", true),
    (":authority", "LOCALHOST", true), ("host", "localhost", true),
    (":authority", "other.example", false), ("host", "other.example", false),
  ])
  func `a proof's URL may have any loopback name of the server, but no other host`(
    field: String, host: String, isRight: Bool
  ) async throws {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let authority = "\(host):\(fixture.port)"
      let address = try #require(URL(string: "http://\(authority)"))
      let proof = client.proof("POST", Method.unaryCall, at: address, token: token)
      let raw = try RawHTTP2Client(port: fixture.port)
      raw.open(
        1,
        [(":method", "POST"), (":scheme", "http"), (":path", Method.unaryCall)]
          + [(field, authority), ("content-type", "application/grpc"), ("te", "trailers")]
          + [("authorization", "DPoP \(token)"), ("dpop", proof)])
      raw.write([0, 0, 0, 0, 0], to: 1)
      let answer = try await raw.wholeAnswer(1)
      #expect(answer["grpc-status"] == (isRight ? "0" : "16"))
      #expect(answer["www-authenticate"]?.contains("htu") == (isRight ? nil : true))
    }
  }

  @Test func `a bound token without the server's scope is rejected with a DPoP challenge`()
    async throws
  {
    try await running { fixture, client in
      let narrow = try SandboxGRPCServer(of: fixture.sandbox, scope: "admin")
      let other = Fixture(sandbox: fixture.sandbox, server: narrow)
      let token = fixture.token(of: client)
      let call = try other.call("DPoP", token, other.proof(of: client, token))
      let error = try await rpcFailure(.permissionDenied) { try await call.response() }
      #expect(error.oauth2ChallengeHeader?.hasPrefix("DPoP ") == true)
      #expect(error.challenge?.scope == "admin")
      await narrow.stop()
    }
  }

  // MARK: Policies

  @Test(
    arguments: [
      (.off, #"Bearer realm="sandbox""#, true),
      (.accepted, #"Bearer realm="sandbox", DPoP algs="ES256 PS256 EdDSA""#, true),
      (.required, #"DPoP realm="sandbox", algs="ES256 PS256 EdDSA""#, false),
    ] as [(SandboxDPoPOptions.Policy, String, Bool)])
  func `the sandbox's DPoP policy decides whether bearer and bound tokens are accepted`(
    policy: SandboxDPoPOptions.Policy, challenge: String, takesBearer: Bool
  ) async throws {
    try await running({ $0.policy = policy }) { fixture, client in
      let channel = try fixture.channel()
      let none = try await rpcFailure(.unauthenticated) {
        try await channel.call(Method.unaryCall).response()
      }
      #expect(none.oauth2ChallengeHeader == challenge)
      let bearer = try fixture.call("Bearer", fixture.sandbox.issueTokens().accessToken)
      if takesBearer { _ = try await bearer.response() }
      if !takesBearer { try await rpcFailure(.unauthenticated) { try await bearer.response() } }
      let token = fixture.token(of: client)
      let bound = try fixture.call("DPoP", token, fixture.proof(of: client, token))
      if policy != .off { _ = try await bound.response() }
      if policy == .off { try await rpcFailure(.unauthenticated) { try await bound.response() } }
    }
  }

  // MARK: Nonces

  @Test(arguments: [SandboxDPoPOptions.NonceForm.plain, .punctuated])
  func `a call without the API's nonce is rejected with an error that has the nonce`(
    form: SandboxDPoPOptions.NonceForm
  ) async throws {
    let change = { (options: inout SandboxDPoPOptions) in
      options.noncesRequiredBy = [.api]
      options.apiHasOwnNonces = true
      options.nonceForm = form
      options.challengeScheme = "dPoP"
      options.challengesAreBare = true
    }
    try await running(change) { fixture, client in
      let token = fixture.token(of: client)
      let nonce = fixture.sandbox.proofNonce(of: .api)
      for wrong in [nil, "", fixture.sandbox.proofNonce(of: .authorizationServer)] {
        let proof = fixture.proof(of: client, token, nonce: wrong)
        let error = try await fixture.refusal("DPoP", token, proof)
        #expect(error.metadata["dpop-nonce"] == nonce)
        #expect(
          error.oauth2ChallengeHeader == """
            dPoP realm="sandbox", error="use_dpop_nonce", \
            error_description="The proof needs the nonce in the field DPoP-Nonce."
            """)
      }
      let call = try fixture.call("DPoP", token, fixture.proof(of: client, token, nonce: nonce))
      _ = try await call.response()
      #expect(call.responseMetadata["dpop-nonce"] == nil)
    }
  }

  @Test func `the server can be set to send a new nonce in each successful response`()
    async throws
  {
    let change = { (options: inout SandboxDPoPOptions) in
      options.noncesRequiredBy = [.api]
      options.offersNonceInEveryAnswer = true
      options.renewsNonceAfterSuccess = true
    }
    try await running(change) { fixture, client in
      let token = fixture.token(of: client)
      var nonces = [fixture.sandbox.proofNonce(of: .api)]
      for _ in 0..<3 {
        let call = try fixture.call(
          "DPoP", token, fixture.proof(of: client, token, nonce: nonces.last))
        _ = try await call.response()
        nonces.append(try #require(call.responseMetadata["dpop-nonce"]))
      }
      #expect(Set(nonces).count == 4)
      // A refusal and a failure do not change the nonce.
      let old = fixture.proof(of: client, token, nonce: nonces.first)
      let refused = try await fixture.refusal("DPoP", token, old)
      #expect(refused.metadata.values(for: "dpop-nonce") == nonces.suffix(1))
      let channel = try fixture.channel()
      let failed = try await rpcFailure(.unimplemented) {
        try await channel.call("/a/B").response()
      }
      #expect(failed.metadata["dpop-nonce"] == nonces.last)
    }
  }

  // MARK: Streams

  @Test func `one proof is enough for a stream, which ends when its token is revoked`() async throws
  {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let proof = fixture.proof(of: client, token, Method.stream)
      // The messages are so long that the server waits until the client reads them.
      let request = streamRequest(Array(repeating: (65_536, 0), count: 500))
      let call = try fixture.call("DPoP", token, proof, Method.stream, request)
      var count = 0
      let error = try await rpcFailure(.unauthenticated) {
        for try await message in call.messages {
          #expect(try Answer(message).user == "alice")
          count += 1
          // Meanwhile the proof becomes too old, but the server checks it only when the stream
          // begins.
          if count == 2 { fixture.sandbox.advance(by: .seconds(120)) }
          if count == 5 { fixture.sandbox.revokeEverything() }
        }
      }
      #expect((5..<500).contains(count))
      #expect(error.oauth2ChallengeHeader?.hasPrefix("DPoP ") == true)
      #expect(error.challenge?.error == .invalidToken)
    }
  }

  @Test func `responses have the date of the sandbox's clock`() async throws {
    try await running { fixture, client in
      let token = fixture.token(of: client)
      let right = try fixture.call("DPoP", token, fixture.proof(of: client, token))
      _ = try await right.response()
      let wrong = try await fixture.refusal("DPoP", token, nil)
      let date = "Sun, 17 Mar 2030 17:46:40 GMT"
      #expect(right.responseMetadata["date"] == date && wrong.metadata["date"] == date)
    }
  }
}
