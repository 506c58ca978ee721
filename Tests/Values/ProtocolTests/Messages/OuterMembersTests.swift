import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth

/// How a single member is read from a JSON object that the SDK refuses as a whole.
@Suite struct OuterMembersTests {
  private func token(in text: String) -> JSONValue? {
    OuterMembers.values(of: ["refresh_token", "error"], in: Data(text.utf8))?["refresh_token"]
  }

  private static let deep =
    String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
  private static let wide = "[" + Array(repeating: "0", count: 20_000).joined(separator: ",") + "]"

  @Test(
    arguments: [
      #"{"refresh_token":"R"}"#, #" { "a" : 1 , "refresh_token" : "R" , "b" : null } "#,
      #"{"x":\#(deep),"refresh_token":"R"}"#, #"{"refresh_token":"R","x":\#(wide)}"#,
      #"{"a":1,"a":2,"refresh_token":"R"}"#, #"{"refresh_token":"R","refresh_token":"R"}"#,
      #"{"x":{"refresh_token":"inner"},"refresh_token":"R"}"#,
      #"{"x":["]","}","\"","\\"],"refresh_token":"R"}"#, #"{"refresh\u005ftoken":"R"}"#,
      #"{"x":-1.5e+3,"y":true,"refresh_token":"R"}"#, "\u{FEFF}" + #"{"refresh_token":"R"}"#,
    ])
  func `a top-level member is read even if other members are too deep or too large`(text: String) {
    #expect(token(in: text) == "R")
  }

  @Test(
    arguments: [
      #"{"refresh_token":"R","refresh_token":"S"}"#, #"{"refresh_token":"R","refresh_token":1}"#,
      #"{"refresh_token":"R","refresh\u005ftoken":"S"}"#,
      #"{"refresh_token":"R""#, #"{"refresh_token":"R"}x"#, #"{"refresh_token":"R"}{}"#,
      #"[{"refresh_token":"R"}]"#, #"{"x":[1,2,"refresh_token":"R"}"#, #"{"refresh_token":"R"]"#,
      #"{"x":}"refresh_token":"R"}"#, #"{"x":[}],"refresh_token":"R"}"#, #"{,"refresh_token":"R"}"#,
      #"{"refresh_token":"R",}"#, #"{"refresh_token" "R"}"#, #"{refresh_token:"R"}"#,
      #"{"x":"open,"refresh_token":"R"}"#, #"{"x":1 2,"refresh_token":"R"}"#, "", "{", "{}", "R",
      #"{"x":{"refresh_token":"R"}}"#, #"{"x":"\"refresh_token\":\"R\""}"#,
    ])
  func `no member is read from unclear or cut JSON, a list, a text or an inner object`(
    text: String
  ) {
    #expect(token(in: text) == nil)
  }

  @Test(arguments: [
    (#"{"refresh_token":["R"]}"#, JSONValue.array([])), (#"{"refresh_token":{"a":1}}"#, .array([])),
    (#"{"refresh_token":7}"#, .integer(7)), (#"{"refresh_token":null}"#, .null),
  ])
  func `a member that is a number, null, list or object is not read as a text`(
    text: String, value: JSONValue
  ) {
    #expect(token(in: text) == value)
  }

  @Test func `no member is read from UTF-16, and a value with invalid UTF-8 is no text`() throws {
    let text = try #require(#"{"refresh_token":"R"}"#.data(using: .utf16))
    #expect(OuterMembers.values(of: ["refresh_token"], in: text) == nil)
    let broken = Data(#"{"refresh_token":"R"#.utf8) + [0xE9] + Data(#""}"#.utf8)
    #expect(
      OuterMembers.values(of: ["refresh_token"], in: broken)?["refresh_token"] == .array([]))
  }
}
