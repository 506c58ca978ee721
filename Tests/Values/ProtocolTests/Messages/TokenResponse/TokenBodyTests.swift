import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Which bodies of a token response are accepted.
@Suite struct TokenBodyTests {
  static let good = #"{"access_token":"C4N4RYTOKEN","token_type":"bearer"}"#

  @Test(arguments: [
    "application/json", "application/json;charset=UTF-8", "application/json; charset=utf-8",
    "APPLICATION/JSON", "application/json ; x=y", "application/vnd.example+json",
  ])
  func `JSON's content types are accepted`(type: String) throws {
    #expect(try Answer.read(Self.good, type: type).accessToken == "C4N4RYTOKEN")
  }

  @Test(arguments: [
    "text/html", "text/html; charset=utf-8", "text/plain", "application/x-www-form-urlencoded",
    "text/javascript", "application/jsonp", "application/json5", "json", "", "application/",
    "text/html, application/json", "application/json, text/html", "xapplication/json",
    "text/html; x=application/json",
  ])
  func `a content type that is not JSON is rejected`(type: String) {
    failure(.invalidResponse) { try Answer.read(Self.good, type: type) }
  }

  @Test func `a missing content type is rejected`() {
    failure(.invalidResponse) { try Answer.read(Self.good, type: nil) }
  }

  @Test(arguments: [
    "", " ", "null", "[]", "\"a\"", "1", "true", "{", "}", "<!DOCTYPE html><title>C4N4RY</title>",
    "{\"access_token\":\"C4N4RY\"", "{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"}}",
    "{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"} x", "access_token=C4N4RY",
    "[{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"}]", "{'access_token':'C4N4RY'}",
    "{\"access_token\":\"C4N4RY\\",
  ])
  func `a body that is not a JSON object is rejected, and the error does not quote it`(body: String)
  {
    let error = failure(.invalidResponse) { try Answer.read(body) }
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
    #expect(error?.status == 200)
  }

  private static func read(
    _ start: String, _ byte: UInt8, _ end: String
  ) throws(SQOAuthError) -> SQToken {
    let body = Data(start.utf8) + Data([byte]) + Data(end.utf8)
    return try TokenResponse(
      parser: StandardTokenResponseParser(),
      context: .init(receivedAt: Answer.now, requestedScope: nil), request: Answer.request
    ).read(WebResponse(status: 200, headers: ["Content-Type": "application/json"], body: body))
  }

  @Test func `invalid UTF-8 in one text does not affect the other members`() throws {
    let token = try Self.read(
      #"{"access_token":"a","token_type":"bearer","user_name":"Andr"#, 0xE9, #""}"#)
    #expect(token.accessToken == "a")
    #expect(token.additionalFields == ["user_name": "Andr\u{FFFD}"])
    failure(.invalidResponse) {
      try Self.read(#"{"token_type":"bearer","access_token":"a"#, 0xE9, #""}"#)
    }
  }

  /// Returns a response whose arrays, together with the object around them, have this depth.
  private static func nested(_ depth: Int) -> String {
    let nest = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
    return #"{"access_token":"a","token_type":"bearer","x":\#(nest)}"#
  }

  @Test(arguments: [33, 600, 10_000, 400_000])
  func `a body with more than 32 levels of nesting is rejected without a crash`(depth: Int) throws {
    #expect(try Answer.read(Self.nested(32)).accessToken == "a")
    let error = failure(.invalidResponse) { try Answer.read(Self.nested(depth)) }
    #expect(error?.message.contains("nested too deeply") == true, "\(error?.message ?? "")")
  }

  @Test func `a body of a megabyte is read`() throws {
    let size = 1_000_000
    let filler = String(repeating: "x", count: size)
    #expect(
      try Answer.read(#"{"access_token":"a","token_type":"bearer","x":"\#(filler)"}"#)
        .additionalFields["x"]?.string?.utf8.count == size)
  }

  @Test func `a body of more than a mebibyte is refused`() {
    let filler = String(repeating: "x", count: 1 << 20)
    failure(.responseTooLarge) {
      try Answer.read(#"{"access_token":"a","token_type":"bearer","x":"\#(filler)"}"#)
    }
  }

  @Test(arguments: [201, 203, 206, 299])
  func `a response with any status of success may have a token`(status: Int) throws {
    #expect(try Answer.read(Self.good, status: status).accessToken == "C4N4RYTOKEN")
  }

  @Test(arguments: [204, 205])
  func `a success without content is rejected`(status: Int) {
    failure(.invalidResponse) { try Answer.read("", status: status) }
  }
}
