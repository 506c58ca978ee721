import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// How a resource server answers a request that it rejects (RFC 6750, section 3; RFC 9470, section
/// 3; RFC 9728, section 5.1).
@Suite struct AccessRefusalTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func claims(_ claims: [String: JSONValue]) throws -> AccessTokenClaims {
    try AccessTokenClaims(
      ClaimReader(
        claims: claims, subject: "access token", missing: .accessTokenInvalid,
        malformed: .accessTokenInvalid))
  }

  /// Returns the challenge as a client reads it.
  private func read(_ refusal: AccessRefusal) throws -> TokenChallenge {
    let challenges = TokenChallenge.challenges(in: [try #require(refusal.challenge)])
    #expect(challenges.count == 1)
    return try #require(challenges.first)
  }

  @Test(
    arguments: [
      (nil, 401, #"Bearer realm="api""#), (.accessTokenMissing, 401, #"Bearer realm="api""#),
      (.authorizationMalformed, 400, #"Bearer error="invalid_request""#),
      (.accessTokenInvalid, 401, #"Bearer error="invalid_token""#),
      (.unexpectedTokenType, 401, #"Bearer error="invalid_token""#),
      (.invalidDPoPProof, 401, #"DPoP error="invalid_dpop_proof""#),
      (.insufficientScope, 403, #"Bearer error="insufficient_scope""#),
      (
        .insufficientUserAuthentication, 401,
        #"Bearer error="insufficient_user_authentication""#
      ),
      (.connectionFailed, 503, nil), (.serverError, 503, nil), (.storeFailed, 503, nil),
      // An introspection endpoint's code says nothing about the caller's request.
      (.invalidRequest, 503, nil),
    ] as [(SQOAuthError.Code?, Int, String?)])
  func `each error code determines the HTTP status and the WWW-Authenticate challenge`(
    code: SQOAuthError.Code?, status: Int, challenge: String?
  ) {
    let refusal = AccessRefusal(code.map { SQOAuthError($0, "no") })
    #expect(refusal.status == status && refusal.challenge == challenge)
  }

  @Test(
    arguments: [
      (nil, nil), (.zero, "0"), (.milliseconds(1), "1"), (.seconds(30), "30"),
      (.seconds(Int64.max), "86400"), (.seconds(-5), "0"),
    ] as [(Duration?, String?)])
  func `Retry-After is sent for an unavailable server, but not for an invalid token`(
    asked: Duration?, field: String?
  ) throws {
    let error = SQOAuthError(.temporarilyUnavailable, "no", status: 503, retryAfter: asked)
    let refusal = AccessRefusal(error, scopes: ["read"])
    #expect(refusal.retryAfter == asked && refusal.fields["Retry-After"] == field)
    #expect(refusal.fields.map(\.name) == (asked == nil ? [] : ["Retry-After"]))
    // An error about the token is no reason to wait.
    let other = AccessRefusal(SQOAuthError(.accessTokenInvalid, "no", retryAfter: asked))
    #expect(other.retryAfter == nil && other.fields.map(\.name) == ["WWW-Authenticate"])
    #expect(other.fields["WWW-Authenticate"] == other.challenge)
  }

  @Test func `the challenge to a request without a token names the scopes but no error`() throws {
    let refusal = AccessRefusal(SQOAuthError(.accessTokenMissing, "no"), scopes: ["read"])
    let challenge = try read(refusal)
    #expect(challenge.error == nil && challenge.parameters == ["scope": "read"])
  }

  @Test func `a DPoP challenge without an error names the metadata URL and the scopes`() throws {
    let address = try ProtectedResourceMetadata.address(of: "https://api.example/orders")
    let refusal = AccessRefusal(
      resourceMetadata: address.absoluteString, scopes: ["read", "write"], requiresProof: true)
    let challenge = try read(refusal)
    #expect(challenge.asksForProof && challenge.error == nil && challenge.scope == "read write")
    #expect(
      challenge.resourceMetadata
        == "https://api.example/.well-known/oauth-protected-resource/orders")
  }

  @Test func `a challenge without any other parameter has a realm`() throws {
    let challenge = try read(AccessRefusal(requiresProof: true))
    #expect(challenge.asksForProof && challenge.parameters == ["realm": "api"])
    // A text without a usable character is still a parameter.
    #expect(try read(AccessRefusal(scopes: ["\""])).parameters == ["scope": ""])
  }

  @Test func `after a failed scope check, the challenge names all required scopes`() throws {
    let claims = try claims(["scope": "read"])
    let error = failure(.insufficientScope) { try claims.require(scopes: "read", "write") }
    let challenge = try read(AccessRefusal(error))
    #expect(challenge.error == .insufficientScope && challenge.scope == "read write")
  }

  @Test(
    arguments: [
      (["acr": "gold", "auth_time": 1_799_999_990], true),
      (["acr": "silver", "auth_time": 1_799_999_990], false),
      (["acr": "gold", "auth_time": 1_799_999_939], false),
      (["acr": "gold", "auth_time": 1_799_999_940], true),
      (["acr": "gold"], false), (["auth_time": 1_799_999_990], false), ([:], false),
      (["acr": ["gold"], "auth_time": "1799999990"], false),
      // In the future, and not in seconds.
      (["acr": "gold", "auth_time": 1_800_000_060], true),
      (["acr": "gold", "auth_time": 1_800_000_061], false),
      (["acr": "gold", "auth_time": 1_799_999_990_000], false),
      (["acr": "gold", "auth_time": 1e300], false),
    ] as [([String: JSONValue], Bool)])
  func `a login must have a demanded acr value and be at most max_age old`(
    claims values: [String: JSONValue], isAccepted: Bool
  ) throws {
    let claims = try claims(values)
    func check() throws(SQOAuthError) {
      try claims.requireLogin(
        acrValues: ["platinum", "gold"], maxAge: .seconds(60), at: Self.now)
    }
    guard !isAccepted else { return try check() }
    let error = failure(.insufficientUserAuthentication) { try check() }
    let challenge = try read(AccessRefusal(error))
    #expect(challenge.acrValues == ["platinum", "gold"] && challenge.maxAge == .seconds(60))
  }

  @Test(arguments: [.seconds(Int64.max) * 18, .seconds(Int64.max)] as [Duration])
  func `the challenge for an extreme max_age names a hundred years`(maxAge: Duration) throws {
    let claims = try claims(["auth_time": 1_799_999_990])
    try claims.requireLogin(maxAge: maxAge, at: Self.now)
    let error = failure(.insufficientUserAuthentication) {
      try claims.requireLogin(acrValues: ["gold"], maxAge: maxAge, at: Self.now)
    }
    #expect(try read(AccessRefusal(error)).maxAge == .seconds(100 * 365 * 86_400))
  }

  @Test func `quotes and line breaks in a value add no parameter to the challenge`() throws {
    let challenge = try read(
      AccessRefusal(resourceMetadata: "https://a/\"\\\r\nx: y, Basic realm=\"", scopes: ["a\"b"]))
    #expect(challenge.scope == "ab" && challenge.parameters.count == 2)
  }
}
