import Foundation
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// What a resource demands of tokens and logins, and what the client asks for then.
///
/// - SeeAlso: RFC 6750, section 3.1; RFC 9470; RFC 9449; RFC 9728, section 2
@Suite(.timeLimit(.minutes(2))) struct DemandTests {
  private let party: Party

  init() throws { party = try Party() }

  // MARK: Scopes

  @Test func `a sign-in after a refused token requests the earlier scope and the new one`()
    async throws
  {
    party.resource.change { $0.challenge = #"scope="a""# }
    let client = try await party.works()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    party.resource.change { $0.challenge = #"scope="b""# }
    try await party.works(client)
    #expect(party.asked == [["a"], ["a", "b"]])
  }

  /// A response without a scope means the scope that was asked for (RFC 6749, section 5.1).
  @Test func `after a token response without a scope, a step-up keeps the requested scope`()
    async throws
  {
    party.first.change { $0.tellsScope = false }
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { _ in (["b"], #"error="insufficient_scope", scope="b""#) }
    }
    try await party.works()
    #expect(party.asked == [["a"], ["a", "b"]])
  }

  /// Some servers say only in their metadata which scopes they need.
  @Test func `after insufficient_scope without a scope, the scopes of the metadata are requested`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.members["scopes_supported"] = ["a", "b"]
      $0.demand = { _ in (["b"], #"error="insufficient_scope""#) }
    }
    try await party.works()
    #expect(party.asked == [["a"], ["a", "b"]])
  }

  /// Some servers issue a refresh token only for `offline_access`, and do not say that they granted
  /// this scope.
  @Test func `a step-up requests offline_access again together with the new scope`() async throws {
    party.first.change {
      $0.members["scopes_supported"] = ["a", "b", "offline_access"]
      $0.grantedScope = "a b"
    }
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { _ in (["c"], #"error="insufficient_scope", scope="b""#) }
    }
    await failure(.insufficientScope) { try await party.client().send(party.request()) }
    #expect(party.asked.first == ["a", "offline_access"])
    #expect(party.asked.dropFirst().allSatisfy { $0 == ["a", "b", "offline_access"] })
    #expect(party.asked.count > 1)
  }

  /// Otherwise the server would refuse the whole authorization request.
  ///
  /// - SeeAlso: RFC 7591, section 2
  @Test func `a scope that the registration response left out is not requested`() async throws {
    party.first.change {
      $0.members["scopes_supported"] = ["a", "b", "offline_access"]
      $0.registration["scope"] = "a"
    }
    party.resource.change { $0.members["scopes_supported"] = ["a", "b"] }
    try await party.works()
    #expect(party.asked == [["a"]])
    let own = try party.client(
      manager: Party.manager(MemoryTokenStore(), party.browser)
    ) { $0.scope = "a b" }
    try await party.works(own)
    #expect(party.asked.last == ["a", "b"], "the app's own scopes are requested")
  }

  @Test(arguments: ["a", "a b", "a offline_access", "b a offline_access"])
  func `a plan names the scopes that a sign-in with the stored registration requests`(
    registered: String
  ) async throws {
    party.first.change {
      $0.members["scopes_supported"] = ["a", "b", "offline_access"]
      $0.registration["scope"] = .string(registered)
    }
    party.resource.change { $0.members["scopes_supported"] = ["a", "b"] }
    try await party.works()
    let other = try party.client(manager: Party.manager(MemoryTokenStore(), party.browser))
    let plan = try await other.plan(after: nil)
    #expect(plan.scope.map { Set($0.split(separator: " ").map(String.init)) } == party.asked.last)
    let id = try #require(party.authorized.last?.value("client_id"))
    #expect(plan.server?.identity == .registered(id) && party.registered.count == 1)
  }

  @Test func `insufficient_scope without a new scope is thrown without another sign-in`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.members["scopes_supported"] = ["a"]
      $0.demand = { _ in (["b"], #"error="insufficient_scope""#) }
    }
    await failure(.insufficientScope) { try await party.client().send(party.request()) }
    #expect(party.asked == [["a"]])
  }

  @Test func `if the client may not step up, insufficient_scope is thrown to the app`() async throws
  {
    party.resource.change {
      $0.demand = { _ in (["b"], #"error="insufficient_scope", scope="b""#) }
    }
    let client = try party.client { $0.interaction = .signIn }
    let error = await failure(.insufficientScope) { try await client.send(party.request()) }
    #expect(error?.challenge?.scope == "b" && party.authorized.count == 1)
  }

  @Test func `scopes that the app sets replace those of the resource`() async throws {
    party.resource.change { $0.challenge = #"scope="a""# }
    try await party.works(party.client { $0.scope = "own" })
    #expect(party.asked == [["own"]])
  }

  @Test func `a client with client credentials steps up without a browser`() async throws {
    party.first.change { $0.methods = ["client_secret_basic"] }
    party.first.know("machine", .init(secret: "s", method: "client_secret_basic"))
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { _ in (["b"], #"error="insufficient_scope", scope="b""#) }
    }
    var machine = try ClientConfiguration(
      clientID: "machine", clientSecret: "s", provider: .issuer(party.first.issuer))
    machine.usesClientCredentials = true
    try await party.works(party.client(ClientIdentity(clients: [machine])))
    #expect(party.redeemed.map(\.scopes) == [["a"], ["a", "b"]] && party.browser.opened == [])
  }

  @Test func `requests that demand different scopes at the same time step up one after the other`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"scope="a""#
      $0.demand = { visit in
        switch visit.request.method {
        case "DELETE": (["b"], #"error="insufficient_scope", scope="b""#)
        case "PUT": (["c"], #"error="insufficient_scope", scope="c""#)
        default: nil
        }
      }
    }
    let client = try await party.works()
    party.browser.gate.close()
    let (delete, put) = (try party.request("DELETE"), try party.request("PUT"))
    let first = begin { try await client.send(delete).status }
    try await party.browser.gate.isHolding()
    let second = begin { try await client.send(put).status }
    try await eventually("the second request is refused") {
      party.visits("/mcp").contains { $0.request.method == "PUT" }
    }
    party.browser.gate.open()
    #expect(try await first.value == 200)
    #expect(try await second.value == 200)
    #expect(party.asked == [["a"], ["a", "b"], ["a", "b", "c"]])
    party.expectNoFaults()
  }

  // MARK: Logins

  private func demandsLogin(until count: Int) {
    let first = party.first
    party.resource.change { [party] in
      let metadata = party.resource.origin + $0.metadataPath
      $0.replies["/mcp"] = { visit in
        guard let token = visit.token, first.grant(of: token) != nil,
          first.journal.visits.count(where: { $0.path == "/authorize" }) < count
        else { return nil }
        let field =
          #"Bearer error="insufficient_user_authentication", acr_values="gold", max_age="60", "#
          + #"resource_metadata="\#(metadata)""#
        return .status(401, [("WWW-Authenticate", field)])
      }
    }
  }

  @Test func `insufficient_user_authentication causes one sign-in with acr_values and max_age`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    party.resource.change { $0.challenge = #"scope="a""# }
    demandsLogin(until: 2)
    try await party.works()
    #expect(party.authorized.map { $0.value("acr_values") } == [nil, "gold"])
    #expect(party.authorized.map { $0.value("max_age") } == [nil, "60"])
    #expect(party.asked == [["a"], ["a"]], "the login is for the same scopes")
    // A refresh cannot make the login stronger, so the client does not refresh the refused token.
    let grants = party.redeemed.map { $0.value("grant_type") }
    #expect(grants == ["authorization_code", "authorization_code"])
  }

  @Test func `if no login is strong enough, the request fails after three sign-ins`() async throws {
    demandsLogin(until: .max)
    await failure(.insufficientUserAuthentication) {
      try await party.client().send(party.request())
    }
    #expect(party.authorized.count == 3)
    party.expectNoFaults()
  }

  /// `acr_values` and `max_age` are optional in the challenge (RFC 9470, section 3).
  @Test(arguments: ["", #", max_age="soon""#])
  func `insufficient_user_authentication without valid parameters causes a sign-in with max_age=0`(
    parameters: String
  ) async throws {
    party.resource.change { [first = party.first] in
      $0.replies["/mcp"] = { visit in
        guard let token = visit.token, first.grant(of: token) != nil,
          first.journal.visits.count(where: { $0.path == "/authorize" }) < 2
        else { return nil }
        let field = #"Bearer error="insufficient_user_authentication""# + parameters
        return .status(401, [("WWW-Authenticate", field)])
      }
    }
    try await party.works()
    #expect(party.authorized.map { $0.value("max_age") } == [nil, "0"])
  }

  // MARK: Bound tokens

  /// No sign-in can correct a proof that the resource refuses.
  @Test func `a request whose proofs are always refused fails without another sign-in`()
    async throws
  {
    party.first.change { $0.bindsTokens = true }
    party.resource.change { $0.demandsProof = true }
    let client = try await party.works()
    party.resource.change {
      $0.replies["/mcp"] = { _ in
        .status(
          401,
          [
            ("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#),
            ("DPoP-Nonce", UUID().uuidString),
          ])
      }
    }
    await failure(.useDPoPNonce) { try await client.send(party.request()) }
    #expect(party.authorized.count == 1)
  }

  @Test func `the client requests bound tokens if the resource's metadata requires them`()
    async throws
  {
    party.first.change { $0.bindsTokens = true }
    party.resource.change { $0.members["dpop_bound_access_tokens_required"] = true }
    try await party.works()
    #expect(party.redeemed.map { $0.proof != nil } == [true])
    #expect(party.visits("/mcp").last?.scheme == "dpop")
  }

  @Test func `a resource that accepts DPoP and Bearer gets Bearer tokens`() async throws {
    party.first.change { $0.bindsTokens = true }
    let metadata = party.resource.metadataAddress
    party.resource.change {
      $0.replies["/mcp"] = { visit in
        guard visit.token == nil else { return .text("hello", type: "text/plain") }
        let fields = ["DPoP algs=\"ES256\"", "Bearer resource_metadata=\"\(metadata)\""]
        return .status(401, fields.map { ("WWW-Authenticate", $0) })
      }
    }
    let response = try await party.client().send(party.request())
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "hello")
    #expect(party.redeemed.map(\.proof) == [nil])
    let visits = party.visits("/mcp")
    #expect(visits.map(\.scheme) == [nil, "bearer"] && visits.map(\.proof) == [nil, nil])
    let token = try #require(visits.last?.token)
    #expect(party.first.grant(of: token) != nil)
  }

  @Test func `without a common DPoP algorithm, the request fails before the browser opens`()
    async throws
  {
    party.resource.change {
      $0.demandsProof = true
      $0.members["dpop_signing_alg_values_supported"] = ["HS256", "none", "RS256"]
    }
    let error = await failure(.signInUnsupported) {
      try await party.client().send(party.request())
    }
    #expect(error?.message.contains("dpop_signing_alg_values_supported") == true)
    #expect(party.browser.opened == [] && party.authorized.isEmpty)
  }

  // MARK: Separate discovery, and a resource at the root

  @Test func `discover(after:) returns the resource's servers without a sign-in`() async throws {
    let client = try party.client()
    #expect(try await client.account() == nil)
    #expect(party.journal.visits.isEmpty)
    let refusal = try await CurlTransport.shared.send(party.request())
    party.resource.change { $0.metadataPath = "/elsewhere" }
    await failure(.resourceMetadataInvalid) { try await client.discover(after: refusal) }
    party.resource.change { $0.metadataPath = "/.well-known/oauth-protected-resource/mcp" }
    let found = try await client.discover(after: refusal)
    #expect(found.metadata.authorizationServers == [party.first.issuer])
    #expect(found.steps.map(\.address) == [party.resource.metadataAddress])
    #expect(party.visits(at: "first").isEmpty)
  }

  @Test func `a token can be requested for a resource at the root path of its server`() async throws
  {
    party.resource.change { [party] in
      $0.path = "/"
      $0.metadataPath = "/.well-known/oauth-protected-resource"
      $0.identifier = party.resource.origin + "/"
    }
    try await party.works(party.client(of: party.resource.origin + "/"))
    #expect(party.redeemed.allSatisfy { $0.value("resource") == party.resource.origin + "/" })
  }
}
