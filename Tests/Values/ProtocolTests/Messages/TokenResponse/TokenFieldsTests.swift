import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct TokenFieldsTests {
  @Test func `the example of RFC 6749 section 5_1 is read completely`() throws {
    let token = try Answer.read(
      """
      {"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"example","expires_in":3600,
       "refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value"}
      """.replacingOccurrences(of: "\"example\"", with: "\"Bearer\""))
    #expect(token.accessToken == "2YotnFZFEjr1zCsicMWpAA")
    #expect(token.tokenType == "Bearer")
    #expect(token.expirationDate == Answer.now + 3600)
    #expect(token.issueDate == Answer.now)
    #expect(token.refreshToken == "tGzv3JOkF0XG5Qx2TlKWIA")
    #expect(token.scope == "asked")
    #expect(token.additionalFields == ["example_parameter": .string("example_value")])
  }

  @Test func `a missing member is nil`() throws {
    let token = try Answer.read(#"{"access_token":"a","token_type":"bearer"}"#, scope: nil)
    #expect(token.expirationDate == nil)
    #expect(token.refreshToken == nil)
    #expect(token.scope == nil)
    #expect(token.scopes.isEmpty)
    #expect(!token.isExpired(at: .distantFuture))
    #expect(token.additionalFields.isEmpty)
  }

  @Test(arguments: [
    (#""scope":"a b""#, "a b"), (#""scope":"asked""#, "asked"), (#""scope":null"#, "asked"),
    (#""x":1"#, "asked"), (#""scope":"demo,external""#, "demo,external"),
    (#""scope":"wider than asked""#, "wider than asked"), (#""scope":["a","b"]"#, "a b"),
    (#""scope":["a b","c"]"#, "a b c"), (#""scope":[]"#, ""),
  ])
  func `the scope is the server's, or else the requested one`(member: String, scope: String) throws
  {
    let token = try Answer.read(#"{"access_token":"a","token_type":"bearer",\#(member)}"#)
    #expect(token.scope == scope)
  }

  /// The scope of the token is unknown, and must not be taken for the requested scope.
  @Test(arguments: ["{}", "5", "true", #"["asked",1]"#, #"[["asked"]]"#, #"{"asked":true}"#])
  func `an unreadable scope is nil, and its value is kept in additionalFields`(value: String) throws
  {
    let token = try Answer.read(
      #"{"access_token":"a","token_type":"bearer","scope":\#(value)}"#)
    #expect(token.scope == nil && token.scopesMissing(from: "asked") == ["asked"])
    #expect(token.additionalFields["scope"] != nil)
  }

  @Test(arguments: [#""refresh_token":"""#, #""refresh_token":null"#, #""x":1"#])
  func `an empty refresh token counts as missing`(member: String) throws {
    let token = try Answer.read(#"{"access_token":"a","token_type":"bearer",\#(member)}"#)
    #expect(token.refreshToken == nil)
  }

  @Test(arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
  func `the token type Bearer is accepted in any letter case and keeps its spelling`(type: String)
    throws
  {
    #expect(
      try Answer.read(#"{"access_token":"a","token_type":"\#(type)"}"#).tokenType == type)
  }

  @Test(arguments: [
    "DPoP", "mac", "", " bearer", "bearer ", "bearer\\u0000", "bearer\\n", "N_A", "pop",
  ])
  func `a token type that was not requested is rejected`(type: String) {
    failure(.invalidResponse) {
      try Answer.read(#"{"access_token":"a","token_type":"\#(type)"}"#)
    }
  }

  @Test(arguments: [
    "{}", #"{"token_type":"bearer"}"#, #"{"access_token":"a"}"#,
    #"{"access_token":"","token_type":"bearer"}"#, #"{"access_token":null,"token_type":"bearer"}"#,
    #"{"access_token":"a","token_type":null}"#, #"{"access_token":1,"token_type":"bearer"}"#,
    #"{"access_token":["a"],"token_type":"bearer"}"#,
    #"{"access_token":{"a":"b"},"token_type":"bearer"}"#,
    #"{"access_token":true,"token_type":"bearer"}"#, #"{"access_token":"a","token_type":1}"#,
    #"{"access_token":"a","token_type":["bearer"]}"#,
    #"{"Access_Token":"a","Token_Type":"bearer"}"#,
    #"{"data":{"access_token":"a","token_type":"bearer"}}"#,
  ])
  func `a response without a usable token or type is rejected`(body: String) {
    failure(.invalidResponse) { try Answer.read(body) }
  }

  static let spaced = ["a b", " a", "a "]
  static let forbidden = [
    "a\\r\\nX-Evil: 1", "a\\nb", "a\\rb", "a\\u0000b", "\\u0009a", "a\\u007f", "\\u00fc",
    "\\u20ac", "\\ud83d\\ude00", "\\u202ea", "\\ufeffa",
  ]

  private func read(refreshToken text: String) throws(SQOAuthError) -> SQToken {
    try Answer.read(#"{"access_token":"a","token_type":"bearer","refresh_token":"\#(text)"}"#)
  }

  @Test(arguments: forbidden + spaced)
  func `an access token with characters that may split or change a header field is rejected`(
    text: String
  ) {
    failure(.invalidResponse) {
      try Answer.read(#"{"access_token":"\#(text)","token_type":"bearer"}"#)
    }
  }

  @Test(arguments: forbidden)
  func `a refresh token with characters other than printable ASCII is rejected`(text: String) {
    let error = failure(.invalidResponse) { try read(refreshToken: text) }
    #expect(error?.message.contains(#""refresh_token": it has a forbidden"#) == true)
  }

  /// RFC 6749, appendix A.17, allows spaces in a refresh token.
  @Test(arguments: spaced)
  func `a refresh token may have spaces`(text: String) throws {
    #expect(try read(refreshToken: text).refreshToken == text)
  }

  @Test(arguments: ["a%20b", "a+b/c==", "~._-!$&'()*,;:@?#[]{}|\\\\^`<>", "%zz"])
  func `a token stays the same byte for byte`(text: String) throws {
    let token = try Answer.read(#"{"access_token":"\#(text)","token_type":"bearer"}"#)
    #expect(token.accessToken == text.replacingOccurrences(of: "\\\\", with: "\\"))
  }

  @Test(arguments: [
    #""refresh_token":1"#, #""refresh_token":["a"]"#, #""refresh_token":false"#,
  ])
  func `a refresh token that is no text is ignored`(member: String) throws {
    let token = try Answer.read(#"{"access_token":"a","token_type":"bearer",\#(member)}"#)
    #expect(token.accessToken == "a" && token.refreshToken == nil)
  }

  @Test func `additional fields of any type are kept`() throws {
    let token = try Answer.read(
      """
      {"access_token":"a","token_type":"bearer","id_token":"x.y.z","n":1,"f":1.5,"b":true,
       "z":null,"l":[1,"a"],"o":{"k":"v"}}
      """)
    #expect(
      token.additionalFields == [
        "id_token": .string("x.y.z"), "n": .integer(1), "f": .number(1.5), "b": .bool(true),
        "z": .null, "l": .array([.integer(1), .string("a")]), "o": .object(["k": .string("v")]),
      ])
  }

  /// JSON does not say which of two members with one name counts, so the SDK has a fixed rule.
  @Test func `the first of two members with one name is used, but two access tokens are an error`()
    throws
  {
    let body = #"{"access_token":"a","token_type":"bearer","x":1,"x":2}"#
    #expect(try Answer.read(body).additionalFields["x"] == 1)
    let error = failure(.invalidResponse) {
      try Answer.read(#"{"access_token":"a","token_type":"bearer","access_token":"b"}"#)
    }
    #expect(error?.message.contains(#""access_token" twice"#) == true)
  }
}
