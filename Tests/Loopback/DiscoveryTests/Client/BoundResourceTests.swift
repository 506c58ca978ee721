import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// A resource that demands tokens that are bound to a key, and says so only in its challenges.
@Suite(.timeLimit(.minutes(2))) struct BoundResourceTests {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.change { $0.bindsTokens = true }
    party.resource.change { $0.demandsProof = true }
  }

  /// Returns a client as in a new process.
  private func restarted(
    _ identity: ClientIdentity? = nil, _ store: MemoryTokenStore? = nil
  ) throws -> ResourceClient {
    try party.client(identity, manager: Party.manager(store ?? party.store, party.browser))
  }

  /// Expects that each sign-in so far got tokens for a proof.
  private func expectBound(_ signIns: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(party.authorized.count == signIns, sourceLocation: sourceLocation)
    #expect(party.redeemed.allSatisfy { $0.proof != nil }, sourceLocation: sourceLocation)
    party.expectNoFaults(sourceLocation: sourceLocation)
  }

  private func demandsScope() {
    party.resource.change {
      $0.demand = { visit in
        visit.request.method == "DELETE" ? (["b"], #"error="insufficient_scope", scope="b""#) : nil
      }
    }
  }

  @Test func `after a restart, a step-up gets bound tokens`() async throws {
    demandsScope()
    try await party.works()
    #expect(try await restarted().send(party.request("DELETE")).status == 200)
    expectBound(2)
  }

  @Test func `after a restart, the account's own sign-in gets bound tokens`() async throws {
    try await party.works()
    let module = try #require(try await restarted().account())
    try await module.signIn()
    #expect(module.currentToken?.isBound == true)
    expectBound(2)
  }

  @Test func `after a restart, the app's sign-in gets bound tokens`() async throws {
    try await party.works()
    let client = try restarted()
    try await client.signIn()
    try await party.works(client)
    expectBound(2)
  }

  @Test func `after the end of the session, one sign-in gets bound tokens`() async throws {
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try await party.works()
    let module = try #require(try await client.account())
    party.first.change {
      $0.replies["/token"] = { visit in
        visit.value("grant_type") == "refresh_token"
          ? .json(["error": "invalid_grant"], status: 400) : nil
      }
    }
    await failure(.invalidGrant) { try await module.refresh() }
    try await party.works(client)
    expectBound(2)
  }

  /// The two processes share the store, and the resource demands proofs only from now on.
  @Test func `a step-up keeps the binding of tokens that another process has got`() async throws {
    demandsScope()
    party.first.change { $0.bindsTokens = false }
    party.resource.change { $0.demandsProof = false }
    let client = try await party.works()
    party.first.change { $0.bindsTokens = true }
    party.resource.change { $0.demandsProof = true }
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    try await party.works(restarted())
    let module = try #require(try await client.account())
    _ = await module.session.lookAtStore()
    #expect(try await client.send(party.request("DELETE")).status == 200)
    #expect(party.redeemed.map { $0.proof != nil } == [false, true, true])
    #expect(party.authorized.count == 3)
  }

  @Test func `a resource that stops demanding proofs gets Bearer tokens at its next challenge`()
    async throws
  {
    let client = try await party.works()
    party.first.change { $0.bindsTokens = false }
    party.resource.change { $0.demandsProof = false }
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    try await party.works(client)
    #expect(party.redeemed.map { $0.proof != nil } == [true, false])
  }

  /// A key in hardware must not be replaced by a key in the store.
  @Test func `a client that was registered by hand keeps its own key`() async throws {
    let key = try ClientKey(generating: .es256)
    party.first.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    var byHand = try ClientConfiguration(
      clientID: "by-hand", redirectURI: Party.redirect, provider: .issuer(party.first.issuer))
    byHand.tokenBinding = .dpopKey(key)
    let identity = ClientIdentity(clients: [byHand])
    for store in [MemoryTokenStore(), MemoryTokenStore()] {
      try await party.works(restarted(identity, store))
      try await party.works(restarted(identity, store))
    }
    expectBound(2)
    let proofs = party.redeemed + party.visits("/mcp")
    #expect(Set(proofs.compactMap(\.sentProof).map(\.thumbprint)).count == 1)
  }
}
