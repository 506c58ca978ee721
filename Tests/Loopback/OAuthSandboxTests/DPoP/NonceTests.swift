import FoundationEssentials
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct NonceTests {
  private func start(
    _ change: (inout SandboxDPoPOptions) -> Void = { _ in }
  ) async throws -> (SandboxServer, ProvingPeer) {
    let sandbox = try await ProvingPeer.start { options in
      // A challenge without the metadata's address is easier to compare.
      options.resources.describesItself = false
      options.dpop.noncesRequiredBy = [.authorizationServer, .api]
      options.dpop.nonceLifetime = .seconds(60)
      change(&options.dpop)
    }
    return (sandbox, ProvingPeer(sandbox))
  }

  @Test(arguments: [nil, "", "guessed"])
  func `the token endpoint refuses a proof without its current nonce and offers the nonce`(
    nonce: String?
  ) async throws {
    let (sandbox, client) = try await start()
    let refused = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
    #expect(refused.status == 400 && refused.error == "use_dpop_nonce")
    let offered = try #require(refused.header("dpop-nonce"))
    #expect(offered == sandbox.proofNonce(of: .authorizationServer))
    let right = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: offered))
    #expect(try right.tokens().tokenType == "DPoP")
    #expect(right.header("dpop-nonce") == nil)
    await sandbox.stop()
  }

  @Test func `the API answers a proof without its own nonce with a challenge and the nonce`()
    async throws
  {
    let (sandbox, client) = try await start { $0.apiHasOwnNonces = true }
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let server = sandbox.proofNonce(of: .authorizationServer)
    for nonce in [nil, server] {
      let proof = client.proof("GET", "/api/me", token: token, nonce: nonce)
      let refused = try await client.api(token: token, proof: proof)
      #expect(refused.status == 401)
      let challenge = try #require(refused.header("www-authenticate"))
      #expect(challenge.hasPrefix(#"DPoP realm="sandbox", error="use_dpop_nonce""#))
      #expect(challenge.hasSuffix(#"algs="ES256 PS256 EdDSA""#))
      #expect(refused.header("dpop-nonce") == sandbox.proofNonce(of: .api))
    }
    let own = client.proof("GET", "/api/me", token: token, nonce: sandbox.proofNonce(of: .api))
    #expect(try await client.api(token: token, proof: own).status == 200)
    #expect(sandbox.proofNonce(of: .api) != server)
    await sandbox.stop()
  }

  @Test func `a nonce is accepted for one more period after it is replaced`() async throws {
    let (sandbox, client) = try await start()
    let first = sandbox.proofNonce(of: .authorizationServer)
    #expect(first == sandbox.proofNonce(of: .api), "the server and the API share the nonces")
    for (period, status) in [(0, 200), (1, 200), (2, 400)] {
      if period > 0 { sandbox.advance(by: .seconds(60)) }
      let answer = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: first))
      #expect(answer.status == status)
      #expect((sandbox.proofNonce(of: .api) == first) == (period == 0))
    }
    await sandbox.stop()
  }

  @Test func `the sandbox can offer a nonce in every answer of the token endpoint`() async throws {
    let (sandbox, client) = try await start { options in
      options.offersNonceInEveryAnswer = true
      options.noncesRequiredBy = [.authorizationServer]
    }
    let nonce = sandbox.proofNonce(of: .authorizationServer)
    let right = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
    #expect(right.status == 200 && right.header("dpop-nonce") == nonce)
    let refused = try await client.post(ProvingPeer.passwordForm, client.proof())
    #expect(refused.headers.filter { $0.name == "dpop-nonce" }.map(\.value) == [nonce])
    let bearer = try await client.post(ProvingPeer.passwordForm)
    #expect(bearer.status == 200 && bearer.header("dpop-nonce") == nonce)
    #expect(try await client.peer.get("/api/me").header("dpop-nonce") == nil)
    #expect(try await client.peer.get("/jwks").header("dpop-nonce") == nil)
    await sandbox.stop()
  }

  @Test func `a nonce can contain all punctuation that RFC 9449 allows`() async throws {
    let (sandbox, client) = try await start { $0.nonceForm = .punctuated }
    let refused = try await client.post(ProvingPeer.passwordForm, client.proof())
    let nonce = try #require(refused.header("dpop-nonce"))
    #expect(nonce.utf8.count == 90 && Set(nonce.utf8.filter { !$0.isAlphanumeric }).count >= 30)
    #expect(nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
    let cut = String(try #require(nonce.split(separator: ",").first))
    for (nonce, status) in [(cut, 400), (nonce, 200)] {
      let answer = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
      #expect(answer.status == status)
    }
    await sandbox.stop()
  }

  @Test func `the sandbox can replace its nonce after each success without offering the new one`()
    async throws
  {
    let (sandbox, client) = try await start {
      $0.renewsNonceAfterSuccess = true
      $0.apiHasOwnNonces = true
    }
    let (first, ofAPI) = (
      sandbox.proofNonce(of: .authorizationServer), sandbox.proofNonce(of: .api)
    )
    for status in [200, 400, 400] {
      let answer = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: first))
      #expect(answer.status == status)
      #expect((answer.header("dpop-nonce") == nil) == (status == 200))
    }
    // The success renewed the authorization server's nonce, but not the API's nonce.
    let second = sandbox.proofNonce(of: .authorizationServer)
    #expect(second != first && sandbox.proofNonce(of: .api) == ofAPI)
    let right = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: second))
    #expect(right.status == 200)
    await sandbox.stop()
  }

  @Test func `each successful answer can offer the nonce for the next request`() async throws {
    let (sandbox, client) = try await start {
      $0.renewsNonceAfterSuccess = true
      $0.offersNonceInEveryAnswer = true
    }
    var nonce = sandbox.proofNonce(of: .authorizationServer)
    for _ in 0..<3 {
      let answer = try await client.post(ProvingPeer.passwordForm, client.proof(nonce: nonce))
      #expect(answer.status == 200)
      nonce = try #require(answer.header("dpop-nonce"))
    }
    await sandbox.stop()
  }

  @Test(arguments: [SandboxDPoPOptions.Policy.accepted, .required])
  func `a DPoP challenge can have no algs, no body and a scheme in mixed case`(
    policy: SandboxDPoPOptions.Policy
  ) async throws {
    let (sandbox, client) = try await start {
      $0.policy = policy
      $0.challengeScheme = "dPoP"
      $0.challengesAreBare = true
    }
    let token = sandbox.issueTokens(boundTo: client.thumbprint).accessToken
    let refused = try await client.api(
      token: token, proof: client.proof("GET", "/api/me", token: token))
    #expect(refused.status == 401 && refused.body.isEmpty)
    #expect(refused.header("content-type") == nil && refused.header("dpop-nonce") != nil)
    let challenge = try #require(refused.header("www-authenticate"))
    #expect(challenge.hasPrefix(#"dPoP realm="sandbox", error="use_dpop_nonce""#))
    #expect(!challenge.contains("algs"))
    let plain = try await client.peer.get("/api/me").header("www-authenticate")
    #expect(
      plain == (policy == .required ? #"dPoP realm="sandbox""# : #"Bearer realm="sandbox", dPoP"#))
    await sandbox.stop()
  }

  @Test func `a request that is refused for its nonce does not invalidate its code`() async throws {
    let (sandbox, client) = try await start()
    let code = try await client.peer.code()
    let refused = try await client.peer.redeem(code, headers: [("DPoP", client.proof())])
    let nonce = try #require(refused.header("dpop-nonce"))
    let proof = client.proof(nonce: nonce)
    #expect(try await client.peer.redeem(code, headers: [("DPoP", proof)]).status == 200)
    await sandbox.stop()
  }

  @Test func `pushed requests need the nonce of the authorization server`() async throws {
    let (sandbox, client) = try await start()
    let form = BoundTokenTests.signIn
    let refused = try await client.post(form, to: "/par", client.proof("POST", "/par"))
    #expect(refused.status == 400 && refused.error == "use_dpop_nonce")
    let nonce = try #require(refused.header("dpop-nonce"))
    let right = client.proof("POST", "/par", nonce: nonce)
    #expect(try await client.post(form, to: "/par", right).status == 201)
    await sandbox.stop()
  }
}
