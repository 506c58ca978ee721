import Foundation
import SequencingOAuth
import SequencingOAuthBackend
import SequencingOAuthTesting
import Testing

/// The values that an app's tests make without a server.
@Suite struct FakeValueTests {
  @Test func `a fake ID token has the claims that its arguments name`() throws {
    let issued = Date(timeIntervalSince1970: 1_750_000_000)
    let token = try IDToken.fake(
      "u-1", claims: ["name": "Alice Liddell", "amr": ["pwd"], "sid": "s"], issuedAt: issued,
      lifetime: .seconds(60))
    #expect(token.subject == "u-1" && token.issuer == "https://id.example.com")
    #expect(token.audience == ["app"] && token.name == "Alice Liddell")
    #expect(token.authenticationMethods == ["pwd"] && token.sessionID == "s")
    #expect(token.issueDate == issued && token.expirationDate == issued.addingTimeInterval(60))
  }

  @Test func `a fake ID token with a negative lifetime has expired`() throws {
    #expect(try IDToken.fake(lifetime: .seconds(-60)).expirationDate < Date())
  }

  @Test func `the text of a fake ID token has the algorithm none and an empty signature`() throws {
    let parts = try IDToken.fake("alice").compactForm.split(
      separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3 && parts[2].isEmpty)
    // RFC 7515 uses Base64url without padding.
    #expect(parts[0] == "eyJhbGciOiJub25lIn0")
    let header = try #require(Data(base64Encoded: "\(parts[0])="))
    #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"none"}"#)
  }

  @Test func `a claim overrides a fake ID token's argument, and a null claim removes the argument`()
    throws
  {
    let token = try IDToken.fake("alice", claims: ["sub": "bob", "azp": "app"])
    #expect(token.subject == "bob" && token.authorizedParty == "app")
    let error = #expect(throws: SQOAuthError.self) { try IDToken.fake(claims: ["sub": .null]) }
    #expect(error?.code == .idTokenIncomplete)
  }

  @Test func `a fake ID token with a claim of a wrong type throws an error`() {
    let error = #expect(throws: SQOAuthError.self) { try IDToken.fake(claims: ["sub": 7]) }
    #expect(error?.code == .idTokenMalformed)
    #expect(error?.message.contains("\"sub\"") == true)
  }

  @Test func `fake ID tokens with the same claims are equal, and others differ`() throws {
    let date = Date()
    #expect(try IDToken.fake("a", issuedAt: date) == .fake("a", issuedAt: date))
    #expect(try IDToken.fake("a", issuedAt: date) != .fake("b", issuedAt: date))
  }

  @Test func `fake user information keeps its subject even if the claims name a different one`() {
    let info = UserInfo.fake("u-1", claims: ["email": "a@example.com", "sub": "other"])
    #expect(info.subject == "u-1" && info.claims["sub"] == "u-1")
    #expect(info.email == "a@example.com")
  }

  @Test func `fake access token claims pass checks for their own values and fail other checks`()
    throws
  {
    let claims = try AccessTokenClaims.fake(
      scopes: ["orders.read", "orders.write"], claims: ["acr": "high"])
    try claims.require(scopes: "orders.read")
    try claims.require(audience: "https://api.example.com")
    try claims.requireLogin(acrValues: ["high"])
    #expect(claims.subject == "alice" && claims.clientID == "app")
    #expect(throws: SQOAuthError.self) { try claims.require(scopes: "admin") }
    #expect(throws: SQOAuthError.self) { try claims.requireBound() }
    let bound = try AccessTokenClaims.fake(claims: ["cnf": ["jkt": "thumbprint"]])
    try bound.requireBound()
  }

  @Test func `fake access token claims with a value of a wrong type throw an error`() {
    let error = #expect(throws: SQOAuthError.self) {
      try AccessTokenClaims.fake(claims: ["exp": "tomorrow"])
    }
    #expect(error?.code == .accessTokenInvalid)
  }

  @Test(arguments: [(10, false), (-1, true)])
  func `a fake token expires after its lifetime`(seconds: Int, isExpired: Bool) {
    #expect(SQToken.fake(lifetime: .seconds(seconds)).isExpired(at: Date()) == isExpired)
    #expect(SQToken.fake(lifetime: nil).expirationDate == nil)
  }

  @Test func `a fake token contains the given ID token and scopes`() throws {
    let idToken = try IDToken.fake("u-1")
    let token = SQToken.fake(scope: "openid demo", idToken: idToken)
    #expect(token.idToken == idToken && token.scopes == ["openid", "demo"])
    #expect(token.additionalFields["id_token"] == .string(idToken.compactForm))
  }

  @Test func `fake values with extreme lifetimes and dates do not crash`() throws {
    let extremes = [Duration.seconds(Int64.max), .seconds(Int64.min)]
    for lifetime in extremes + extremes.map({ $0 * 18 }) {
      _ = SQToken.fake(lifetime: lifetime)
      _ = try? IDToken.fake(lifetime: lifetime)
      _ = try? AccessTokenClaims.fake(issuedAt: .distantFuture, lifetime: lifetime)
    }
  }
}
