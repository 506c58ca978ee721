import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite about the client's identity and
/// authentication.
///
/// - SeeAlso: modelcontextprotocol/conformance, `requirements/2026-07-28.yaml`
@Suite(.timeLimit(.minutes(2))) struct ClientScenarios {
  private let party: Party

  init() throws { party = try Party() }

  @Test func `auth/basic-cimd`() async throws {
    let address = "https://conformance-test.local/client-metadata.json"
    party.first.change { $0.documents = [address: [Party.redirect]] }
    var identity = party.registering
    identity.documentAddress = address
    try await party.works(party.client(identity))
    #expect(party.authorized.map { $0.value("client_id") } == [address])
    #expect(party.redeemed.map { $0.value("client_id") } == [address])
    #expect(party.registered.isEmpty)
  }

  private func authenticates(by method: String) async throws -> Visit {
    party.first.change {
      $0.methods = [method]
      $0.registration["client_secret"] = "first-secret"
    }
    try await party.works()
    #expect(party.redeemed.count == 1)
    return try #require(party.redeemed.first)
  }

  @Test func `auth/token-endpoint-auth-basic`() async throws {
    let request = try await authenticates(by: "client_secret_basic")
    #expect(request.scheme == "basic" && request.form["client_secret"] == nil)
  }

  @Test func `auth/token-endpoint-auth-post`() async throws {
    let request = try await authenticates(by: "client_secret_post")
    #expect(request.scheme == nil && request.value("client_secret") == "first-secret")
  }

  @Test func `auth/token-endpoint-auth-none`() async throws {
    let request = try await authenticates(by: "none")
    #expect(request.scheme == nil && request.form["client_secret"] == nil)
  }

  @Test func `auth/pre-registration`() async throws {
    party.first.change {
      $0.registers = false
      $0.methods = ["client_secret_basic"]
    }
    party.first.know(
      "pre-registered-client",
      .init(
        secret: "pre-registered-secret", method: "client_secret_basic",
        redirectURIs: [Party.redirect], acceptsAnyPort: true))
    let byHand = try ClientConfiguration(
      clientID: "pre-registered-client", clientSecret: "pre-registered-secret",
      redirectURI: Party.redirect, provider: .issuer(party.first.issuer))
    try await party.works(party.client(ClientIdentity(clients: [byHand])))
    #expect(party.redeemed.count == 1 && party.redeemed[0].scheme == "basic")
    #expect(party.paths(at: "first").allSatisfy { $0 != "/register" })
  }
}
