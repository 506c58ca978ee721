import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// How a revocation response is judged (RFC 7009, section 2.2).
@Suite struct RevocationResponseTests {
  static func check(
    _ body: String = "", status: Int, headers: HeaderFields = [:], _ provider: Provider? = nil
  ) throws {
    let request = try RevocationRequestTests.all(
      provider ?? RevocationRequestTests.standard, secret: "C4N4RY-secret")[0]
    var response = Answer.http(body, status: status)
    for field in headers { response.head.headers.append(field) }
    try RevocationResponse(request: request, receivedAt: Answer.now).check(response)
  }

  static let logout = Provider.keycloak(
    baseURL: "https://id.example", realm: "r", revokesByLogout: true)

  @Test(arguments: ["", "{}", "ok", "<html>", "null", "\u{0}"], [200, 204])
  func `a standard or Keycloak revocation with status 200 or 204 succeeds with any body or none`(
    body: String, status: Int
  ) throws {
    try Self.check(body, status: status)
    try Self.check(body, status: status, Self.logout)
  }

  @Test(arguments: ["invalid_token", "invalid_grant"], [400, 401])
  func `a token that is no longer valid counts as revoked`(code: String, status: Int) throws {
    try Self.check(#"{"error":"\#(code)"}"#, status: status)
    try Self.check(
      #"{"error":"\#(code)","error_description":"Invalid refresh token"}"#, status: status,
      Self.logout)
  }

  @Test(arguments: [
    (400, SQOAuthError.Code.unsupportedTokenType), (400, .invalidRequest), (401, .invalidClient),
    (400, .unauthorizedClient), (503, .temporarilyUnavailable), (500, .serverError),
    (503, .invalidToken), (500, .invalidGrant), (429, .invalidToken), (429, .invalidGrant),
  ])
  func `a rejection has the server's code, texts and status`(
    status: Int, code: SQOAuthError.Code
  ) {
    let error = failure(code) {
      try Self.check(
        #"{"error":"\#(code)","error_description":"C4N4RY-refresh, C4N4RY-secret: why"}"#,
        status: status)
    }
    #expect(error?.status == status)
    #expect(error?.response?.errorDescription == "[removed], [removed]: why")
    #expect(error?.requiresSignIn == false)
    error.map { ErrorTextTests.expectSilence($0) }
  }

  @Test(arguments: [400, 401, 404, 500])
  func `the error has the server's description without the request's secrets`(status: Int) {
    let error = failure {
      try Self.check(#"{"error":{"message":"no C4N4RY-secret, sorry"}}"#, status: status)
    }
    #expect(error?.message.contains("and said: no [removed], sorry") == true)
    #expect(error?.response == nil)
    error.map { ErrorTextTests.expectSilence($0) }
  }

  /// The error shows a line end as a space.
  ///
  /// The SDK must also recognize a secret that a line end or another invisible character
  /// interrupts.
  @Test(arguments: [#"\n"#, #"\r\n"#, #"\t"#, #"\u2028"#, #"\u200b"#])
  func `a secret that is interrupted by invisible characters is removed from the error`(end: String)
  {
    for start in [#"{"message""#, #"{"error":"x","error_description""#] {
      let error = failure {
        try Self.check(start + #":"no C4N4RY-\#(end)secret, sorry"}"#, status: 400)
      }
      #expect(error?.message.contains("no [removed], sorry") == true)
      error.map { ErrorTextTests.expectSilence($0) }
    }
  }

  @Test(arguments: [408, 421, 425, 429, 503])
  func `the error of a busy server has the delay of its Retry-After`(status: Int) {
    for (text, delay) in [
      ("7", Duration.seconds(7)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("soon", nil),
    ] {
      for body in ["", #"{"error":"temporarily_unavailable"}"#] {
        let error = failure(.temporarilyUnavailable) {
          try Self.check(body, status: status, headers: ["Retry-After": text])
        }
        #expect(error?.retryAfter == delay)
        #expect(error?.status == status)
      }
    }
    #expect(failure { try Self.check(status: status) }?.retryAfter == nil)
  }

  @Test(arguments: [300, 301, 302, 303, 304, 307, 308])
  func `a redirect is rejected`(status: Int) {
    failure(.redirectRefused) {
      try Self.check(status: status, headers: ["Location": "https://evil.example"])
    }
  }

  @Test(arguments: [400, 401, 403, 404, 405, 410, 418, 500, 502, 599])
  func `a failure without an OAuth error keeps the session`(status: Int) {
    for body in ["", "<h1>C4N4RY</h1>", "{}", #"{"error":1}"#, #"{"error":""}"#] {
      let error = failure(status >= 500 ? .serverError : .invalidResponse) {
        try Self.check(body, status: status)
      }
      #expect(error?.status == status)
      #expect(error?.message.contains("secret, key or token") == [401, 403].contains(status))
      #expect(error?.requiresSignIn == false)
      error.map { ErrorTextTests.expectSilence($0) }
    }
  }

  // MARK: Facebook

  @Test(arguments: ["true", #"{"success":true}"#, "", "1"])
  func `Facebook's success response counts as a revocation`(body: String) throws {
    try Self.check(body, status: 200, .facebook)
  }

  @Test(arguments: ["false", #"{"success":false}"#, #"{"error":{"code":190}}"#])
  func `Facebook's failure response with status 200 is an error`(body: String) {
    failure(.invalidResponse) { try Self.check(body, status: 200, .facebook) }
  }

  @Test func `Facebook's error for an expired token counts as a revocation, but no other error`()
    throws
  {
    try Self.check(
      #"{"error":{"message":"Session has expired","type":"OAuthException","code":190}}"#,
      status: 400, .facebook)
    let error = failure(.invalidResponse) {
      try Self.check(
        #"{"error":{"message":"no, C4N4RY-secret","type":"OAuthException","code":200}}"#,
        status: 403,
        headers: ["Retry-After": "9"], .facebook)
    }
    #expect(error?.status == 403)
    #expect(error?.retryAfter == .seconds(9))
    #expect(error?.message.hasSuffix("and said: no, [removed]") == true)
    error.map { ErrorTextTests.expectSilence($0) }
    failure(.invalidResponse) { try Self.check("no", status: 404, .facebook) }
    failure(.temporarilyUnavailable) { try Self.check(status: 429, .facebook) }
    failure(.temporarilyUnavailable) {
      try Self.check(#"{"error":{"code":190}}"#, status: 429, .facebook)
    }
    failure(.serverError) { try Self.check(status: 500, .facebook) }
  }
}
