import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import SequencingOAuthPipes
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

  /// Makes the server answer a request about the registration with the client's secret.
  ///
  /// An update must have this secret.
  private func showsRegistration(replacingToken: Bool = false) {
    let first = party.first
    first.change {
      $0.replies["/manage"] = { [weak first] visit in
        guard let first, let (id, client) = first.state.withLock({ $0.clients.first }) else {
          return .status(401)
        }
        let secret = JSONValue.string(client.secret ?? "")
        guard visit.request.method == "GET" || visit.json["client_secret"] == secret else {
          return .json(["error": "invalid_client_metadata"], status: 400)
        }
        var members: [String: JSONValue] = ["client_id": .string(id), "client_secret": secret]
        if replacingToken {
          members["registration_access_token"] = .string(first.state.withLock { $0.name("manage") })
        }
        return .json(members)
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
  private var managed: [String] { party.visits("/manage").map(\.request.method) }
  private var reads: Int { managed.count(where: { $0 == "GET" }) }
  /// The identity of a newer version of the program, which its registration does not fit.
  private var changed: ClientIdentity {
    var app = Party.app
    app.grantTypes.append("urn:ietf:params:oauth:grant-type:device_code")
    return ClientIdentity(registering: app, in: party.registrations)
  }
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
    await failure(.invalidClient) { try await client.signIn() }
    #expect(kept == first && party.authorized.count == 2)
    showsRegistration()
    try await party.works(client)
    #expect(party.authorized.count == 2 && party.registered.count == 1)
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

  /// RFC 7592, section 2.2: an update must have the current secret.
  @Test func `a registration that no longer fits is read before it is updated`() async throws {
    try await party.works()
    let client = try party.client(changed, manager: Party.manager(party.store, party.browser)) {
      $0.interaction = .none
    }
    try await party.works(client)
    replaceSecret()
    try revokeToken()
    try await party.works(client)
    #expect(managed == ["GET"] && kept?.clientSecret == "first-secret-new")
    #expect(party.authorized.count == 1 && party.registered.count == 1)
  }

  @Test func `an update that is refused with status 400 is repeated with the current secret`()
    async throws
  {
    try await party.works()
    replaceSecret()
    let client = try party.client(changed, manager: Party.manager(party.store, party.browser))
    try await client.signIn()
    try await party.works(client)
    #expect(managed == ["PUT", "GET", "PUT"])
    #expect(party.authorized.count == 2 && party.registered.count == 1)
  }

  /// The registration is not read before such a sign-in.
  @Test func `a sign-in whose secret is refused is repeated with the new secret`() async throws {
    showsRegistration(replacingToken: true)
    let client = try await party.works()
    try await client.signIn()
    #expect(managed == ["GET"] && party.authorized.count == 2)
    replaceSecret()
    try await client.signIn()
    try await party.works(client)
    #expect(managed == ["GET", "GET"] && kept?.clientSecret == "first-secret-new")
    #expect(party.authorized.count == 4 && party.registered.count == 1)
  }

  @Test func `a client whose sign-in is refused after a renewal too registers again`() async throws
  {
    showsRegistration(replacingToken: true)
    let client = try await party.works()
    try await client.signIn()
    let first = try #require(kept)
    replaceSecret()
    party.first.change {
      $0.replies["/token"] = { visit in
        visit.value("code") == nil ? nil : .json(["error": "invalid_client"], status: 401)
      }
    }
    await failure(.invalidClient) { try await client.signIn() }
    #expect(party.authorized.count == 5 && party.registered.count == 2)
    #expect(kept?.clientID != first.clientID)
  }

  /// A page in place of the registration is not an outage, and would come again.
  @Test func `a client whose registration is unreadable signs the user in and registers again`()
    async throws
  {
    let client = try await party.works()
    replaceSecret()
    try revokeToken()
    party.first.change {
      $0.replies["/manage"] = { _ in .text("<html></html>", type: "text/html") }
    }
    try await party.works(client)
    #expect(party.authorized.count == 3 && party.registered.count == 2)
  }

  /// Another request may renew the client while the answer to this one is on its way.
  @Test func `the refused credentials are those of the request`() async throws {
    try await party.works()
    let manager = Party.manager(party.store, party.browser)
    let client = try party.client(manager: manager) { $0.interaction = .none }
    try await party.works(client)
    replaceSecret()
    try revokeToken()
    let module = try #require(manager.module(id: party.resource.address))
    party.first.change { [party] in
      $0.replies["/token"] = { _ in
        guard party.visits("/manage").isEmpty,
          let kept = party.registrations.registration(at: party.first.issuer),
          let new = try? await ClientRegistrar(issuer: kept.issuer).read(kept),
          var configuration = try? new.configuration(scope: "")
        else { return nil }
        party.registrations.save(new)
        configuration.resources = module.configuration?.resources ?? []
        configuration.resourceOrigins = module.configuration?.resourceOrigins ?? []
        module.register(configuration)
        return .json(["error": "invalid_client"], status: 401)
      }
    }
    try await party.works(client)
    #expect(reads == 1 && party.authorized.count == 1)
  }

  @Test func `a request whose body can be sent only once renews the client for the next one`()
    async throws
  {
    try await party.works()
    replaceSecret()
    try await party.store.expire(party.resource.address)
    let client = try withoutUser()
    await failure(.invalidClient) { try await client.send(stream()) }
    #expect(try await client.send(stream()).status == 200)
    #expect(reads == 1 && party.authorized.count == 1)
  }

  private func stream() throws -> WebRequest {
    let chunks = Locked([Data("content".utf8)])
    var request = try party.request()
    try request.setForm([.stream("file", length: 7, once: { chunks.withLock { $0.popLast() } })])
    return request
  }
}
