import FoundationEssentials
import SQBasics
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

/// The closures of a test that the sandbox calls while it answers a request.
@Suite(.timeLimit(.minutes(1))) struct TestClosureTests {
  private func exchange(_ peer: SandboxPeer) async throws -> SandboxJSON {
    let details = #"[{"type":"payment_initiation","instructedAmount":1}]"#
    let form = [
      ("grant_type", "urn:example:test"), ("client_id", "sandbox-app"), ("scope", "openid"),
      ("authorization_details", details),
    ]
    let answer = try await peer.post("/token", form)
    #expect(answer.status == 200, "\(answer.text)")
    return try answer.json()
  }

  @Test func `each closure may ask and change the sandbox that calls it`() async throws {
    let started = Locked<SandboxServer?>(nil)
    let issued = Locked<[SandboxTokens]>([])
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
    options.authorizationDetailsTypes = [SandboxAuthorizationDetailsType("payment_initiation", "")]
    options.extensionGrants["urn:example:test"] = { _ in
      guard let sandbox = started.withLock(\.self) else { return nil }
      // The token's own closure is called within this one.
      let tokens = sandbox.issueTokens(scopes: ["openid"])
      issued.withLock { $0.append(tokens) }
      sandbox.register(SandboxClient(id: "made-by-the-grant"))
      return sandbox.users.last?.name
    }
    let sandbox = try await SandboxServer.start(options)
    started.withLock { $0 = sandbox }
    sandbox.misbehave(
      at: .token,
      .idToken { token in
        token.claims["iat"] = .integer(Int(sandbox.now.timeIntervalSince1970) - 600)
        sandbox.advance(by: .seconds(1))
      }, times: 2)
    sandbox.misbehave(
      at: .token,
      .authorizationDetails { objects in
        objects.map { $0.setting("issuer", to: .string(sandbox.issuer.absoluteString)) }
          + (sandbox.clients.contains { $0.id == "made-by-the-grant" } ? [["type": "known"]] : [])
      })
    let tokens = try await exchange(SandboxPeer(sandbox: sandbox))
    let claims = try ReadJWT(try #require(tokens["id_token"]?.string)).claims
    #expect(claims["sub"]?.string == sandbox.users.last?.subject)
    #expect(claims["iat"] == .integer(1_899_999_401), "the second token, a second later")
    guard case .array(let details)? = tokens["authorization_details"] else {
      Issue.record("there are no details")
      return
    }
    #expect(details.map { $0["type"] } == ["payment_initiation", "known"])
    #expect(sandbox.clients.last?.id == "made-by-the-grant")
    let own = issued.withLock(\.self)
    #expect(own.count == 1 && own.allSatisfy { sandbox.isActive($0.refreshToken) })
    #expect(sandbox.isActive(try #require(tokens["access_token"]?.string)))
    #expect(sandbox.now == Date(timeIntervalSince1970: 1_900_000_002))
    started.withLock { $0 = nil }
    await sandbox.stop()
  }
}
