import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct ProofTests {
  @Test(arguments: WrongProof.all)
  func `the token endpoint refuses a wrong proof and issues nothing`(fault: WrongProof) async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let wrong = client.proof(changing: fault.change)
    let answer = try await client.post(ProvingPeer.passwordForm, wrong)
    #expect(answer.status == 400 && answer.error == "invalid_dpop_proof")
    #expect(try answer.json()["error_description"]?.string?.contains(fault.word) == true)
    #expect(sandbox.latestRefreshToken == nil)
    let right = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(try right.tokens().tokenType == "DPoP")
    await sandbox.stop()
  }

  @Test(arguments: WrongProof.all)
  func `the API refuses a wrong proof`(fault: WrongProof) async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let wrong = client.proof("GET", "/api/me", token: token, changing: fault.change)
    let answer = try await client.api(token: token, proof: wrong)
    #expect(answer.status == 401 && answer.error == "invalid_dpop_proof")
    let challenge = try #require(answer.header("www-authenticate"))
    #expect(challenge.hasPrefix(#"DPoP realm="sandbox", error="invalid_dpop_proof", "#))
    #expect(challenge.contains(fault.word))
    #expect(challenge.hasSuffix(#", algs="ES256 PS256 EdDSA""#))
    let right = client.proof("GET", "/api/me", token: token)
    #expect(try await client.api(token: token, proof: right).status == 200)
    await sandbox.stop()
  }

  @Test(arguments: ["", "x", "a.b.c", "e30.e30.*", "e30.e30"])
  func `a DPoP field that is not a JWT is refused`(text: String) async throws {
    let sandbox = try await ProvingPeer.start()
    let answer = try await ProvingPeer(sandbox).post(ProvingPeer.passwordForm, text)
    #expect(answer.error == "invalid_dpop_proof")
    await sandbox.stop()
  }

  @Test func `a request with two proofs is refused`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let answer = try await client.post(ProvingPeer.passwordForm, client.proof(), client.proof())
    #expect(answer.error == "invalid_dpop_proof" && answer.text.contains("more than once"))
    await sandbox.stop()
  }

  @Test func `a proof is accepted only once, and another key cannot reuse its jti`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let proof = client.proof()
    #expect(try await client.post(ProvingPeer.passwordForm, proof).status == 200)
    sandbox.advance(by: .seconds(60))
    let again = try await client.post(ProvingPeer.passwordForm, proof)
    #expect(again.error == "invalid_dpop_proof" && again.text.contains("used before"))
    // A proof with the same `jti` counts as used, even if another key signed it.
    let other = ProvingPeer(sandbox)
    let id = try #require(sandbox.requests.last?.proof?.id)
    let copied = other.proof { $0.claims["jti"] = .string(id) }
    #expect(try await other.post(ProvingPeer.passwordForm, copied).text.contains("used before"))
    await sandbox.stop()
  }

  @Test(arguments: [-60, 10])
  func `a proof with an iat slightly in the past or in the future is accepted`(seconds: Int)
    async throws
  {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let proof = client.proof { $0.move("iat", by: seconds) }
    #expect(try await client.post(ProvingPeer.passwordForm, proof).status == 200)
    await sandbox.stop()
  }

  @Test(arguments: ["/token?a=b", "/token#part", "/%74oken", "/x/../token", "/./token"])
  func `an htu that equals the URL after normalization is accepted`(path: String) async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let answer = try await client.post(ProvingPeer.passwordForm, client.proof("POST", path))
    #expect(answer.status == 200, "\(answer.text)")
    await sandbox.stop()
  }

  @Test(arguments: [SandboxSigningAlgorithm.es256, .ps256, .edDSA, .rs256, .es384])
  func `a proof is accepted only with an algorithm that the sandbox allows`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    for allowed in [SandboxDPoPOptions().algorithms, [algorithm], [.es512]] {
      let sandbox = try await ProvingPeer.start { $0.dpop.algorithms = allowed }
      let client = ProvingPeer(sandbox, algorithm)
      let answer = try await client.post(ProvingPeer.passwordForm, client.proof())
      #expect((answer.status == 200) == allowed.contains(algorithm))
      await sandbox.stop()
    }
  }

  @Test func `a proof with a 1024-bit RSA key is refused`() async throws {
    let sandbox = try await ProvingPeer.start()
    let weak = SigningKey(generating: .ps256, rsaBits: 1024)
    let proof = ProvingPeer(sandbox).proof { jwt in
      jwt.header["jwk"] = .object(weak.parameters)
      jwt.header["alg"] = "PS256"
      jwt.key = weak
    }
    let answer = try await ProvingPeer(sandbox).post(ProvingPeer.passwordForm, proof)
    #expect(answer.error == "invalid_dpop_proof" && answer.text.contains("2048"))
    await sandbox.stop()
  }

  /// With leading zeros, one key would have several thumbprints.
  @Test(arguments: ["n", "e"])
  func `an RSA key with leading zeros in its numbers is refused`(name: String) async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox, .ps256)
    let number = try #require(client.jwk[name]?.string.flatMap { Data(base64URL: $0) })
    let proof = client.proof { jwt in
      jwt.header["jwk"]?[name] = .string(Crypto.base64URL(Data([0]) + number))
    }
    let answer = try await client.post(ProvingPeer.passwordForm, proof)
    #expect(answer.error == "invalid_dpop_proof" && answer.text.contains("RFC 7518"))
    await sandbox.stop()
  }

  @Test func `the API checks the ath of a proof, and the token endpoint ignores it`() async throws {
    let sandbox = try await ProvingPeer.start()
    let client = ProvingPeer(sandbox)
    let odd = client.proof(token: "another")
    #expect(try await client.post(ProvingPeer.passwordForm, odd).status == 200)
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    for hashed in [nil, "another", token] {
      let proof = client.proof("GET", "/api/me", token: hashed)
      let answer = try await client.api(token: token, proof: proof)
      #expect(answer.status == (hashed == token ? 200 : 401))
      if hashed != token { #expect(answer.text.contains("ath")) }
    }
    await sandbox.stop()
  }
}
