import Foundation
import SQLoopback
import Testing

/// The audit of all requests finds what no client may send.
struct PartyAuditTests {
  /// A request that breaks a rule, and the rule.
  struct Row: Sendable, CustomStringConvertible {
    let server: String
    let target: String
    var fields: [(name: String, value: String)] = []
    var form = ""
    let rule: String

    var description: String { "\(rule): \(server) \(target)" }

    var visit: Visit {
      let type = (name: "content-type", value: "application/x-www-form-urlencoded")
      return Visit(
        server,
        LoopbackRequest(
          method: "POST", target: target, headers: fields + (form.isEmpty ? [] : [type]),
          body: Data(form.utf8)))
    }
  }

  private static let bearer = [(name: "authorization", value: "Bearer first-token-1")]

  private static let rows = [
    Row(server: "first", target: "/register", fields: bearer, rule: "an access token"),
    Row(
      server: "resource", target: "/.well-known/oauth-protected-resource/mcp", fields: bearer,
      rule: "an access token"),
    Row(
      server: "resource", target: "/mcp?access_token=first-token-1",
      rule: "an access token in a URL"),
    Row(
      server: "resource", target: "/mcp", form: "refresh_token=first-refresh-1",
      rule: "a refresh token"),
    Row(
      server: "first", target: "/authorize?resource=https://a.example&x=first-secret",
      rule: "a client secret"),
    Row(
      server: "second", target: "/token",
      form: "resource=https://a.example&client_id=first-client-1",
      rule: "a client of another server"),
    Row(server: "first", target: "/token", form: "grant_type=x", rule: "one resource"),
    Row(
      server: "first", target: "/authorize?resource=https://a.example&resource=https://b.example",
      rule: "one resource"),
    Row(server: "first", target: "/authorize?resource=mcp", rule: "a resource that is a URL"),
    Row(
      server: "resource", target: "/mcp",
      fields: [(name: "authorization", value: "DPoP first-token-1")],
      rule: "a bound token without a proof"),
  ]

  @Test(arguments: rows) func `the audit finds a request that breaks a rule`(row: Row) {
    let faults = PartyAudit([row.visit]).faults
    #expect(faults.contains { $0.hasPrefix("\(row.rule): ") }, "\(faults)")
  }

  @Test func `the audit finds no fault in valid requests`() {
    let visits = [
      Row(server: "resource", target: "/mcp", fields: Self.bearer, rule: ""),
      Row(
        server: "first", target: "/token",
        form: "resource=https://a.example&client_secret=first-secret&refresh_token=first-refresh-1",
        rule: ""),
    ].map(\.visit)
    #expect(PartyAudit(visits).faults == [])
  }
}
