import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite about scopes.
///
/// - SeeAlso: modelcontextprotocol/conformance, `requirements/2026-07-28.yaml`
@Suite(.timeLimit(.minutes(2))) struct ScopeScenarios {
  private let party: Party

  init() throws {
    party = try Party()
    party.first.actLikeTheSuite()
  }

  @Test func `auth/scope-from-www-authenticate`() async throws {
    party.resource.change {
      $0.challenge = #"scope="mcp:basic""#
      $0.members["scopes_supported"] = ["mcp:other"]
    }
    try await party.works()
    #expect(party.asked == [["mcp:basic"]])
  }

  @Test func `auth/scope-from-scopes-supported`() async throws {
    party.resource.change {
      $0.members["scopes_supported"] = ["mcp:basic", "mcp:read", "mcp:write"]
    }
    try await party.works()
    #expect(party.asked == [["mcp:basic", "mcp:read", "mcp:write"]])
  }

  @Test(arguments: [nil, [] as JSONValue])
  func `auth/scope-omitted-when-undefined`(listed: JSONValue?) async throws {
    party.resource.change { $0.members["scopes_supported"] = .some(listed) }
    try await party.works()
    #expect(party.asked == [nil])
  }

  @Test func `auth/scope-step-up`() async throws {
    party.resource.change {
      $0.challenge = #"scope="mcp:basic""#
      $0.members["scopes_supported"] = ["mcp:profile"]
      $0.demand = { visit in
        guard visit.json["method"]?.string == "tools/call" else { return nil }
        return (["mcp:write"], #"scope="mcp:write", error="insufficient_scope""#)
      }
    }
    let client = try await party.works()
    let call = try party.request(body: #"{"method":"tools/call"}"#)
    #expect(try await client.send(call).status == 200)
    #expect(party.asked == [["mcp:basic"], ["mcp:basic", "mcp:write"]])
    party.expectNoFaults()
  }

  @Test func `auth/scope-retry-limit`() async throws {
    party.resource.change {
      $0.demand = { _ in
        (
          ["never"],
          #"error="insufficient_scope", scope="mcp:admin", "#
            + #"error_description="Scope upgrade will never succeed""#
        )
      }
    }
    let error = await failure(.insufficientScope) {
      try await party.client().send(party.request())
    }
    #expect(error?.challenge?.scope == "mcp:admin")
    #expect((1...3).contains(party.authorized.count), "\(party.authorized.count)")
    #expect(party.asked.dropFirst().allSatisfy { $0 == ["mcp:admin"] })
    party.expectNoFaults()
  }

  @Test func `auth/offline-access-scope`() async throws {
    party.resource.change { $0.members["scopes_supported"] = ["mcp:basic"] }
    party.first.change { $0.members["scopes_supported"] = ["mcp:basic", "offline_access"] }
    try await party.works()
    #expect(party.asked == [["mcp:basic", "offline_access"]])
  }

  @Test func `auth/offline-access-not-supported`() async throws {
    party.resource.change { $0.members["scopes_supported"] = ["mcp:basic"] }
    party.first.change { $0.members["scopes_supported"] = ["mcp:basic", "mcp:read"] }
    try await party.works()
    #expect(party.asked == [["mcp:basic"]])
  }
}
