import Foundation
import Testing

@testable import SequencingOAuth

@Suite struct JSONNamesTests {
  @Test(arguments: [
    "null", "7", #""a""#, "[]", "{}", #"{"a":1}"#, #"{"a":1,"b":1}"#, #"{"a":{"a":{"a":1}}}"#,
    #"[{"a":1},{"a":1}]"#, #"{"a":["a","a"],"b":"a"}"#, #"{"a":"\",\"a\":"}"#,
    #"{"a":"\\","b":"a"}"#, #"{"a":{"b":1},"b":{"a":1}}"#, #"{"":1," ":1}"#,
    #"{"a":1,"A":1}"#, #"{"\u0061":1,"\u0062":1}"#, #"{"a\"":1,"a":1}"#, #"{"a":[1,"b"],"b":2}"#,
    #"{"a":[[],{"b":1}],"b":[{}]}"#,
  ])
  func `names that occur once in each object are unique`(text: String) {
    #expect(JSONNames.areUnique(in: Data(text.utf8)))
  }

  @Test(arguments: [
    #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"":1,"":2}"#, "{ \"a\" : 1 ,\n\t\"a\" : 2 }",
    #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#, #"{"a\/b":1,"a/b":2}"#,
    #"{"\ud83d\ude00":1,"😀":2}"#, #"{"\u00e9":1,"é":2}"#, #"{"x":{"a":1,"a":1}}"#,
    #"[0,[{"a":1,"a":1}]]"#, #"{"a":{"b":1},"a":1}"#, #"{"a":[],"a":[]}"#,
    #"{"a":"x","b":{"a":"x"},"a":"x"}"#, #"{"a":"\"","a":1}"#, #"{"a":[{"a":1}],"b":{},"b":1}"#,
  ])
  func `a name that occurs twice in an object is found at any depth`(text: String) {
    #expect(!JSONNames.areUnique(in: Data(text.utf8)))
    #expect(!JSONNames.areUnique(in: Data(#"{"outer":[\#(text)]}"#.utf8)))
  }

  /// Swift's strings are equal if they look alike, and the decoder would keep one of the two.
  @Test func `names that differ only in how an accent is written are one`() {
    #expect(!JSONNames.areUnique(in: Data("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8)))
  }

  @Test(arguments: [
    "", ",", "]", "}}}", #","a""#, #"{},"a":1,"b":2"#, #"]},"a""#, #"[,"a","a"]"#, "\u{0}", "{:::",
  ])
  func `a text that is no JSON has no object with a name twice`(text: String) {
    #expect(JSONNames.areUnique(in: Data(text.utf8)))
  }

  @Test(arguments: ["{\"a", "{\"", "\"\\", "{\"a\\\"", #"{"\q":1}"#, #"{"\ud800":1}"#])
  func `a name without an end or with no such escape is refused`(text: String) {
    #expect(!JSONNames.areUnique(in: Data(text.utf8)))
  }

  @Test func `a great many names take one pass`() {
    let names = (0..<50_000).map { #""\u0061\#($0)":0"# }.joined(separator: ",")
    #expect(JSONNames.areUnique(in: Data("{\(names)}".utf8)))
    #expect(!JSONNames.areUnique(in: Data("{\(names),\"a49999\":1}".utf8)))
  }
}
