import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Each rule for the claims of an ID token.
///
/// Everything else about the token is right.
@Suite struct IDTokenRulesTests {
  private static let now = Date(timeIntervalSince1970: 1_900_000_000)
  private static let accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
  private static let code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"

  private static let claims: [String: JSONValue] = [
    "iss": "https://id.example", "sub": "24400320", "aud": "app", "exp": 1_900_000_300,
    "iat": 1_899_999_990, "nonce": "n-0S6_WzA2Mj",
  ]

  private static let rules = IDTokenRules(
    issuer: "https://id.example", clientID: "app", trustedAudiences: ["api"],
    clockTolerance: .seconds(60), algorithm: .rs256, now: now)

  private static func expectation() -> IDTokenExpectation {
    IDTokenExpectation(
      accessToken: accessToken, nonce: .required("n-0S6_WzA2Mj"), code: code)
  }

  private func check(
    _ changes: [String: JSONValue?], _ expectation: IDTokenExpectation = expectation()
  ) throws(SQOAuthError) {
    var claims = Self.claims
    for (name, value) in changes { claims[name] = value }
    let all = try IDTokenClaims(claims)
    try Self.rules.checkParties(all, expectation)
    try Self.rules.checkStatements(all, expectation)
  }

  // MARK: What every ID token must be

  /// Changed claims, and the resulting error, or `nil` if the claims are accepted.
  static let changes: [([String: JSONValue?], SQOAuthError.Code?)] = [
    ([:], nil),
    (["iss": nil], .idTokenIncomplete),
    (["sub": nil], .idTokenIncomplete),
    (["aud": nil], .idTokenIncomplete),
    (["exp": nil], .idTokenIncomplete),
    (["iat": nil], .idTokenIncomplete),
    (["iss": 7], .idTokenMalformed),
    (["sub": ""], .idTokenMalformed),
    (["sub": 24_400_320], .idTokenMalformed),
    (["aud": .array([])], .idTokenMalformed),
    (["aud": .array(["app", 7])], .idTokenMalformed),
    (["exp": "1900000300"], .idTokenMalformed),
    // In milliseconds.
    (["exp": 1_900_000_300_000], .idTokenMalformed),
    (["iat": -1], .idTokenMalformed),
    (["azp": 7], .idTokenMalformed),
    (["sid": 7], .idTokenMalformed),
    // This client uses none of these claims.
    (["amr": "pwd"], nil), (["amr": 7], nil), (["acr": 7], nil), (["auth_time": "yesterday"], nil),
    (["azp": ""], nil), (["sid": ""], nil), (["at_hash": ""], nil), (["c_hash": ""], nil),

    (["iss": "https://id.example/"], .idTokenIssuer),
    (["iss": "https://ID.example"], .idTokenIssuer),
    // An "e" with a combining accent.
    (["iss": "https://id.e\u{301}xample"], .idTokenIssuer),

    (["aud": "stranger"], .idTokenAudience),
    (["aud": .array(["app"])], nil),
    (["aud": .array(["app", "app"])], nil),
    (["aud": .array(["app", "stranger"]), "azp": "app"], .idTokenAudience),
    (["aud": .array(["app", "api"]), "azp": "app"], nil),
    (["aud": .array(["app", "api"])], .idTokenAuthorizedParty),
    (["aud": "api", "azp": "app"], .idTokenAudience),
    (["azp": "app"], nil),
    (["azp": "stranger"], .idTokenAuthorizedParty),

    // The clocks may differ by 60 s in both directions.
    (["exp": 1_899_999_941], nil),
    (["exp": 1_899_999_940], .idTokenExpired),
    (["exp": 0], .idTokenExpired),
    (["iat": 1_900_000_060], nil),
    (["iat": 1_900_000_061], .idTokenNotYetValid),
    (["iat": 1_900_000_060.5], .idTokenNotYetValid),
    (["nbf": 1_900_000_060], nil),
    (["nbf": 1_900_000_061], .idTokenNotYetValid),
    // A provider may send an ID token again as long as it is valid.
    (["iat": 1_800_000_000], nil),

    (["nonce": nil], .idTokenNonce),
    (["nonce": "n-0s6_WzA2Mj"], .idTokenNonce),

    // The examples of OpenID Connect Core 1.0, appendix A.
    (["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"], nil),
    (["at_hash": "77QmUPtjPfzWtF2AnpK9RA"], .idTokenAccessToken),
    (["at_hash": "77QmUPtjPfzWtF2AnpK9RQ=="], .idTokenAccessToken),
    (["c_hash": "LDktKdoQak3Pk0cnXxCltA"], nil),
    (["c_hash": "77QmUPtjPfzWtF2AnpK9RQ"], .idTokenCode),
  ]

  @Test(arguments: changes)
  func `each broken rule causes its error code, and valid claims are accepted`(
    changes: [String: JSONValue?], code: SQOAuthError.Code?
  ) throws {
    guard let code else { return try check(changes) }
    let error = try #require(failure(code) { try check(changes) })
    for (name, value) in Self.claims.map({ ($0, $1 as JSONValue?) }) + changes.map({ ($0, $1) }) {
      guard name != "iss", let text = value?.string, text.count > 3 else { continue }
      #expect(!error.message.contains(text), "no claim's value is in the message")
    }
    // An issuer is no secret, and a developer needs its exact text.
    guard code == .idTokenIssuer, let issuer = changes["iss"]??.string else { return }
    #expect(error.message.contains("\"\(issuer)\""))
  }

  /// Swift's own `==` treats the two texts of each pair as equal.
  @Test(arguments: [
    // The Kelvin sign and K.
    ("https://id.example/\u{212A}", "https://id.example/K"),
    // An "é" as one scalar, and as an "e" with a combining accent.
    ("https://id.example/\u{E9}", "https://id.example/e\u{301}"),
  ])
  func `an issuer that is canonically equal to the expected one, but has other bytes, is rejected`(
    one: String, other: String
  ) throws {
    // In this file, `==` is the SDK's comparison, byte by byte. A set uses Swift's own comparison.
    try #require(Set([one, other]).count == 1)
    for (issuer, expected) in [(one, other), (other, one)] {
      let rules = IDTokenRules(
        issuer: expected, clientID: "app", trustedAudiences: [], clockTolerance: .seconds(60),
        algorithm: .rs256, now: Self.now)
      var claims = Self.claims
      claims["iss"] = .string(issuer)
      let all = try IDTokenClaims(claims)
      failure(.idTokenIssuer) { try rules.checkParties(all, Self.expectation()) }
      claims["iss"] = .string(expected)
      try rules.checkParties(try IDTokenClaims(claims), Self.expectation())
    }
  }

  @Test func `at_hash is checked with the digest of the signature's algorithm`() throws {
    let hashes: [(JWSAlgorithm, String)] = [
      (.es256, "77QmUPtjPfzWtF2AnpK9RQ"),
      // By convention, Ed25519 uses SHA-512.
      (.edDSA, "q7nS86GgvvFaZkzALLWqJYaJIKw2wCDAVfCAsm5CrBM"),
    ]
    for (algorithm, hash) in hashes {
      let rules = IDTokenRules(
        issuer: "https://id.example", clientID: "app", trustedAudiences: [],
        clockTolerance: .zero, algorithm: algorithm, now: Self.now)
      var claims = Self.claims
      claims["at_hash"] = .string(hash)
      try rules.checkParties(IDTokenClaims(claims), Self.expectation())
    }
  }

  // MARK: What the request asked for

  @Test(
    arguments: [
      (["auth_time": 1_899_999_000], nil),
      (["auth_time": 1_899_998_940], nil),
      (["auth_time": 1_899_998_939], .idTokenAuthenticationDate),
      (["auth_time": nil], .idTokenAuthenticationDate),
      (["auth_time": "1899999000"], .idTokenAuthenticationDate),
    ] as [([String: JSONValue?], SQOAuthError.Code?)])
  func `auth_time must be within the requested max_age`(
    changes: [String: JSONValue?], code: SQOAuthError.Code?
  ) throws {
    var expectation = Self.expectation()
    expectation.maximumAge = .seconds(1000)
    guard let code else { return try check(changes, expectation) }
    failure(code) { try check(changes, expectation) }
  }

  /// The user needed 400 s for a consent, or the request comes from a host whose clock is ahead.
  @Test(
    arguments: [
      (-400, 1_899_998_540, nil), (-400, 1_899_998_539, .idTokenAuthenticationDate),
      (-400, 1_899_999_700, nil), (400, 1_899_998_940, nil),
      (400, 1_899_998_939, .idTokenAuthenticationDate),
      (-400, 1_900_000_060, nil), (-400, 1_900_000_061, .idTokenAuthenticationDate),
      // Later than any other date, but a time in seconds.
      (-400, 253_402_300_799, .idTokenAuthenticationDate),
    ] as [(Double, Int64, SQOAuthError.Code?)])
  func `the age of a login is measured at the request, and no login is in the future`(
    requested: Double, time: Int64, code: SQOAuthError.Code?
  ) throws {
    var expectation = Self.expectation()
    expectation.maximumAge = .seconds(1000)
    expectation.requestDate = Self.now.addingTimeInterval(requested)
    let changes: [String: JSONValue?] = ["auth_time": .integer(time)]
    guard let code else { return try check(changes, expectation) }
    failure(code) { try check(changes, expectation) }
  }

  @Test(
    arguments: [
      (["acr": "silver"], nil), (["acr": "gold"], nil),
      (["acr": "bronze"], .idTokenAuthenticationContext),
      (["acr": nil], .idTokenAuthenticationContext),
    ] as [([String: JSONValue?], SQOAuthError.Code?)])
  func `an essential acr must be one of the requested values`(
    changes: [String: JSONValue?], code: SQOAuthError.Code?
  ) throws {
    var expectation = Self.expectation()
    expectation.essentialContexts = ["silver", "gold"]
    guard let code else { return try check(changes, expectation) }
    failure(code) { try check(changes, expectation) }
  }

  // MARK: A refresh

  @Test(
    arguments: [
      ([:], nil),
      // Another process of the provider may set a new issue date, although no user logged in.
      (["iat": 1_900_000_000, "exp": 1_900_000_900], nil),
      (["nonce": nil], nil),
      (["nonce": "another"], .idTokenNonce),
      (["sub": "24400321"], .idTokenSubject),
      (["iss": "https://other.example"], .idTokenIssuer),
      (["aud": "stranger"], .idTokenAudience),
      (["aud": "app"], .idTokenAudience),
      (["azp": nil], .idTokenAuthorizedParty),
      (["aud": "app", "azp": nil], .idTokenAudience),
      (["azp": "stranger"], .idTokenAuthorizedParty),
      (["auth_time": 1_899_999_000], nil),
      (["auth_time": nil], nil),
      (["auth_time": 1_899_999_001], .idTokenAuthenticationDate),
    ] as [([String: JSONValue?], SQOAuthError.Code?)])
  func `the ID token of a refresh must match that of the sign-in`(
    changes: [String: JSONValue?], code: SQOAuthError.Code?
  ) throws {
    let original: [String: JSONValue] = [
      "aud": .array(["app", "api"]), "azp": "app", "auth_time": 1_899_999_000,
    ]
    let claims = Self.claims.merging(original) { $1 }
    var expectation = IDTokenExpectation(
      accessToken: Self.accessToken, nonce: .ifPresent("n-0S6_WzA2Mj"))
    expectation.previous = IDToken(validated: try IDTokenClaims(claims), compactForm: "a.b.c")
    let all = original.mapValues(Optional.some).merging(changes) { $1 }
    guard let code else { return try check(all, expectation) }
    failure(code) { try check(all, expectation) }
  }

  /// Changes that make a refresh's ID token wrong, but break no rule that `checkParties` checks.
  @Test(
    arguments: [
      ["auth_time": 1_899_999_001], ["aud": "app"], ["aud": .array(["app", "api", "stranger"])],
      ["azp": nil], ["exp": 1_000_000_000], ["iat": 1_999_999_999],
    ] as [[String: JSONValue?]])
  func `checkParties accepts wrong claims that only checkStatements rejects`(
    changes: [String: JSONValue?]
  ) throws {
    var claims: [String: JSONValue] = [
      "aud": .array(["app", "api"]), "azp": "app", "auth_time": 1_899_999_000,
    ]
    claims.merge(Self.claims) { mine, _ in mine }
    var expectation = IDTokenExpectation(accessToken: Self.accessToken, nonce: .ifPresent(nil))
    expectation.previous = IDToken(validated: try IDTokenClaims(claims), compactForm: "a.b.c")
    for (name, value) in changes { claims[name] = value }
    let all = try IDTokenClaims(claims)
    try Self.rules.checkParties(all, expectation)
    #expect(throws: SQOAuthError.self) { try Self.rules.checkStatements(all, expectation) }
  }

  @Test func `a refresh may name this client as authorized party although the sign-in did not`()
    throws
  {
    var expectation = IDTokenExpectation(accessToken: Self.accessToken, nonce: .ifPresent(nil))
    expectation.previous = IDToken(validated: try IDTokenClaims(Self.claims), compactForm: "a.b.c")
    try check(["azp": "app"], expectation)
    failure(.idTokenAuthorizedParty) { try check(["azp": "stranger"], expectation) }
  }

  // MARK: Clocks

  @Test(arguments: [
    (Duration.seconds(3700), "3700 s ahead of the server's"),
    (.seconds(-3700), "3700 s behind the server's"), (.zero, "agrees with the server's"),
  ])
  func `an error about time says how far the clocks differ`(lead: Duration, words: String) throws {
    var expectation = Self.expectation()
    expectation.clockLead = lead
    for changes in [["exp": 0], ["iat": 1_900_003_600]] as [[String: JSONValue?]] {
      let error = failure { try check(changes, expectation) }
      #expect(error?.message.contains(words) == true)
    }
  }
}
