import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// A resource that names another authorization server than at the account's sign-in.
///
/// - SeeAlso: RFC 9728, section 5.2
@Suite(.timeLimit(.minutes(2))) struct MovedResourceTests {
  private let party: Party

  init() throws { party = try Party() }

  /// A challenge names the metadata's address if the metadata may have changed (RFC 9728, section
  /// 5.2).
  @Test func `a step-up goes to the new authorization server that the metadata names`() async throws
  {
    party.resource.change { $0.challenge = #"scope="a""# }
    let client = try await party.works()
    party.resource.change { [party] in
      $0.servers.append(party.second)
      $0.issuers = [party.second.issuer]
      $0.demand = { visit in
        visit.request.method == "DELETE"
          ? (["b"], #"error="insufficient_scope", scope="b""#) : nil
      }
    }
    #expect(try await client.send(party.request("DELETE")).status == 200)
    #expect(party.authorized.map(\.server) == ["first", "second"])
    #expect(party.asked == [["a"], ["b"]])
    party.expectNoFaults()
  }

  @Test func `after an authorization server is gone, the new one in the metadata is used`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try await party.works()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    await party.first.stop()
    await failure(.connectionFailed) { try await client.send(party.request()) }
    #expect(party.authorized.count == 1, "the resource still names the old server")
    party.resource.change { [party] in $0.servers = [party.second] }
    try await party.works(client)
    #expect(party.authorized.map(\.server) == ["first", "second"])
  }

  /// The resource may have carried the request out, and a POST must not be carried out twice.
  @Test(arguments: ["POST", "DELETE"])
  func `a request without an answer is sent again at a new server only if it is idempotent`(
    method: String
  ) async throws {
    let client = try await party.works()
    let old = try #require(party.visits("/mcp").last?.token)
    party.resource.change { [party] in
      $0.servers.append(party.second)
      $0.issuers = [party.second.issuer]
      $0.replies["/mcp"] = { $0.token == old ? .script([]) : nil }
    }
    let count = party.visits("/mcp").count
    if method == "POST" {
      await failure(.connectionFailed) { try await client.send(party.request(method)) }
      #expect(party.visits("/mcp").count == count + 1)
    } else {
      #expect(try await client.send(party.request(method)).status == 200)
    }
    #expect(party.visits(at: "second").isEmpty == (method == "POST"))
  }

  /// The other request leads to a sign-in of the same user, whom no ID token names.
  @Test func `a request that waits for a refresh goes on after another request's move to a server`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    let clock = ManualClock()
    var environment = ClientEnvironment()
    environment.userAgent = party.browser
    environment.clock = clock
    let client = try await party.works(
      party.client(manager: AccountManager(store: party.store, environment: environment)))
    let (refresh, answer) = (Gate(isOpen: false), Gate(isOpen: false))
    party.first.change {
      $0.replies["/token"] = { _ in
        await refresh.pass()
        return nil
      }
    }
    party.resource.change { [party] in
      $0.servers.append(party.second)
      $0.issuers = [party.second.issuer]
      $0.demand = { visit in
        visit.request.method == "DELETE"
          ? (["b"], #"error="insufficient_scope", scope="b""#) : nil
      }
      $0.replies["/mcp"] = { visit in
        if visit.request.method == "DELETE" { await answer.pass() }
        return nil
      }
    }
    let (delete, put) = (try party.request("DELETE"), try party.request("PUT"))
    let moving = begin { try await client.send(delete).status }
    try await answer.isHolding()
    clock.advance(by: 3600)
    let waiting = begin { try await client.send(put).status }
    try await refresh.isHolding()
    answer.open()
    #expect(try await moving.value == 200)
    #expect(try await waiting.value == 200)
    refresh.open()
    #expect(party.authorized.map(\.server) == ["first", "second"])
  }

  @Test func `without interaction, a request fails if its authorization server is gone`()
    async throws
  {
    party.first.change { $0.issuesRefreshTokens = true }
    let client = try party.client { $0.interaction = .none }
    try await client.signIn()
    let token = try await client.account()?.currentToken
    party.first.revoke(try #require(token).accessToken)
    await party.first.stop()
    party.resource.change { [party] in $0.servers = [party.second] }
    await failure(.connectionFailed) { try await client.send(party.request()) }
    #expect(party.visits(at: "second").isEmpty)
  }

  @Test func `after a refused sign-in at a new server, the old server refreshes the token`()
    async throws
  {
    for server in [party.first, party.second] { server.change { $0.issuesRefreshTokens = true } }
    let client = try await party.works()
    party.resource.change { [party] in $0.servers = [party.second] }
    party.browser.refuse()
    await failure(.cancelled) { try await client.send(party.request()) }
    party.resource.change { [party] in $0.servers = [party.first] }
    let module = try #require(try await client.account())
    let refreshed = try await module.refresh().accessToken
    try await party.works(client)
    #expect(party.visits("/mcp").last?.token == refreshed)
    #expect(party.authorized.map(\.server) == ["first"])
  }
}
