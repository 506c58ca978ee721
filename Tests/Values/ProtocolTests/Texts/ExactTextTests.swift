import Foundation
import SequencingOAuth
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// Texts that Swift treats as equal, but the protocol does not.
@Suite struct ExactTextTests {
  /// The kelvin sign, a separate accent, and the Greek question mark.
  static let pairs = [("Key", "\u{212A}ey"), ("caf\u{E9}", "cafe\u{301}"), (";", "\u{37E}")]

  private struct Synthesized: Hashable {
    let text: String
    let possible: String?
    let list: [String]
  }

  private enum Case: Hashable { case text(String) }

  @Test(arguments: pairs)
  func `texts that only Unicode treats as equal are different in every comparison`(
    one: String, other: String
  ) {
    #expect(one[...] == other[...], "Swift calls them equal")
    #expect(!(one == other) && one != other)
    #expect(one == String(decoding: one.utf8, as: UTF8.self))
    let (possible, absent) = (String?.some(one), String?.none)
    #expect(!(possible == other) && possible != other && possible == one)
    #expect(absent == nil && absent != one && possible != absent)
    #expect(!([one] == [other]) && [one] != [other] && [one] == [one])
    #expect(![one].contains(other) && [one].contains(one))
    #expect(!one.split(separator: " ").map(String.init).contains(other))
    #expect(![possible, nil].contains(other) && [possible, nil].contains(nil))
    #expect(!Set([one]).contains(other) && Set([one]).contains(one))
    switch one {
    case other: Issue.record("the switch matched a different text")
    default: break
    }
  }

  @Test(arguments: pairs)
  func `an equality that the compiler synthesizes is exact`(one: String, other: String) {
    let value = Synthesized(text: "a", possible: nil, list: [])
    #expect(value == Synthesized(text: "a", possible: nil, list: []))
    #expect(
      Synthesized(text: one, possible: nil, list: [])
        != Synthesized(text: other, possible: nil, list: []))
    #expect(
      Synthesized(text: "", possible: one, list: [])
        != Synthesized(text: "", possible: other, list: []))
    #expect(
      Synthesized(text: "", possible: nil, list: [one])
        != Synthesized(text: "", possible: nil, list: [other]))
    #expect(Case.text(one) != Case.text(other) && Case.text(one) == Case.text(one))
    // The library's own types compare texts exactly too.
    #expect(JSONValue.string(one) != .string(other))
    #expect(JSONValue.array([.string(one)]) != .array([.string(other)]))
    #expect(SQToken(accessToken: one) != SQToken(accessToken: other))
    #expect(record(one) != record(other))
  }

  @Test func `each file that compares texts imports the exact comparison`() throws {
    // The exact `==` is declared in SequencingOAuth. A file that does not import this module would
    // use Swift's `==`.
    let compares = /\bHashable\b|\bEquatable\b|[=!]= "|contains\("/
    var count = 0
    for library in ["Pipes", "Backend", "PostgreSQL", "SQLite", "SecretService", "GRPC"] {
      for path in try PackageSources.paths(in: "Sources/SequencingOAuth\(library)")
      where path.hasSuffix(".swift") {
        let text = try PackageSources.text(of: path)
        guard text.replacing(/\/\/.*/, with: "").contains(compares) else { continue }
        count += 1
        let isImported = text.contains(
          /^(?:public |package )?import SequencingOAuth$/.anchorsMatchLineEndings())
        #expect(isImported, "\(path) compares texts without SequencingOAuth")
      }
    }
    #expect(count > 30)
  }

  @Test(arguments: pairs)
  func `keys of a TextDictionary and values of ExactText are compared exactly`(
    one: String, other: String
  ) {
    var values = TextDictionary<Int>()
    values[one] = 1
    values[other, default: 1] += 1
    #expect(values[one] == 1 && values[other] == 2)
    #expect(values.texts.count == 2)
    #expect(values.removeValue(forKey: one) == 1 && values[one] == nil && values[other] == 2)
    #expect(Set([one, other, one].map { ExactText($0) }).count == 2)
    #expect(ExactText(one) != ExactText(other))
  }

  @Test(arguments: pairs)
  func `a JSON object can contain two names that Swift calls equal`(one: String, other: String)
    throws
  {
    func registration(_ issuer: String) -> JSONValue { ["issuer": .string(issuer)] }
    var values = StoredRegistrations()
    // The second name is encoded with "\u{0}" and a number at its end, and must stay different from
    // the third name.
    let names = [one, other, "\(one)\u{0}2", "a"]
    for name in names { values[name] = registration(name) }
    let json = try JSONEncoder().encode(values)
    let read = try JSONDecoder().decode(StoredRegistrations.self, from: json)
    #expect(read == values && read.issuers.count == 4)
    for name in names { #expect(read[name]?["issuer"].string == name) }
    // A file of an older version can be read.
    let old = try JSONEncoder().encode(["a": registration("a")])
    #expect(try JSONDecoder().decode(StoredRegistrations.self, from: old).issuers == ["a"])
    for name in ["b", "a\u{0}", "a\u{0}x", "a2"] {
      let foreign = try JSONEncoder().encode([name: registration("a")])
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(StoredRegistrations.self, from: foreign)
      }
    }
  }

  @Test func `lowercasing changes only ASCII letters`() {
    #expect("Bearer-K\u{212A}\u{C9}".asciiLowercased() == "bearer-k\u{212A}\u{C9}")
    #expect("@AZ[`az{".asciiLowercased() == "@az[`az{")
  }

  // MARK: Decisions of a service

  @Test(arguments: pairs)
  func `a scope or an audience that only Unicode treats as equal is rejected`(
    one: String, other: String
  ) throws {
    let claims = try AccessTokenClaims(
      ClaimReader(
        claims: ["aud": .array([.string(one), "x"]), "scope": .string("a \(one)")],
        subject: "token", missing: .accessTokenInvalid, malformed: .accessTokenInvalid))
    try claims.require(scopes: one, "a")
    failure(.insufficientScope) { try claims.require(scopes: "a", other) }
    try claims.require(audience: one)
    failure(.accessTokenInvalid) { try claims.require(audience: other) }
    failure(.accessTokenInvalid) { try claims.require(audience: "") }
    #expect(SQToken(accessToken: "a", scope: one).scopesMissing(from: "\(other) \(one)") == [other])
  }

  @Test(arguments: pairs)
  func `a logout token must match its client, user and session exactly`(
    one: String, other: String
  ) throws {
    let claims: [String: JSONValue] = [
      "iss": "https://id.example", "aud": .string(one), "sub": .string(one), "sid": .string(one),
      "jti": "1", "iat": 1_700_000_000, "exp": 1_700_000_100,
      "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
    ]
    func logout(for clientID: String) throws(SQOAuthError) -> LogoutToken {
      try LogoutToken(
        claims, issuer: "https://id.example", clientID: clientID, clockTolerance: .zero,
        now: Date(timeIntervalSince1970: 1_700_000_001))
    }
    failure(.logoutTokenInvalid) { try logout(for: other) }
    let token = try logout(for: one)
    for (subject, session) in [(one, one), (other, one), (one, other)] {
      let identity = claims.merging(["sub": .string(subject), "sid": .string(session)]) { $1 }
      let idToken = IDToken(validated: try IDTokenClaims(identity), compactForm: "")
      let record = AccountRecord(
        id: "a", clientID: one,
        token: SQToken(accessToken: "a").identifying(idToken, nonce: nil))
      #expect(token.names(record) == (subject == one && session == one))
    }
  }

  @Test(arguments: pairs)
  func `an ID token must match its client and user exactly`(one: String, other: String) throws {
    func claims(_ audience: [String], subject: String) throws(SQOAuthError) -> IDTokenClaims {
      try IDTokenClaims([
        "iss": "https://id.example", "sub": .string(subject), "exp": 1_700_000_100,
        "aud": .array(audience.map(JSONValue.string)), "iat": 1_700_000_000, "azp": .string(one),
      ])
    }
    let rules = IDTokenRules(
      issuer: "https://id.example", clientID: one, trustedAudiences: [one, "api"],
      clockTolerance: .zero, algorithm: .es256, now: Date(timeIntervalSince1970: 1_700_000_001))
    func check(
      _ claims: IDTokenClaims, _ expectation: IDTokenExpectation
    ) throws(SQOAuthError) {
      try rules.checkParties(claims, expectation)
      try rules.checkStatements(claims, expectation)
    }
    var expectation = IDTokenExpectation(accessToken: "a", nonce: .ifPresent(nil))
    try check(claims([one, "api"], subject: one), expectation)
    failure(.idTokenAudience) { try check(claims([other], subject: one), expectation) }
    failure(.idTokenAudience) { try check(claims([one, other], subject: one), expectation) }
    expectation.previous = IDToken(
      validated: try claims([one, "api"], subject: one), compactForm: "")
    try check(claims([one, "api"], subject: one), expectation)
    failure(.idTokenSubject) {
      try check(claims([one, "api"], subject: other), expectation)
    }
  }
}
