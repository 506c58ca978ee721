import SQLoopback
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

  @Test func `a client ID metadata document is used at each server that accepts documents`()
    async throws
  {
    acceptsDocuments(party.first, party.second)
    let client = try await party.works(party.client(documented))
    party.resource.change { [party] in $0.servers = [party.second] }
    try await party.works(client)
    #expect(party.authorized.map(\.server) == ["first", "second"])
    #expect(party.authorized.allSatisfy { $0.value("client_id") == Self.address })
    #expect(party.registered.isEmpty)
  }

  @Test func `at a server that accepts no client ID documents, the client registers itself`()
    async throws
  {
    try await party.works(party.client(documented))
    #expect(party.registered.count == 1)
    #expect(party.authorized.allSatisfy { $0.value("client_id") != Self.address })
  }

  @Test(arguments: [true, false])
  func `a client that registers or describes itself follows the profile of its metadata`(
    isDocumented: Bool
  ) async throws {
    if isDocumented { acceptsDocuments(party.first) }
    party.first.change { $0.methods = ["private_key_jwt"] }
    var identity = documented
    identity.metadata?.keys = [try ClientKey(generating: .es256)]
    identity.metadata?.profile = .fapi2
    let client = try party.client(identity) { $0.profile = .standard }
    let error = await failure(.signInUnsupported) { try await client.send(party.request()) }
    #expect(error?.message.contains("pushed_authorization_request_endpoint") == true)
    #expect(party.browser.opened == [] && party.registered.isEmpty)
  }

  @Test func `a client registered by hand is preferred to a client ID document`() async throws {
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

  @Test func `a client registered by hand is used only at its exact issuer`() async throws {
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

  @Test func `a client with a client ID document and a key authenticates with private_key_jwt`()
    async throws
  {
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

  @Test(arguments: [
    ("http://app.example/c", SQOAuthError.Code.insecureEndpoint),
    ("https://app.example", .invalidConfiguration),
    ("https://app.example/../c", .invalidConfiguration), ("", .invalidConfiguration),
  ])
  func `an unusable client ID document URL fails the request before the browser opens`(
    address: String, code: SQOAuthError.Code
  ) async throws {
    acceptsDocuments(party.first)
    var identity = party.registering
    identity.documentAddress = address
    await failure(code) { try await party.client(identity).send(party.request()) }
    #expect(party.paths(at: "first") == ["/.well-known/oauth-authorization-server"])
    #expect(party.browser.opened == [])
  }

  @Test func `the description of a client identity contains no secret`() throws {
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

  // MARK: A forgotten client

  /// Signs in, and returns a client of a program that kept only its registration.
  private func afterLogout(
    change: (inout ResourceClient.Options) -> Void = { _ in }
  ) async throws -> ResourceClient {
    try await party.works()
    return try party.client(
      manager: Party.manager(MemoryTokenStore(), party.browser), change: change)
  }

  @Test func `a stored registration that the server has forgotten is replaced by a new one`()
    async throws
  {
    let client = try await afterLogout()
    party.first.forgetClients()
    try await party.works(client)
    #expect(party.registered.count == 2)
    let ids = party.authorized.compactMap { $0.value("client_id") }
    #expect(ids.count == 3 && ids[0] == ids[1] && ids[1] != ids[2])
    #expect(party.registrations.registration(at: party.first.issuer)?.clientID == ids[2])
  }

  @Test func `if the user refuses a sign-in of a new client, the next request signs in again`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try await party.works()
    party.first.forgetClients()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    party.browser.refuse()
    await failure(.cancelled) { try await client.send(party.request()) }
    party.browser.refuse(false)
    try await party.works(client)
    #expect(party.registered.count == 2 && party.authorized.count == 2)
  }

  /// The server compares ports, and each registration has its own.
  @Test
  func `after one client has replaced a registration, another client steps up with its ports`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    let clients = try [party.client(), party.client()]
    for client in clients { try await party.works(client) }
    party.first.forgetClients()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    try await party.works(clients[0])
    party.resource.change {
      $0.demand = { visit in
        visit.request.method == "DELETE" ? (["a"], #"error="insufficient_scope", scope="a""#) : nil
      }
    }
    #expect(try await clients[1].send(party.request("DELETE")).status == 200)
    #expect(party.authorized.count == 3 && party.registered.count == 2)
    party.expectNoFaults()
  }

  /// The server shows the user a page about the unknown client, and sends no redirect.
  @Test func `after a sign-in times out, the registration is removed if its client is unknown`()
    async throws
  {
    let client = try await afterLogout { $0.signInTimeout = .milliseconds(200) }
    party.first.forgetClients()
    party.browser.gate.close()
    let error = await failure(.timedOut) { try await client.send(party.request()) }
    #expect(error?.message.contains("no longer knows the program's client") == true)
    #expect(party.registrations.registration(at: party.first.issuer) == nil)
    party.browser.gate.open()
  }

  @Test func `after a sign-in times out, the registration is kept if the server knows the client`()
    async throws
  {
    let client = try await afterLogout { $0.signInTimeout = .milliseconds(200) }
    party.browser.gate.close()
    await failure(.timedOut) { try await client.send(party.request()) }
    #expect(party.registrations.registration(at: party.first.issuer) != nil)
    party.browser.gate.open()
  }

  @Test func `a new client that the server refuses is not registered again`() async throws {
    party.first.change {
      $0.replies["/token"] = { _ in .json(["error": "invalid_client"], status: 401) }
    }
    await failure(.invalidClient) { try await party.client().send(party.request()) }
    #expect(party.registered.count == 1 && party.authorized.count == 1)
  }

  /// The client's own scope `mail` has nothing to do with the resource, so the client must not
  /// request it for the resource.
  @Test func `the scopes of a client registered by hand are not requested for the resource`()
    async throws
  {
    party.first.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    let byHand = try ClientConfiguration(
      clientID: "by-hand", redirectURI: Party.redirect, scope: "mail",
      provider: .issuer(party.first.issuer))
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { _ in (["b"], #"error="insufficient_scope", scope="b""#) }
    }
    try await party.works(party.client(ClientIdentity(clients: [byHand])))
    #expect(party.asked == [["a"], ["a", "b"]])
    party.resource.change {
      $0.challenge = ""
      $0.demand = nil
    }
    let other = try party.client(
      ClientIdentity(clients: [byHand]), manager: Party.manager(MemoryTokenStore(), party.browser))
    try await party.works(other)
    #expect(party.asked.last == .some(nil), "the resource names no scopes")
  }
}
