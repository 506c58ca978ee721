import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// What the body of a token response must be.
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
  func `any other content type is refused, whatever the body`(type: String) {
    failure(.invalidResponse) { try Answer.read(Self.good, type: type) }
  }

  @Test func `a missing content type is refused`() {
    failure(.invalidResponse) { try Answer.read(Self.good, type: nil) }
  }

  @Test(arguments: [
    "", " ", "null", "[]", "\"a\"", "1", "true", "{", "}", "<!DOCTYPE html><title>C4N4RY</title>",
    "{\"access_token\":\"C4N4RY\"", "{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"}}",
    "{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"} x", "access_token=C4N4RY",
    "[{\"access_token\":\"C4N4RY\",\"token_type\":\"bearer\"}]", "{'access_token':'C4N4RY'}",
    "{\"access_token\":\"C4N4RY\\",
  ])
  func `a body that is no JSON object is refused without quoting it`(body: String) {
    let error = failure(.invalidResponse) { try Answer.read(body) }
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
    #expect(error?.status == 200)
  }

  private static func read(
    _ start: String, _ byte: UInt8, _ end: String
  ) throws(SQOAuthError) -> SQToken {
    let body = Data(start.utf8) + [byte] + Data(end.utf8)
    return try TokenResponse(
      parser: StandardTokenResponseParser(),
      context: .init(receivedAt: Answer.now, requestedScope: nil)
    ).read(HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body))
  }

  @Test func `bytes that are no UTF-8 spoil no more than the text that has them`() throws {
    let token = try Self.read(
      #"{"access_token":"a","token_type":"bearer","user_name":"Andr"#, 0xE9, #""}"#)
    #expect(token.accessToken == "a")
    #expect(token.additionalFields == ["user_name": "Andr\u{FFFD}"])
    failure(.invalidResponse) {
      try Self.read(#"{"token_type":"bearer","access_token":"a"#, 0xE9, #""}"#)
    }
  }

  @Test(arguments: [600, 10_000, 400_000])
  func `deep nesting ends in an answer and not in a crash`(depth: Int) {
    let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let body = #"{"access_token":"a","token_type":"bearer","x":\#(nest)}"#
    do throws(SQOAuthError) {
      #expect(try Answer.read(body).accessToken == "a")
    } catch {
      #expect(error.code == .invalidResponse)
    }
  }

  @Test func `a body of a megabyte is read`() throws {
    let filler = String(repeating: "x", count: 1 << 20)
    #expect(
      try Answer.read(#"{"access_token":"a","token_type":"bearer","x":"\#(filler)"}"#)
        .additionalFields["x"]?.string?.utf8.count == 1 << 20)
  }

  @Test(arguments: [201, 203, 206, 299])
  func `any status of success may carry a token`(status: Int) throws {
    #expect(try Answer.read(Self.good, status: status).accessToken == "C4N4RYTOKEN")
  }

  @Test(arguments: [204, 205])
  func `success without content is no token`(status: Int) {
    failure(.invalidResponse) { try Answer.read("", status: status) }
  }
}
