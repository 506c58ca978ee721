import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// RFC 6750, section 3.
@Suite struct TokenChallengeTests {
  static let expired =
    #"Bearer realm="example", error="invalid_token", error_description="The access token expired""#
  static let fields = [
    expired, #"Bearer realm="example""#,
    #"Bearer error="insufficient_scope", scope="demo files", error_uri="https://s.example/e""#,
    #"DPoP algs="ES256", error="use_dpop_nonce", Bearer error="invalid_token", Basic realm="b""#,
  ]

  static func only(_ field: String) throws -> TokenChallenge {
    let challenges = TokenChallenge.challenges(in: [field])
    try #require(challenges.count == 1)
    return challenges[0]
  }

  @Test func `the examples of RFC 6750 section 3 are read`() throws {
    let plain = try Self.only(#"Bearer realm="example""#)
    #expect(plain.realm == "example")
    #expect(plain.error == nil && plain.scope == nil && plain.errorDescription == nil)
    let expired = try Self.only(Self.expired)
    #expect(expired.error == .invalidToken)
    #expect(expired.errorDescription == "The access token expired")
    #expect(expired.scheme == "Bearer")
  }

  @Test func `attribute names may have any letter case, and parameters contains every attribute`()
    throws
  {
    let challenge = try Self.only(
      #"bEARER Error=insufficient_scope, SCOPE="demo files", error_uri="https://s.example/e","#
        + #" Resource_Metadata="https://s.example/.well-known/oauth-protected-resource""#)
    #expect(challenge.scheme == "bEARER")
    #expect(challenge.error == .insufficientScope)
    #expect(challenge.scope == "demo files")
    #expect(challenge.errorURI == "https://s.example/e")
    #expect(
      challenge.parameters["resource_metadata"]
        == "https://s.example/.well-known/oauth-protected-resource")
    #expect(challenge.parameters.count == 4)
  }

  @Test(arguments: [
    (#"Basic realm="b", Bearer error=invalid_token"#, 1),
    (#"Bearer error=invalid_token, Basic realm="b""#, 1),
    (#"Newauth a="Bearer error=x", Bearer error=invalid_token, Other"#, 1),
    (#"DPoP algs="ES256 PS256", Digest error="x", dpop error="invalid_token""#, 2),
    ("Bearer a=b, Bearer error=invalid_token", 2), ("Basic", 0), ("Bearerish error=x", 0),
    ("Negotiate Bearer", 0), (#"Basic realm="Bearer error=x""#, 0), ("", 0),
  ])
  func `challenges of schemes other than Bearer and DPoP are skipped`(field: String, count: Int) {
    let challenges = TokenChallenge.challenges(in: [field])
    #expect(challenges.count == count)
    if count > 0 { #expect(challenges.last?.error == .invalidToken) }
  }

  /// RFC 9449, section 7.2.
  @Test func `a challenge of the token's own scheme is preferred`() {
    let both = TokenChallenge.challenges(in: [
      #"Bearer error="invalid_token", DPoP error="use_dpop_nonce", algs="ES256 PS256""#
    ])
    #expect(both.answering(isBound: true)?.error == .useDPoPNonce)
    #expect(both.answering(isBound: true)?.proofAlgorithms == ["ES256", "PS256"])
    #expect(both.answering(isBound: false)?.error == .invalidToken)
    let one = TokenChallenge.challenges(in: ["Bearer error=invalid_token"])
    #expect(one.answering(isBound: true)?.error == .invalidToken)
    #expect([TokenChallenge]().answering(isBound: true) == nil)
  }

  @Test func `a challenge with two errors is ignored`() {
    #expect(
      TokenChallenge.challenges(in: [
        "Bearer error=invalid_token, error=insufficient_scope", "Bearer realm=x",
      ]) == [TokenChallenge(parameters: ["realm": "x"])])
  }

  @Test func `a broken description does not hide the error before it`() throws {
    for broken in ["The access token expired", #""the "access token" expired""#, "\"no end", ""] {
      let field = "Bearer error=\"invalid_token\", error_description=\(broken)"
      #expect(try Self.only(field).error == .invalidToken)
    }
  }

  @Test(arguments: ["a\"b", "a\\b", "a\tb", "\u{E4}", "a\u{202E}b"])
  func `an invalid scope is nil`(scope: String) {
    #expect(TokenChallenge(parameters: ["scope": scope]).scope == nil)
  }

  @Test func `a long list of scopes is not shortened`() throws {
    let scope = (0..<200).map { "https://s.example/scope\($0)" }.joined(separator: " ")
    #expect(try Self.only("Bearer scope=\"\(scope)\"").scope == scope)
  }

  // MARK: Challenges of a response

  @Test func `all WWW-Authenticate fields are read, and a challenge with an error is preferred`() {
    var headers: HeaderFields = ["www-authenticate": #"Basic realm="b", Bearer realm="r""#]
    headers.append(.init(name: "X-Other", value: "Bearer error=x"))
    headers.append(.init(name: "WWW-AUTHENTICATE", value: "Bearer error=invalid_token"))
    let response = WebResponse(status: 401, headers: headers)
    #expect(response.headers.tokenChallenges.map(\.realm) == ["r", nil])
    #expect(response.tokenChallenge?.error == .invalidToken, "the challenge with an error")
    #expect(
      WebResponse(status: 401, headers: ["WWW-Authenticate": "Bearer"]).tokenChallenge != nil)
    #expect(WebResponse(status: 401).tokenChallenge == nil)
  }

  @Test func `an error keeps its challenge and its retry delay when a status is added`() {
    let challenge = TokenChallenge(parameters: ["error": "invalid_token"])
    let error = SQOAuthError(
      .invalidToken, "no", challenge: challenge, retryAfter: .seconds(7)
    ).with(status: 401, removing: SentSecrets([]))
    #expect(error.challenge == challenge)
    #expect(error.retryAfter == .seconds(7))
    #expect(error.status == 401)
  }

  // MARK: Texts

  @Test func `the server's texts are cleaned and shortened`() throws {
    let nasty = "a\u{85}\u{202E}\u{2028}b" + String(repeating: "x", count: 900)
    let challenge = TokenChallenge(parameters: [
      "realm": nasty, "error": nasty, "error_description": nasty, "error_uri": nasty,
      "scope": nasty,
    ])
    for text in [
      challenge.realm, challenge.error?.rawValue, challenge.errorDescription, challenge.errorURI,
    ] {
      let text = try #require(text)
      #expect(text.hasPrefix("a bxx"))
      #expect(text.count == 500)
    }
    #expect(!everyText(of: challenge).unicodeScalars.contains { isHarmful($0) && $0 != "\n" })
  }

  @Test func `a printed challenge shows only its scheme, realm, error and scope`() {
    let challenge = TokenChallenge(parameters: [
      "realm": "r", "error": "invalid_token", "scope": "demo", "error_description": "C4N4RY",
      "error_uri": "https://x/C4N4RY", "other": "C4N4RY",
    ])
    #expect(
      challenge.description
        == #"Bearer challenge (realm "r", error "invalid_token", scope "demo")"#)
    #expect(TokenChallenge().description == "Bearer challenge")
    PrintingTests.expectSilence(challenge)
    ErrorTextTests.expectSilence(SQOAuthError(.invalidToken, "no", challenge: challenge))
  }

  @Test func `a token that the server repeats in a challenge is removed, encoded or not`() throws {
    let token = "C4N4RY-a+b/c="
    let encoded = "C4N4RY-a%2Bb%2Fc%3D"
    let challenge = try Self.only(
      "Bearer realm=\"\(token)\", error=\"x \(encoded)\", error_description=\"\(token)\u{301} ended\""
    )
    let removed = challenge.removing(SentSecrets([token]))
    #expect(removed.realm == "[removed]")
    #expect(removed.error?.rawValue == "x [removed]")
    #expect(removed.errorDescription == "[removed]\u{301} ended")
    #expect(!"\(removed.parameters)".contains("C4N4RY"))
  }
}
