import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Errors of the token endpoint: RFC 6749, section 5.2, and what servers send instead.
@Suite struct TokenRefusalTests {
  static let codes = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope", "temporarily_unavailable", "slow_down", "x-own",
  ]

  @Test(arguments: codes, [400, 401, 403, 429, 500, 503])
  func `the error keeps the server's code, texts and status`(code: String, status: Int) {
    let error = failure(.init(rawValue: code)) {
      try Answer.read(
        #"{"error":"\#(code)","error_description":"why","error_uri":"https://x/y"}"#,
        status: status)
    }
    #expect(error?.status == status)
    #expect(error?.response?.error.rawValue == code)
    #expect(error?.response?.errorDescription == "why")
    #expect(error?.response?.errorURI == "https://x/y")
  }

  @Test(arguments: codes)
  func `an OAuth error with status 200 is thrown, even if there is a token next to it`(code: String)
  {
    failure(.init(rawValue: code)) { try Answer.read(#"{"error":"\#(code)"}"#) }
    failure(.init(rawValue: code)) {
      try Answer.read(#"{"error":"\#(code)","access_token":"a","token_type":"bearer"}"#)
    }
  }

  @Test(arguments: [
    #"{"error":1}"#, #"{"error":["invalid_grant"]}"#, #"{"error":{"code":"invalid_grant"}}"#,
    #"{"error":true}"#, #"{"error":false}"#,
  ])
  func `a token next to an error member of a wrong type is rejected`(body: String) {
    let mixed = String(body.dropLast()) + #","access_token":"C4N4RY","token_type":"bearer"}"#
    for status in [200, 400] {
      let error = failure { try Answer.read(mixed, status: status) }
      #expect(error?.code != .invalidGrant)
      #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
    }
  }

  @Test(arguments: ["null", #""""#])
  func `an error member without a value counts as missing`(value: String) throws {
    let body = #"{"error":\#(value),"access_token":"a","token_type":"bearer"}"#
    #expect(try Answer.read(body).accessToken == "a")
  }

  @Test(arguments: [
    #"{"error":"invalid_grant","error_description":1}"#,
    #"{"error":"invalid_grant","error_description":["a"],"error_uri":{}}"#,
    #"{"error":"invalid_grant","error_description":null}"#,
    #"{"error":"invalid_grant","more":{"deep":[1]}}"#,
  ])
  func `an error code is used even if its description or URI has a wrong type`(body: String) {
    #expect(
      failure(.invalidGrant) { try Answer.read(body, status: 400) }?.response?.errorDescription
        == nil)
  }

  @Test(arguments: ["text/html", "text/plain", nil])
  func `an error in JSON is read with any content type`(type: String?) {
    failure(.invalidGrant) {
      try Answer.read(#"{"error":"invalid_grant"}"#, status: 400, type: type)
    }
  }

  @Test(arguments: [400, 401, 403])
  func `a rejection without a reason keeps its status and requires a new sign-in`(status: Int) {
    for body in ["", "no", "<html>", "{}", #"{"error":1}"#] {
      let error = failure(.requestRefused) {
        try Answer.read(body, status: status, type: body.isEmpty ? nil : "application/json")
      }
      #expect(error?.status == status)
      #expect(error?.requiresSignIn == true)
    }
  }

  /// The error formats of Facebook, WeChat, Okta, Salesforce, Apigee and many frameworks.
  static let forms = [
    #"{"error":{"message":"the words","type":"OAuthException","code":100}}"#,
    #"{"errcode":40029,"errmsg":"the words"}"#, #"{"errors":[{"message":"the words"}]}"#,
    #"{"errorCode":"E0000021","errorSummary":"the words","errorCauses":[]}"#,
    #"{"message":"the words"}"#, #"{"detail":"the words"}"#, #"{"error_description":"the words"}"#,
    #"{"error":"","error_description":"the words"}"#, #"{"errors":["the words","more"]}"#,
    #"{"title":"Bad Request","detail":"the words","status":400}"#, #"{"Message":"the words"}"#,
    #"{"error":{"errors":[{"detail":"the words"}]}}"#, #"{"errorMessage":"the words"}"#,
    #"{"fault":{"faultstring":"the words","detail":{"errorcode":"x"}}}"#,
    #"[{"message":"the words","errorCode":"INVALID"}]"#, #"{"message":"the\r\nwords"}"#,
  ]

  @Test(arguments: forms, [200, 400, 401, 404, 500, 503])
  func `the error contains the server's description from each known error format`(
    body: String, status: Int
  ) {
    let error = failure { try Answer.read(body, status: status) }
    #expect(error?.response == nil, "no code is read from such a body")
    #expect(error?.status == status)
    #expect(error?.message.hasPrefix("the token") == true)
    #expect(error?.message.contains("the words") == true)
  }

  @Test(arguments: [
    #"{"error":{"code":400}}"#, #"{"token":"C4N4RY"}"#, #"["C4N4RY"]"#, #""C4N4RY""#,
    #"{"data":["C4N4RY"]}"#, #"{"error":{"data":{"x":"C4N4RY"}}}"#,
  ])
  func `the error contains no part of the server's answer except a description`(body: String) {
    for status in [200, 400, 404] {
      let error = failure { try Answer.read(body, status: status) }
      #expect(error?.message.contains("said") == false)
      #expect(error?.message.contains("C4N4RY") == false)
    }
  }

  @Test(arguments: [404, 405, 408, 410, 413, 415, 429, 500, 502, 503, 504, 599])
  func `a failure with a status other than 400, 401 or 403 requires no new sign-in`(status: Int) {
    let error = failure { try Answer.read("<h1>C4N4RY</h1>", status: status, type: "text/html") }
    #expect(error?.status == status)
    #expect(error?.requiresSignIn == false)
    #expect(error?.code != .requestRefused && error?.isCancellation == false)
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
  }

  @Test(arguments: [300, 301, 302, 303, 304, 307, 308])
  func `a redirect is rejected`(status: Int) {
    #expect(
      failure(.redirectRefused) { try Answer.read(TokenBodyTests.good, status: status) }?.status
        == status)
  }

  @Test(arguments: [
    ("https://new.example/token?key=C4N4RY#C4N4RY", "to https://new.example/token,"),
    ("https://u:C4N4RY@new.example/token", "to https://new.example/token,"),
    ("/login?next=C4N4RY", "to /login,"), ("//new.example", "to //new.example,"),
    ("?C4N4RY", "(status 307), but the SDK"),
  ])
  func `the error of a redirect names its target without possible secrets`(
    location: String, words: String
  ) {
    let error = failure(.redirectRefused) {
      try TokenResponse(
        parser: StandardTokenResponseParser(),
        context: .init(receivedAt: Answer.now, requestedScope: nil), request: Answer.request
      ).read(WebResponse(status: 307, headers: ["Location": location]))
    }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("C4N4RY") == false)
  }

  @Test(arguments: Self.codes)
  func `outside a refresh, only invalid_grant of the server's error codes requires a sign-in`(
    code: String
  ) {
    let error = failure { try Answer.read(#"{"error":"\#(code)"}"#, status: 400) }
    #expect(error?.requiresSignIn == (code == "invalid_grant"))
  }

  @Test func `a server's error not_authorized does not require a new sign-in`() {
    let error = failure { try Answer.read(#"{"error":"not_authorized"}"#, status: 400) }
    #expect(error?.requiresSignIn == false)
  }

  @Test func `control characters and direction overrides are removed from all texts`() {
    let nasty = #"a\r\nb\u001b[31mc\u202ed\u0000e\u2028f\u0085g\u007f\u200bh\u2066"#
    let error = failure {
      try Answer.read(
        #"{"error":"x\#(nasty)","error_description":"\#(nasty)","error_uri":"\#(nasty)"}"#,
        status: 400)
    }
    guard let error else { return }
    for text in [
      error.description, error.message, error.code.rawValue, everyText(of: error.code),
      error.response?.errorDescription ?? "", error.response?.errorURI ?? "",
    ] {
      #expect(
        !text.unicodeScalars.contains { isHarmful($0) && $0 != "\n" }, "\(text.debugDescription)")
    }
    #expect(error.response?.errorDescription == "a b[31mcde f gh")
  }

  @Test func `a text is cut at 500 characters`() {
    let long = String(repeating: "\u{FC}", count: 9_999)
    let error = failure {
      try Answer.read(
        #"{"error":"\#(long)","error_description":"\#(long)","error_uri":"\#(long)"}"#, status: 400)
    }
    #expect(error?.response?.errorDescription?.count == 500)
    #expect(error?.response?.errorURI?.count == 500)
    #expect((error?.code.rawValue.count ?? 0) <= 500)
    #expect((error?.description.count ?? 0) < 2_000)
  }

  /// One character may have any number of scalars.
  @Test func `a text with few characters but many bytes is shortened`() {
    let zalgo = "a" + String(repeating: #"\u0301"#, count: 50_000)
    let error = failure {
      try Answer.read(#"{"error":"x","error_description":"\#(zalgo)"}"#, status: 400)
    }
    let bytes = error?.response?.errorDescription?.utf8.count ?? 0
    #expect(bytes > 0 && bytes < 10_000)
  }
}
