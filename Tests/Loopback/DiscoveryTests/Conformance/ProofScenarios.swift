import SequencingOAuth
import Testing

@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite for tokens that are bound to a
/// key.
///
/// - SeeAlso: RFC 9449; modelcontextprotocol/conformance
@Suite(.timeLimit(.minutes(2))) struct ProofScenarios {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.actLikeTheSuite()
    party.first.change { $0.bindsTokens = true }
    party.resource.change { $0.demandsProof = true }
  }

  private func nonces(of visits: [Visit]) -> [String?] {
    visits.compactMap(\.sentProof).map(\.nonce)
  }

  @Test func `auth/dpop`() async throws {
    let client = try await party.works()
    try await party.works(client)
    let bound = party.visits("/mcp").filter { $0.token != nil }
    #expect(bound.count == 2 && bound.allSatisfy { $0.scheme == "dpop" })
    let keys = (party.redeemed + bound).compactMap(\.sentProof).map(\.thumbprint)
    #expect(keys.count == 3 && Set(keys).count == 1)
    #expect(nonces(of: party.redeemed + bound) == [nil, nil, nil])
  }

  @Test func `auth/dpop-nonce`() async throws {
    let (server, resource) = ("conformance-as-dpop-nonce", "conformance-rs-dpop-nonce")
    party.first.change { $0.nonce = server }
    party.resource.change { $0.nonce = resource }
    try await party.works()
    #expect(nonces(of: party.redeemed) == [nil, server])
    #expect(nonces(of: party.visits("/mcp")) == [nil, resource])
    #expect(party.authorized.count == 1)
  }
}
