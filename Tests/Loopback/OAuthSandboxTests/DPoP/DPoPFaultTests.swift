import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct DPoPFaultTests {
  @Test(
    arguments: [
      (.nonceLoop, 1), (.nonceMissing, 0), (.nonceDoubled, 2), (.nonceEmpty, 1),
      (.nonceMalformed, 1), (.nonceTooLong, 1),
    ] as [(SandboxDPoPFault, Int)])
  func `the sandbox can send a faulty nonce challenge, and the refused request has no effect`(
    fault: SandboxDPoPFault, count: Int
  ) async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: .token, .dpop(fault), times: 2)
    sandbox.misbehave(at: .me, .dpop(fault))
    let first = try await client.post(ProvingPeer.passwordForm, client.proof())
    let second = try await client.post(ProvingPeer.passwordForm, client.proof())
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let proof = client.proof("GET", "/api/me", token: token)
    let third = try await client.api(token: token, proof: proof)
    for answer in [first, second, third] {
      #expect(answer.error == "use_dpop_nonce")
      let nonces = answer.headers.filter { $0.name == "dpop-nonce" }.map(\.value)
      #expect(nonces.count == count)
      switch fault {
      case .nonceEmpty: #expect(nonces == [""])
      case .nonceTooLong: #expect(nonces[0].count == 16_384)
      case .nonceMalformed: #expect(nonces[0].contains(" ") && nonces[0].contains("\\"))
      case .nonceDoubled:
        #expect(nonces[0] == sandbox.proofNonce(of: .api) && nonces[1] != nonces[0])
      default: break
      }
    }
    #expect([first.status, second.status, third.status] == [400, 400, 401])
    #expect(third.header("www-authenticate")?.contains(#"error="use_dpop_nonce""#) == true)
    if fault == .nonceLoop { #expect(first.header("dpop-nonce") != second.header("dpop-nonce")) }
    // The misbehaviour is over, and the refused proof was not used up.
    #expect(try await client.api(token: token, proof: proof).status == 200)
    #expect(try await client.post(ProvingPeer.passwordForm, client.proof()).status == 200)
    await sandbox.stop()
  }

  @Test func `a fault in the handling of proofs can be delayed`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: .token, .delay(.zero, then: .dpop(.proofRefused)))
    let refused = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(refused.error == "invalid_dpop_proof")
    #expect(try await client.post(ProvingPeer.passwordForm, client.proof()).status == 200)
    await sandbox.stop()
  }

  @Test func `the sandbox can offer a nonce in a success response only`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: .token, .dpop(.nonceInSuccess))
    let answer = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(answer.status == 200)
    let nonce = try #require(answer.header("dpop-nonce"))
    _ = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
    #expect(sandbox.requests(to: .token).map { $0.proof?.nonce } == [nil, nonce])
    await sandbox.stop()
  }

  @Test(arguments: [SandboxEndpoint.pushedAuthorization, .driveUpload, .userInfo, .driveFiles])
  func `the PAR, UserInfo, file list and upload endpoints can send a faulty nonce challenge`(
    endpoint: SandboxEndpoint
  ) async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: endpoint, .dpop(.nonceDoubled))
    let isGet = [.userInfo, .driveFiles].contains(endpoint)
    let answer =
      isGet
      ? try await client.peer.get(endpoint.path)
      : try await client.post(BoundTokenTests.signIn, to: endpoint.path)
    #expect(answer.error == "use_dpop_nonce")
    #expect(answer.headers.filter { $0.name == "dpop-nonce" }.count == 2)
    await sandbox.stop()
  }

  @Test func `the sandbox can be set to refuse a valid proof`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: .token, .dpop(.proofRefused))
    let answer = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(answer.status == 400 && answer.error == "invalid_dpop_proof")
    await sandbox.stop()
  }

  @Test func `the sandbox can be set to bind a token to a key other than the proof's`() async throws
  {
    let sandbox = try await ProvingPeer.start { $0.accessTokenFormat = .jwt(.es256) }
    let client = ProvingPeer(sandbox)
    sandbox.misbehave(at: .token, .dpop(.otherKey))
    let tokens = try await client.post(ProvingPeer.passwordForm, client.proof()).tokens()
    #expect(tokens.tokenType == "DPoP")
    let key = try #require(try ReadJWT(tokens.accessToken).claims["cnf"]?["jkt"]?.string)
    #expect(key.count == 43 && key != client.thumbprint)
    let proof = client.proof("GET", "/api/me", token: tokens.accessToken)
    #expect(try await client.api(token: tokens.accessToken, proof: proof).error == "invalid_token")
    await sandbox.stop()
  }

  @Test func `the sandbox can be set to issue a Bearer token for a request with a proof`()
    async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let code = try await client.peer.code(["dpop_jkt": client.thumbprint])
    sandbox.misbehave(at: .token, .dpop(.bearerToken))
    let tokens = try await client.peer.redeem(code, headers: [("DPoP", client.proof())]).tokens()
    #expect(tokens.tokenType == "Bearer")
    #expect(try await client.peer.api("/api/me", token: tokens.accessToken).status == 200)
    await sandbox.stop()
  }

  @Test func `the request log contains each request's proof`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    _ = try await client.api(
      token: token, proof: client.proof("GET", "/api/me", token: token, nonce: "n"))
    let request = try #require(sandbox.requests(to: .me).last)
    #expect(request.boundToken == token && request.bearerToken == nil)
    let proof = try #require(request.proof)
    #expect(proof.type == "dpop+jwt" && proof.algorithm == "ES256")
    #expect(proof.keyThumbprint == client.thumbprint)
    #expect(proof.method == "GET" && proof.url == sandbox.url(.me).absoluteString)
    #expect(proof.issued == 1_900_000_000 && proof.nonce == "n" && proof.id?.isEmpty == false)
    #expect(proof.accessTokenHash == Crypto.digest(of: token))
    var dumped = ""
    dump(proof, to: &dumped)
    #expect("\(proof)" == "proof of GET" && !dumped.contains("1900000000"))
    _ = try await client.peer.get("/api/me")
    #expect(sandbox.requests(to: .me).last?.proof == nil)
    await sandbox.stop()
  }

  @Test func `each fault has its own description`() {
    let faults = SandboxDPoPFault.allCases
    #expect(Set(faults.map(\.description)).count == faults.count)
  }
}
