import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// How an introspection response is read, in the spellings of different servers.
@Suite struct IntrospectionRulesTests {
  private static let rules = IntrospectionRules(
    issuer: "https://id.example", clockTolerance: .seconds(60),
    now: Date(timeIntervalSince1970: 1_700_000_000))

  /// Doorkeeper sends `null` for a token without a client.
  ///
  /// Ory Hydra sends an empty list for no audience.
  @Test func `a null member counts as missing, and a list of audiences may be empty`() throws {
    let names = ["iss", "sub", "aud", "client_id", "scope", "exp", "iat", "nbf", "jti", "username"]
    let members = Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue.null) })
    let claims = try #require(try Self.rules.check(members.merging(["active": true]) { $1 }))
    #expect(claims.audience == [] && claims.scopes == [] && claims.clientID == nil)
    let listed = try Self.rules.check(["active": true, "aud": []])
    #expect(listed?.audience == [])
  }

  @Test(
    arguments: [
      ("read write", ["read", "write"]), (["read", "write"], ["read", "write"]),
      (["read write"], ["read", "write"]), ([], []), (5, []), (["read", 1], []), ([:], []),
    ] as [(JSONValue, [String])])
  func `scopes are read from a text or a list of texts, and other types are ignored`(
    value: JSONValue, scopes: [String]
  ) throws {
    let claims = try Self.rules.check(["active": true, "scope": value])
    #expect(claims?.scopes == scopes)
  }

  @Test(
    arguments: [
      (0, true), (.null, true), (1, false), (1_699_999_900, false), (1_700_000_001, true),
    ] as [(JSONValue, Bool)])
  func `an expiration of zero means that the token does not expire`(end: JSONValue, isActive: Bool)
    throws
  {
    let claims = try Self.rules.check(["active": true, "exp": end])
    #expect((claims != nil) == isActive)
    if end == 0 { #expect(claims?.expirationDate == nil) }
  }
}
