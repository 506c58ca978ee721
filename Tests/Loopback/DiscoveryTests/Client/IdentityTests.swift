import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// Who a program is at a server: registered by hand, described by a document, or registered by
/// itself.
///
/// - SeeAlso: OAuth Client ID Metadata Document (draft); Model Context Protocol, Authorization
@Suite(.timeLimit(.minutes(2))) struct IdentityTests {
  private static let address = "https://app.example/client.json"
  private let party: Party

  init() throws { party = try Party() }

  private var documented: ClientIdentity {
    var identity = party.registering
    identity.documentAddress = Self.address
    return identity
  }

  private func acceptsDocuments(_ servers: AuthorizationServer...) {
    for server in servers { server.change { $0.documents = [Self.address: [Party.redirect]] } }
  }

  @Test func `a document goes to any server that accepts documents`() async throws {
    acceptsDocuments(party.first, party.second)
    let client = try await party.works(party.client(documented))
    party.resource.change { [party] in $0.servers = [party.second] }
    try await party.works(client)
    #expect(party.authorized.map(\.server) == ["first", "second"])
    #expect(party.authorized.allSatisfy { $0.value("client_id") == Self.address })
    #expect(party.registered.isEmpty)
  }

  @Test func `a server that does not accept documents registers the program`() async throws {
    try await party.works(party.client(documented))
    #expect(party.registered.count == 1)
    #expect(party.authorized.allSatisfy { $0.value("client_id") != Self.address })
  }

  @Test func `a client registered by hand comes before the document`() async throws {
    acceptsDocuments(party.first)
    party.first.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    var identity = documented
    identity.clients = [
      try ClientConfiguration(
        clientID: "by-hand", redirectURI: Party.redirect, provider: .issuer(party.first.issuer))
    ]
    try await party.works(party.client(identity))
    #expect(party.authorized.map { $0.value("client_id") } == ["by-hand"])
  }

  @Test func `a client registered by hand is for its exact issuer`() async throws {
    party.first.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    var identity = party.registering
    identity.clients = [
      try ClientConfiguration(
        clientID: "by-hand", redirectURI: Party.redirect,
        provider: .issuer(party.first.issuer + "/")),
      try ClientConfiguration(
        clientID: "by-hand", redirectURI: Party.redirect,
        provider: .endpoints(
          authorization: "\(party.first.issuer)/authorize", token: "\(party.first.issuer)/token")),
    ]
    try await party.works(party.client(identity))
    #expect(party.authorized.allSatisfy { $0.value("client_id") != "by-hand" })
  }

  @Test func `a document with a key authenticates with it`() async throws {
    let key = try ClientKey(generating: .es256)
    acceptsDocuments(party.first)
    party.first.change { $0.methods = ["none", "private_key_jwt"] }
    var identity = documented
    identity.metadata?.keys = [key]
    try await party.works(party.client(identity))
    let request = try #require(party.redeemed.first)
    let claims = try MadeKeys.claims(of: try #require(request.value("client_assertion")), by: key)
    #expect(claims["iss"] == .string(Self.address) && claims["sub"] == .string(Self.address))
    #expect(claims["aud"] == .string(party.first.issuer))
    #expect(try #require(claims["jti"]?.string).count > 20)
  }

  @Test(arguments: ["http://app.example/c", "https://app.example", "https://app.example/../c", ""])
  func `an unusable address of a document stops before the browser`(address: String) async throws {
    acceptsDocuments(party.first)
    var identity = party.registering
    identity.documentAddress = address
    await failure { try await party.client(identity).send(party.request()) }
    #expect(party.browser.opened == [] && party.registered.isEmpty)
  }

  @Test func `an identity prints no secret`() throws {
    var identity = documented
    identity.clients = [
      try ClientConfiguration(
        clientID: "id", clientSecret: "SECRET", provider: .issuer("https://id.example"))
    ]
    #expect(
      "\(identity)"
        == "ClientIdentity(1 registered by hand, document \(Self.address), registers itself)")
    var text = ""
    dump(identity, to: &text)
    #expect(!text.contains("SECRET"))
    let client = try party.client(identity, of: "https://api.example/mcp?key=SECRET")
    #expect("\(client)" == "client of https://api.example/mcp")
  }
}
