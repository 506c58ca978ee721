import Foundation
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// Servers that demand too much, change, or register a client that cannot be used.
@Suite(.timeLimit(.minutes(2))) struct HostileServerTests {
  private let party: Party

  init() throws { party = try Party() }

  // MARK: Demands

  /// The client ignores a header field of this length as a whole, whatever it contains.
  @Test func `the scopes in a challenge of ten kilobytes are ignored`() async throws {
    let scope = (0..<1_000).map { "scope:\($0)" }.joined(separator: " ")
    #expect(scope.utf8.count > 9_000)
    party.resource.change {
      $0.challenge = #"scope="\#(scope)""#
      $0.members["scopes_supported"] = ["a"]
    }
    try await party.works()
    #expect(party.authorized.map { $0.value("scope") } == ["a"])
  }

  @Test func `a request causes at most three step-ups, and a later request needs no sign-in`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { [journal = party.journal] visit in
        guard visit.request.method == "DELETE" else { return nil }
        // Each challenge names another scope.
        let scope = "s\(journal.visits.count)"
        return ([scope], #"error="insufficient_scope", scope="\#(scope)""#)
      }
    }
    let client = try await party.works()
    await failure(.insufficientScope) { try await client.send(party.request("DELETE")) }
    #expect(party.authorized.count == 1 + 3)
    let token = try #require(party.visits("/mcp").last?.token)
    try await party.works(client)
    // The token of the last step-up is kept.
    #expect(party.visits("/mcp").last?.token == token)
    #expect(party.authorized.count == 1 + 3 && party.redeemed.count == 1 + 3)
  }

  @Test func `if the user refuses a step-up, the token is kept`() async throws {
    party.resource.change {
      $0.demand = { visit in
        visit.request.method == "DELETE"
          ? (["a"], #"error="insufficient_scope", scope="a""#) : nil
      }
    }
    let client = try await party.works()
    party.browser.refuse()
    await failure(.cancelled) { try await client.send(party.request("DELETE")) }
    #expect(party.browser.opened.count == 2)
    try await party.works(client)
    #expect(party.browser.opened.count == 2 && party.redeemed.count == 1)
  }

  @Test(arguments: [403, 401])
  func `a 403 without a challenge causes no sign-in, and a 401 for Basic causes only one`(
    status: Int
  ) async throws {
    party.resource.change {
      $0.replies["/mcp"] = { visit in
        guard visit.token != nil, visit.request.method == "DELETE" else { return nil }
        return status == 403 ? .status(403) : .status(401, [("WWW-Authenticate", "Basic")])
      }
    }
    let client = try await party.works()
    let request = try party.request("DELETE")
    if status == 403 {
      #expect(try await client.send(request).status == 403)
      #expect(party.authorized.count == 1)
    } else {
      // A refused token leads to one new sign-in, and no more.
      await failure(.invalidToken) { try await client.send(request) }
      #expect(party.authorized.count == 2)
    }
  }

  // MARK: Another authorization server

  /// In requests to one server, ``PartyAudit`` looks for names that the other server made.
  @Test func `a new authorization server gets no credential or scope of the old one`() async throws
  {
    for server in [party.first, party.second] {
      server.change {
        $0.issuesRefreshTokens = true
        $0.methods = ["client_secret_post"]
      }
    }
    party.resource.change { $0.challenge = #"scope="a""# }
    let client = try await party.works()
    party.resource.change { [party] in
      $0.servers = [party.second]
      $0.challenge = #"scope="b""#
    }
    // A sign-in that fails must not make the new server's client that of the old tokens.
    party.browser.refuse()
    await failure(.cancelled) { try await client.send(party.request()) }
    party.browser.refuse(false)
    try await party.works(client)
    #expect(party.authorized.map(\.server) == ["first", "second"])
    let ids = party.authorized.compactMap { $0.value("client_id") }
    #expect(ids.count == 2 && ids[0].hasPrefix("first-") && ids[1].hasPrefix("second-"))
    #expect(party.authorized.last?.value("scope") == "b", "only the new scope is requested")
    let record = await party.store.load(party.resource.address)
    #expect(record?.issuer == party.second.issuer)
    #expect(record?.clientID.hasPrefix("second-") == true)
  }

  @Test func `a client registered by hand is not used at another server`() async throws {
    party.first.know(
      "first-client-by-hand",
      .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    let byHand = try ClientConfiguration(
      clientID: "first-client-by-hand", redirectURI: Party.redirect,
      provider: .issuer(party.first.issuer))
    let client = try party.client(ClientIdentity(clients: [byHand]))
    try await party.works(client)
    party.resource.change { [party] in $0.servers = [party.second] }
    let error = await failure(.clientUnknown) { try await client.send(party.request()) }
    #expect(error?.message.contains(party.second.issuer) == true)
    #expect(party.paths(at: "second") == ["/.well-known/oauth-authorization-server"])
    party.expectNoFaults()
  }

  @Test func `the server of a client registered by hand is preferred`() async throws {
    party.second.change { $0.registers = false }
    party.second.know("by-hand", .init(redirectURIs: [Party.redirect], acceptsAnyPort: true))
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    var identity = party.registering
    identity.clients = [
      try ClientConfiguration(
        clientID: "by-hand", redirectURI: Party.redirect, provider: .issuer(party.second.issuer))
    ]
    try await party.works(party.client(identity))
    #expect(party.visits(at: "first").isEmpty)
  }

  @Test func `if the first server registers no clients, the next one is used`() async throws {
    party.first.change { $0.registers = false }
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    try await party.works()
    #expect(party.authorized.map(\.server) == ["second"])
  }

  /// Changes to a server's metadata that make a sign-in in a browser impossible.
  private static let unusableServers: [[String: JSONValue?]] = [
    ["code_challenge_methods_supported": ["plain"]],
    ["code_challenge_methods_supported": nil],
    ["authorization_endpoint": nil], ["response_types_supported": ["token"]],
    ["grant_types_supported": ["client_credentials"]],
    ["require_pushed_authorization_requests": true],
    ["require_signed_request_object": true],
  ]

  @Test(arguments: unusableServers.indices)
  func `a server where no user can sign in is skipped before a registration`(index: Int)
    async throws
  {
    party.first.change { $0.members = Self.unusableServers[index] }
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    try await party.works()
    let paths = party.paths(at: "first")
    #expect(!paths.isEmpty && paths.allSatisfy { $0.hasPrefix("/.well-known/") })
    #expect(party.authorized.map(\.server) == ["second"])
  }

  /// Returns a client with a time limit of an hour, whose requests take their time from `time`.
  private func client(_ time: TimeLead) throws -> ResourceClient {
    var environment = ClientEnvironment()
    environment.userAgent = party.browser
    environment.transport = CurlTransport(lead: time)
    let manager = AccountManager(store: party.store, environment: environment)
    return try party.client(manager: manager) { $0.timeout = .seconds(3600) }
  }

  @Test func `if the first server does not answer, the next one is used within the time limit`()
    async throws
  {
    let (hold, time) = (Gate(isOpen: false), TimeLead())
    party.first.change {
      $0.replies["/.well-known/oauth-authorization-server"] = { _ in
        // More than half of the time limit passes.
        time.advance(by: .seconds(1900))
        await hold.opened()
        return .status(404)
      }
    }
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    try await party.works(client(time))
    #expect(party.authorized.map(\.server) == ["second"])
    hold.open()
  }

  @Test func `if all servers are silent, the request times out`() async throws {
    let (hold, time) = (Gate(isOpen: false), TimeLead())
    for server in [party.first, party.second] {
      server.change {
        $0.replies["/.well-known/oauth-authorization-server"] = { _ in
          time.advance(by: .seconds(3700))
          await hold.opened()
          return .status(404)
        }
      }
    }
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    let client = try client(time)
    await failure(.requestTimedOut) { try await client.send(party.request()) }
    #expect(party.visits(at: "first").count == 1 && party.visits(at: "second").count <= 1)
    hold.open()
  }

  @Test func `the app chooses one of the listed servers, and any other choice fails`() async throws
  {
    party.resource.change { [party] in $0.servers = [party.first, party.second] }
    let client = try party.client { $0.choosesServer = { $0.last } }
    let planned = try await client.plan(after: nil).servers.map(\.issuer)
    #expect(planned == [party.second.issuer])
    try await party.works(client)
    #expect(party.visits(at: "first").isEmpty)
    for answer in [nil, "https://evil.example.com", "\(party.first.issuer)/"] as [String?] {
      let other = try party.client(manager: Party.manager(MemoryTokenStore(), party.browser)) {
        $0.choosesServer = { _ in answer }
      }
      await failure(.clientUnknown) { try await other.send(party.request()) }
      await failure(.clientUnknown) { try await other.plan(after: nil) }
    }
    #expect(party.visits(at: "first").isEmpty)
  }

  @Test func `a choice that never returns does not hold up the next sign-in`() async throws {
    let choice = Gate(isOpen: false)
    let isFirst = Locked(true)
    let client = try party.client {
      $0.choosesServer = { issuers in
        let waits = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if waits { await choice.pass() }
        return issuers.first
      }
    }
    let first = Task { await failure(.cancelled) { try await client.signIn() } }
    try await choice.isHolding()
    first.cancel()
    _ = await first.value
    try await party.works(client)
    choice.open()
  }

  // MARK: Registrations

  /// A missing `token_endpoint_auth_method` means Basic authentication (RFC 7591, section 2).
  @Test(arguments: ["none", "client_secret_basic", "client_secret_post"])
  func `a registration response without an authentication method means client_secret_basic`(
    listed: String
  ) async throws {
    party.first.actLikeTheSuite()
    party.first.change { $0.methods = [listed] }
    try await party.works()
    #expect(party.redeemed.map(\.scheme) == ["basic"])
  }

  /// Members of a registration response that make the client unusable, and the error's code.
  private static let unusable: [(change: [String: JSONValue?], code: SQOAuthError.Code)] = [
    (["redirect_uris": ["https://evil.example.com/callback"]], .registrationMismatch),
    (["token_endpoint_auth_method": "tls_client_auth"], .registrationMismatch),
    (
      ["token_endpoint_auth_method": "client_secret_basic", "client_secret": nil],
      .registrationMismatch
    ),
    (["token_endpoint_auth_method": "private_key_jwt"], .registrationMismatch),
    (["grant_types": ["client_credentials"]], .registrationMismatch),
    (["response_types": ["token"]], .registrationMismatch),
    (["client_id": nil], .invalidResponse), (["client_id": 7], .invalidResponse),
  ]

  @Test(arguments: unusable.indices)
  func `an unusable registration response fails the request before the browser opens`(index: Int)
    async throws
  {
    let (change, code) = Self.unusable[index]
    party.first.change { $0.registration = change }
    await failure(code) { try await party.client().send(party.request()) }
    #expect(party.browser.opened == [] && party.authorized.isEmpty)
    #expect(party.registrations.registration(at: party.first.issuer) == nil)
  }

  /// A client asks for what the server lists, and for the scopes that its first sign-in needs.
  @Test
  func `a registration requests only valid scopes, and only grant types that the server lists`()
    async throws
  {
    party.first.change { $0.members["scopes_supported"] = ["openid", "\u{202E}x", "two words"] }
    party.resource.change { $0.members["scopes_supported"] = ["a", "\"x", "nl\nx", "b"] }
    var app = Party.app
    app.grantTypes.append("urn:ietf:params:oauth:grant-type:device_code")
    try await party.works(
      party.client(ClientIdentity(registering: app, in: party.registrations)))
    let sent = try #require(party.registered.first?.json)
    #expect(sent["scope"] == "openid a b")
    #expect(sent["grant_types"] == ["authorization_code", "refresh_token"])
    #expect(party.asked == [["a", "b"]])
  }

  @Test func `the error for a program without a usable identity says what the server accepts`()
    async throws
  {
    party.first.change { $0.documents = ["https://other.example/client": []] }
    let error = await failure(.clientUnknown) {
      try await party.client(ClientIdentity()).send(party.request())
    }
    for text in [party.first.issuer, "documentAddress", "metadata"] {
      #expect(error?.message.contains(text) == true, "\(text)")
    }
    #expect(party.paths(at: "first") == ["/.well-known/oauth-authorization-server"])
  }

  @Test func `if the server lists no PKCE method, only the standard profile allows a sign-in`()
    async throws
  {
    party.first.change { $0.members["code_challenge_methods_supported"] = .some(nil) }
    await failure(.pkceUnsupported) { try await party.client().send(party.request()) }
    #expect(party.browser.opened == [])
    let plain = try party.client { $0.profile = .standard }
    try await party.works(plain)
  }
}
