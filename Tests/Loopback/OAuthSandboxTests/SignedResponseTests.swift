import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct SignedResponseTests {
  private func start(_ change: (inout SandboxOptions) -> Void = { _ in }) async throws
    -> (SandboxServer, SandboxPeer)
  {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
    options.authorizationResponseAlgorithms = [.es256, .ps256]
    change(&options)
    let sandbox = try await SandboxServer.start(options)
    return (sandbox, SandboxPeer(sandbox: sandbox))
  }

  /// Signs in, and returns the parameters of the redirect or of the form.
  private func answer(
    _ peer: SandboxPeer, _ mode: String = "jwt", _ changes: [String: String?] = [:],
    decision: SandboxVisitor.Decision = .allow
  ) async throws -> [(name: String, value: String)] {
    let changes = changes.merging(["response_mode": mode]) { $1 }
    let visit = try await SandboxVisitor(decision: decision).visit(
      try peer.authorizationURL(changes))
    return visit.form.map { ($0.name, $0.value) } + SandboxPeer.parameters(visit.redirect)
  }

  /// Reads the only parameter of a response, whose signature must be right.
  private func claims(
    _ parameters: [(name: String, value: String)], _ peer: SandboxPeer
  ) async throws -> ReadJWT {
    try #require(parameters.map(\.name) == ["response"])
    let keys = try await peer.keys()
    let jwt = try #require(ReceivedJWT(parameters[0].value))
    #expect(keys.contains(where: jwt.isSigned(byRegistered:)))
    return try ReadJWT(parameters[0].value)
  }

  @Test(arguments: ["jwt", "query.jwt", "form_post.jwt"])
  func `the response is a signed JWT with all parameters`(mode: String) async throws {
    let (sandbox, peer) = try await start()
    let keysBefore = try await peer.keys().compactMap { $0["kid"]?.string }
    let jwt = try await claims(try await answer(peer, mode), peer)
    #expect(jwt.header["alg"] == "ES256")
    #expect(keysBefore.contains(jwt.header["kid"]?.string ?? ""), "a client may fetch keys first")
    #expect(jwt.claims.names == ["aud", "code", "exp", "iss", "state"])
    #expect(jwt.claims["iss"]?.string == sandbox.issuer.absoluteString)
    #expect(jwt.claims["aud"] == "sandbox-app" && jwt.claims["exp"] == 1_900_000_600)
    #expect(jwt.claims["state"] == "a state+&=%")
    let code = try #require(jwt.claims["code"]?.string)
    #expect(try await peer.redeem(code).status == 200)
    await sandbox.stop()
  }

  @Test func `an error response is signed`() async throws {
    let (sandbox, peer) = try await start()
    let denied = try await claims(try await answer(peer, decision: .deny), peer)
    #expect(denied.claims["error"] == "access_denied" && denied.claims["code"] == nil)
    let wrong = try await claims(try await answer(peer, "jwt", ["scope": "x"]), peer)
    #expect(wrong.claims["error"] == "invalid_scope" && wrong.claims["aud"] == "sandbox-app")
    await sandbox.stop()
  }

  @Test func `a client can have its own signing algorithm for responses`() async throws {
    let (sandbox, peer) = try await start {
      $0.clients[0].authorizationResponseAlgorithm = .edDSA
    }
    let jwt = try await claims(try await answer(peer), peer)
    #expect(jwt.header["alg"] == "EdDSA")
    let description =
      #"{"redirect_uris":["https://a.example/"],"authorization_signed_response_alg":"PS256"}"#
    _ = try await peer.post("/register", body: description, type: "application/json")
    #expect(sandbox.clients.last?.authorizationResponseAlgorithm == .ps256)
    let wrong = description.replacing("PS256", with: "none")
    let refused = try await peer.post("/register", body: wrong, type: "application/json")
    #expect(refused.error == "invalid_client_metadata")
    await sandbox.stop()
  }

  @Test func `signed responses can be required, and are not supported by default`() async throws {
    let path = "/.well-known/oauth-authorization-server"
    let modes = "response_modes_supported"
    let algorithms = "authorization_signing_alg_values_supported"
    let (sandbox, peer) = try await start { $0.requiresSignedAuthorizationResponses = true }
    for mode in [nil, "query", "form_post"] {
      let changes = ["response_mode": mode]
      #expect(try await peer.redirect(changes).value("error") == "invalid_request")
    }
    #expect(try await claims(try await answer(peer), peer).claims["code"] != nil)
    let metadata = try await peer.get(path).json()
    #expect(metadata[modes] == ["query.jwt", "form_post.jwt", "jwt"])
    #expect(metadata[algorithms] == ["ES256", "PS256"])
    await sandbox.stop()
    let plain = try await SandboxServer.start()
    let other = SandboxPeer(sandbox: plain)
    let refused = try await other.redirect(["response_mode": "jwt"])
    #expect(refused.value("error") == "invalid_request")
    let document = try await other.get(path).json()
    #expect(document[modes] == ["query", "form_post"] && document[algorithms] == nil)
    await plain.stop()
  }

  // MARK: Faults

  @Test(
    arguments: [
      (.issuerWrong, "iss", "https://other.example"), (.issuerMissing, "iss", nil),
      (.audienceWrong, "aud", "another-client"), (.audienceMissing, "aud", nil),
      (.expired, "exp", 1_899_996_400), (.expiryMissing, "exp", nil),
      (.stateMissing, "state", nil), (.stateWrong, "state", "another-state"),
    ] as [(SandboxSignedResponseFault, String, SandboxJSON?)])
  func `the sandbox can once send a signed response with one wrong claim`(
    fault: SandboxSignedResponseFault, name: String, value: SandboxJSON?
  ) async throws {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .authorization, .signedResponse(fault))
    #expect(try await peer.redirect().value("code") != nil, "the fault waits for a JWT")
    let wrong = try await claims(try await answer(peer), peer)
    let right = try await claims(try await answer(peer), peer)
    #expect(wrong.claims[name] == value && right.claims[name] != value)
    let others = Set(["aud", "code", "exp", "iss", "state"]).subtracting([name])
    #expect(Set(wrong.claims.names).isSuperset(of: others))
    await sandbox.stop()
  }

  @Test(arguments: [SandboxSignedResponseFault.wrongSignature, .unpublishedKey, .unsigned])
  func `the sandbox can send a response with a wrong or missing signature`(
    fault: SandboxSignedResponseFault
  ) async throws {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .authorization, .signedResponse(fault))
    let parameters = try await answer(peer)
    #expect(parameters.map(\.name) == ["response"])
    let keys = try await peer.keys()
    let jwt = try #require(ReceivedJWT(parameters[0].value))
    #expect(!keys.contains(where: jwt.isSigned(byRegistered:)))
    #expect((jwt.header["alg"] == "none") == (fault == .unsigned))
    #expect(jwt.claims["code"] != nil)
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (.plain, ["code", "state", "iss"]), (.plainToo, ["code", "state", "iss", "response"]),
      (.doubled, ["response", "response"]), (.missing, []), (.notJWT, ["response"]),
    ] as [(SandboxSignedResponseFault, [String])])
  func `the sandbox can send wrong parameters in place of or beside the signed response`(
    fault: SandboxSignedResponseFault, names: [String]
  ) async throws {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .authorization, .signedResponse(fault))
    let parameters = try await answer(peer, "query.jwt")
    #expect(parameters.map(\.name) == names)
    if fault == .notJWT { #expect(ReceivedJWT(parameters[0].value) == nil) }
    await sandbox.stop()
  }

  @Test func `faults that a test sets for redirects or JWTs also change signed responses`()
    async throws
  {
    let (sandbox, peer) = try await start()
    sandbox.misbehave(at: .authorization, .issuer(.value("https://evil.example")))
    #expect(try await claims(try await answer(peer), peer).claims["iss"] == "https://evil.example")
    sandbox.misbehave(at: .authorization, .jwt(.keyIDMissing))
    #expect(try await claims(try await answer(peer), peer).header["kid"] == nil)
    sandbox.misbehave(at: .authorization, .jwt { $0.claims["nbf"] = 2_000_000_000 })
    #expect(try await claims(try await answer(peer), peer).claims["nbf"] == 2_000_000_000)
    await sandbox.stop()
  }

  @Test func `each fault has its own description`() {
    let faults = SandboxSignedResponseFault.allCases
    #expect(Set(faults.map(\.description)).count == faults.count)
  }
}
