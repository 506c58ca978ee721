import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Pushed requests to servers that refuse proofs in such requests (RFC 9449, section 10.1).
@Suite(.timeLimit(.minutes(1))) struct PushedProofTests {
  /// glewlwyd demands a nonce in the proof of a pushed request, and does not say which nonce.
  @Test func `a pushed request whose proof is refused is sent again without one`() async throws {
    let world = try ProofWorld(pushes: true, clientKey: ClientKey(generating: .es256))
    world.change { ($0.wantsPushedProofs, $0.tokenNonce) = (false, "t") }
    try await world.signedIn()
    let key = try #require(await world.storedKey)
    let pushed = world.requests("/par")
    #expect(pushed.map { $0.proof?.thumbprint } == [key.thumbprint, nil])
    // In both requests, `dpop_jkt` binds the code to the key.
    #expect(pushed.map { $0.form["dpop_jkt"] } == [key.thumbprint, key.thumbprint])
    #expect(Set(pushed.map { $0.form["client_assertion"] }).count == 2)
    #expect(Set(pushed.map { $0.form["state"] }).count == 1)
    #expect(world.requests("/token").map(\.proof?.nonce) == [nil, "t"])
    #expect(world.module.currentToken?.isBound == true)
  }

  @Test func `a pushed request that is refused with and without a proof is not sent a third time`()
    async throws
  {
    let world = try ProofWorld(pushes: true)
    world.fixture.http.answer { _ in Self.refusal(#"{"error":"invalid_dpop_proof"}"#) }
    await failure(.invalidDPoPProof) { try await world.signedIn() }
    #expect(try world.fixture.http.requests.map { try SentProof($0) != nil } == [true, false])
    #expect(world.fixture.opened.isEmpty)
  }

  @Test(arguments: ["invalid_request", "unauthorized_client", "use_dpop_nonce", "server_error"])
  func `after an error other than invalid_dpop_proof, no request is sent without a proof`(
    error: String
  ) async throws {
    let world = try ProofWorld(pushes: true)
    world.fixture.http.answer { _ in Self.refusal(#"{"error":"\#(error)"}"#) }
    await failure(SQOAuthError.Code(rawValue: error)) { try await world.signedIn() }
    #expect(try world.fixture.http.requests.map { try SentProof($0) != nil } == [true])
  }

  @Test func `a wrong clock is corrected, and the request is repeated with a proof`() async throws {
    let world = try ProofWorld(pushes: true)
    world.change { $0.clockDifference = -600 }
    try await world.signedIn()
    #expect(world.requests("/par").map { $0.proof != nil } == [true, true])
  }

  @Test func `a client without DPoP does not repeat a refused pushed request`() async throws {
    let world = try ProofWorld(binding: .certificate, pushes: true)
    world.change { $0.wantsPushedProofs = true }
    await failure(.invalidDPoPProof) { try await world.signedIn() }
    #expect(world.requests("/par").map { $0.proof == nil } == [true])
  }

  @Test func `a token request is not repeated without its proof`() async throws {
    let world = try await ProofWorld().signedIn()
    world.fixture.http.answer { _ in Self.refusal(#"{"error":"invalid_dpop_proof"}"#) }
    let before = world.fixture.http.requests.count
    await failure(.invalidDPoPProof) { try await world.module.refresh() }
    let sent = world.fixture.http.requests.dropFirst(before)
    #expect(try sent.map { try SentProof($0) != nil } == [true])
  }

  private static func refusal(_ body: String) -> WebResponse {
    WebResponse(
      status: 403, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
  }
}
