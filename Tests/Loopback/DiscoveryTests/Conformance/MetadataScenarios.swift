import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite in which the client finds the
/// servers; each test has the name of its scenario.
///
/// - SeeAlso: modelcontextprotocol/conformance, `requirements/2026-07-28.yaml`
@Suite(.timeLimit(.minutes(2))) struct MetadataScenarios {
  private let party: Party
  private let wellKnown = "/.well-known/oauth-protected-resource"
  private let oauth = "/.well-known/oauth-authorization-server"
  private let openID = "/.well-known/openid-configuration"

  init() throws {
    party = try Party()
    party.first.actLikeTheSuite()
  }

  @Test func `auth/metadata-default`() async throws {
    try await party.works()
    #expect(party.paths(at: "resource") == ["/mcp", "\(wellKnown)/mcp", "/mcp"])
    #expect(party.addresses(at: "first") == [oauth, "/register", "/authorize", "/token"])
  }

  @Test func `auth/metadata-var1`() async throws {
    party.resource.change { $0.namesMetadata = false }
    party.first.change { [openID] in $0.metadataPath = openID }
    try await party.works()
    #expect(party.paths(at: "resource") == ["/mcp", "\(wellKnown)/mcp", "/mcp"])
    #expect(party.addresses(at: "first") == [oauth, openID, "/register", "/authorize", "/token"])
  }

  @Test func `auth/metadata-var2`() async throws {
    party.resource.change { [wellKnown, party] in
      $0.namesMetadata = false
      $0.metadataPath = wellKnown
      $0.identifier = party.resource.origin
    }
    party.first.change { $0.path = "/tenant1" }
    try await party.works()
    #expect(party.paths(at: "resource") == ["/mcp", "\(wellKnown)/mcp", wellKnown, "/mcp"])
    #expect(
      party.addresses(at: "first") == [
        "\(oauth)/tenant1", "/tenant1/register", "/tenant1/authorize", "/tenant1/token",
      ])
  }

  @Test func `auth/metadata-var3`() async throws {
    party.resource.change { $0.metadataPath = "/custom/metadata/location.json" }
    party.first.change { [openID] in
      $0.path = "/tenant1"
      $0.metadataPath = "/tenant1\(openID)"
    }
    try await party.works()
    #expect(party.paths(at: "resource") == ["/mcp", "/custom/metadata/location.json", "/mcp"])
    #expect(
      party.addresses(at: "first") == [
        "\(oauth)/tenant1", "\(openID)/tenant1", "/tenant1\(openID)", "/tenant1/register",
        "/tenant1/authorize", "/tenant1/token",
      ])
  }

  @Test func `auth/metadata-issuer-mismatch`() async throws {
    party.first.change { [party] in
      $0.members = ["issuer": "https://attacker.example.com"]
      for name in ["authorization", "token", "registration"] {
        $0.members["\(name)_endpoint"] = "\(party.first.origin)/mismatched-as/\(name)"
      }
    }
    await failure(.issuerMismatch) { try await party.client().send(party.request()) }
    #expect(party.paths(at: "first").contains(oauth))
    #expect(party.paths(at: "first").allSatisfy { $0.contains("/.well-known/") })
    #expect(party.browser.opened == [])
    party.expectNoFaults()
  }

  @Test func `auth/resource-mismatch`() async throws {
    party.resource.change { $0.identifier = "https://evil.example.com/mcp" }
    let error = await failure(.resourceMetadataInvalid) {
      try await party.client().send(party.request())
    }
    #expect(error?.message.contains(party.resource.metadataAddress) == true)
    #expect(error?.message.contains("https://evil.example.com/mcp") == true)
    #expect(party.visits(at: "first").isEmpty && party.browser.opened == [])
    party.expectNoFaults()
  }

  @Test func `auth/authorization-server-migration`() async throws {
    party.second.actLikeTheSuite()
    party.resource.change { $0.challenge = #"scope="mcp:basic""# }
    let client = try await party.works()
    party.resource.change { [party] in $0.servers = [party.second] }
    try await party.works(client)
    #expect(
      party.addresses(at: "second") == [oauth, "/register", "/authorize", "/token"])
    #expect(party.authorized.map(\.server) == ["first", "second"])
    #expect(party.paths(at: "resource").filter { $0.hasSuffix("/mcp") && $0 != "/mcp" }.count == 2)
    // A third request uses the new server's token without another sign-in.
    try await party.works(client)
    #expect(party.authorized.count == 2)
  }
}
