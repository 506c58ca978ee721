import Foundation
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// Habits of real servers, built with the PyPI packages `mcp` 2.3 and `fastmcp` 4.2.
@Suite(.timeLimit(.minutes(2))) struct RealServerTests {
  private let party: Party

  init() throws { party = try Party() }

  @Test func `an issuer may end with a slash`() async throws {
    let issuer = party.first.origin + "/"
    party.first.change {
      $0.members["issuer"] = .string(issuer)
      $0.issuer = .none
    }
    party.resource.change { $0.issuers = [issuer] }
    try await party.works()
    #expect(party.registrations.registration(at: issuer) != nil)
  }

  /// The issuer that the resource lists and the issuer in the metadata must be the same text.
  @Test func `issuers that differ only in a final slash do not match`() async throws {
    let issuer = party.first.origin + "/"
    party.resource.change { $0.issuers = [issuer] }
    await failure(.issuerMismatch) { try await party.client().send(party.request()) }
    #expect(party.registered.isEmpty && party.browser.opened == [])
  }

  @Test func `invalid_token in the response to a request without a token causes a sign-in`()
    async throws
  {
    party.resource.change {
      $0.challenge = #"error="invalid_token", error_description="Authentication required""#
    }
    try await party.works()
    #expect(party.authorized.count == 1)
  }

  @Test func `an empty scope in the token response means that no scope was granted`() async throws {
    party.first.change { $0.grantedScope = "" }
    let client = try await party.works()
    #expect(try await client.account()?.currentToken?.scopes == [])
  }

  /// One of the packages answers a refused refresh with 401 instead of 400.
  @Test func `a refused refresh causes one sign-in`() async throws {
    party.first.change {
      $0.issuesRefreshTokens = true
      $0.replies["/token"] = { visit in
        visit.value("grant_type") == "refresh_token"
          ? .json(["error": "invalid_grant"], status: 401) : nil
      }
    }
    let client = try await party.works()
    party.first.revoke(try #require(party.visits("/mcp").last?.token))
    try await party.works(client)
    #expect(
      party.redeemed.map { $0.value("grant_type") } == [
        "authorization_code", "refresh_token", "authorization_code",
      ])
  }

  @Test func `the query of the authorization endpoint's URL is kept`() async throws {
    let endpoint = party.first.origin + "/authorize?tenant=a%20b"
    party.first.change { $0.members["authorization_endpoint"] = .string(endpoint) }
    try await party.works()
    #expect(party.authorized.first?.query["tenant"] == ["a b"])
  }

  /// A further sign-in would not help, because the resource would refuse its token, too.
  @Test(arguments: [true, false])
  func `a resource that refuses every token causes only one sign-in`(hasAccount: Bool) async throws
  {
    let client = try party.client()
    if hasAccount { try await party.works(client) }
    let before = party.authorized.count
    party.resource.change { [party] in
      $0.issuers = [party.first.issuer]
      $0.servers = []
    }
    await failure(.invalidToken) { try await client.send(party.request()) }
    #expect(party.authorized.count == before + 1)
  }

  /// A redirect could carry a token, a code or a description of the client to another server.
  @Test(arguments: [
    ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
    ("/register", "/register"), ("/token", "/token"),
  ])
  func `a redirect of the metadata, registration or token endpoint is not followed`(
    path: String, last: String
  ) async throws {
    let target = party.second.origin + path
    party.first.change { $0.replies[path] = { _ in .status(307, [("Location", target)]) } }
    await failure { try await party.client().send(party.request()) }
    #expect(party.paths(at: "first").last == last)
    #expect(party.visits(at: "second").isEmpty)
  }

  @Test func `a redirect of the resource is returned and not followed`() async throws {
    let target = party.second.origin + "/mcp"
    let client = try await party.works()
    party.resource.change {
      $0.replies["/mcp"] = { _ in .status(307, [("Location", target)]) }
    }
    #expect(try await client.send(party.request()).status == 307)
    #expect(party.visits(at: "second").isEmpty)
  }
}
