import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

@Suite struct SQTokenTests {
  @Test(arguments: Records.tokens)
  func `a token survives encoding as JSON, and without additional fields also as a property list`(
    token: SQToken
  ) throws {
    let json = try JSONEncoder().encode(token)
    #expect(try JSONDecoder().decode(SQToken.self, from: json) == token)
    let list = try PropertyListEncoder().encode([token])
    if token.additionalFields.isEmpty {
      #expect(try PropertyListDecoder().decode([SQToken].self, from: list) == [token])
    }
  }

  @Test func `properties that a token lacks are still missing after encoding and decoding`() throws
  {
    let json = try JSONEncoder().encode(SQToken(accessToken: "a"))
    let token = try JSONDecoder().decode(SQToken.self, from: json)
    #expect(token.expirationDate == nil && token.refreshToken == nil && token.issueDate == nil)
    #expect(token.scope == nil && token.additionalFields.isEmpty)
  }

  @Test func `a token that an older version of the library stored can be read`() throws {
    let token = try JSONDecoder().decode(
      SQToken.self, from: Data(#"{"access_token":"a","token_type":"Bearer"}"#.utf8))
    #expect(token == SQToken(accessToken: "a"))
  }

  @Test func `tokens are equal and hash alike if all their parts are equal`() {
    let same = SQToken(accessToken: "a", refreshToken: "r")
    #expect(same == SQToken(accessToken: "a", refreshToken: "r"))
    #expect(Set([same, SQToken(accessToken: "a", refreshToken: "r")]).count == 1)
    let others = [
      SQToken(accessToken: "b", refreshToken: "r"), SQToken(accessToken: "a"),
      SQToken(accessToken: "a", expirationDate: Date(), refreshToken: "r"),
      SQToken(accessToken: "a", tokenType: "bearer", refreshToken: "r"),
      SQToken(accessToken: "a", scope: "s", refreshToken: "r"),
      SQToken(accessToken: "a", refreshToken: "r", issueDate: Date()),
      SQToken(accessToken: "a", refreshToken: "r", additionalFields: ["x": .null]),
      SQToken(accessToken: "a", refreshToken: "r", refreshTokenExpirationDate: Date()),
      SQToken(accessToken: "a", refreshToken: "r", authorizationExpirationDate: Date()),
    ]
    for other in others { #expect(other != same) }
  }

  @Test(arguments: [(-1.0, true), (0, true), (0.001, false), (1, false)])
  func `a token expires at its expiration date`(left: TimeInterval, isExpired: Bool) {
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    #expect(
      SQToken(accessToken: "a", expirationDate: now + left).isExpired(at: now) == isExpired)
  }

  @Test(arguments: [
    ("a b", ["a", "b"]), ("", []), (" a  b ", ["a", "b"]), ("demo,external", ["demo,external"]),
    ("A a", ["A", "a"]),
  ])
  func `only spaces separate scopes`(scope: String, scopes: [String]) {
    #expect(SQToken(accessToken: "a", scope: scope).scopes == scopes)
  }

  @Test(arguments: [
    ("a b", "a b", []), ("b a", "a b", []), ("a", "a b", ["b"]), ("a b c", "a", []),
    (nil, "a", ["a"]), ("A", "a", ["a"]), ("ab", "a b", ["a", "b"]), ("a", "", []),
  ])
  func `the missing scopes are the requested ones that were not granted`(
    granted: String?, requested: String, missing: [String]
  ) {
    #expect(
      SQToken(accessToken: "a", scope: granted).scopesMissing(from: requested) == missing)
  }

  @Test func `the redirect's parameters are stored with the token but never printed`() throws {
    let token = SQToken(accessToken: "T", redirectParameters: ["realmId": "C4N4RY"])
    let copy = try JSONDecoder().decode(SQToken.self, from: JSONEncoder().encode(token))
    #expect(copy == token && copy.redirectParameters == ["realmId": "C4N4RY"])
    #expect(token != SQToken(accessToken: "T"))
    #expect(!everyText(of: token).contains("C4N4RY"))
  }
}
