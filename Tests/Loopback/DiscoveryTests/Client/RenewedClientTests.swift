import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// A client that registered itself, and whose secret the authorization server has replaced.
///
/// - SeeAlso: RFC 7592, section 2.1
@Suite(.timeLimit(.minutes(2))) struct RenewedClientTests {
  private let party: Party

  init() throws {
    party = try Party()
    let first = party.first
    first.change {
      $0.methods = ["client_secret_basic"]
      $0.issuesRefreshTokens = true
      $0.registration = [
        "registration_client_uri": .string("\(first.origin)/manage"),
        "registration_access_token": "management",
      ]
    }
    showsRegistration()
  }

  /// Makes the server answer a read of the registration with the client's secret.
  private func showsRegistration() {
    let first = party.first
    first.change {
      $0.replies["/manage"] = { [weak first] _ in
        guard let first, let (id, client) = first.state.withLock({ $0.clients.first }) else {
          return .status(401)
        }
        return .json(["client_id": .string(id), "client_secret": .string(client.secret ?? "")])
      }
    }
  }

  /// Gives the client a new secret, which only its registration shows.
  private func replaceSecret() {
    party.first.state.withLock { state in
      for id in state.clients.keys { state.clients[id]?.secret = "first-secret-new" }
    }
  }

  private func revokeToken() throws {
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
  }

  /// Returns the client of a new process in which no user can sign in.
  private func withoutUser() throws -> ResourceClient {
    try party.client(manager: Party.manager(party.store, party.browser)) { $0.interaction = .none }
  }

  private var grants: [String?] { party.redeemed.map { $0.value("grant_type") } }
  private var reads: Int { party.visits("/manage").count(where: { $0.request.method == "GET" }) }
  private var kept: ClientRegistration? {
    party.registrations.registration(at: party.first.issuer)
  }

  @Test func `after invalid_client, the new secret of the registration refreshes the token`()
    async throws
  {
    try await party.works()
    let client = try withoutUser()
    try await party.works(client)
    replaceSecret()
    try revokeToken()
    try await party.works(client)
    #expect(grants == ["authorization_code", "refresh_token", "refresh_token"])
    #expect(party.authorized.count == 1 && party.registered.count == 1 && reads == 1)
    #expect(kept?.clientSecret == "first-secret-new" && kept?.isManageable == true)
  }

  @Test func `a secret that another process has renewed is taken from the store`() async throws {
    try await party.works()
    let clients = [try withoutUser(), try withoutUser()]
    for client in clients { try await party.works(client) }
    replaceSecret()
    try revokeToken()
    for client in clients { try await party.works(client) }
    try revokeToken()
    try await party.works(clients[1])
    #expect(party.authorized.count == 1 && party.registered.count == 1 && reads == 1)
  }

  @Test func `a client that the server no longer knows registers again`() async throws {
    let client = try await party.works()
    let first = try #require(kept)
    party.first.forgetClients()
    try revokeToken()
    try await party.works(client)
    #expect(party.authorized.count == 2 && party.registered.count == 2)
    #expect(kept != nil && kept?.clientID != first.clientID)
  }

  @Test func `while the server cannot show the registration, the client is kept`() async throws {
    let client = try await party.works()
    let first = try #require(kept)
    replaceSecret()
    try revokeToken()
    party.first.change { $0.replies["/manage"] = { _ in .status(503) } }
    await failure(.invalidClient) { try await client.send(party.request()) }
    #expect(kept == first)
    showsRegistration()
    try await party.works(client)
    #expect(party.authorized.count == 1 && party.registered.count == 1)
  }

  /// The server may refuse only refreshes.
  @Test func `a client whose registration is unchanged signs the user in and is kept`() async throws
  {
    let client = try await party.works()
    let first = try #require(kept)
    try revokeToken()
    party.first.change {
      $0.replies["/token"] = { visit in
        visit.value("grant_type") == "refresh_token"
          ? .json(["error": "invalid_client"], status: 401) : nil
      }
    }
    try await party.works(client)
    #expect(grants == ["authorization_code", "refresh_token", "authorization_code"])
    #expect(kept?.clientID == first.clientID && party.registered.count == 1)
  }
}
