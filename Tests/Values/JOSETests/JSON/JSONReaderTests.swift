import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Which texts are JSON, and how they are read (RFC 8259).
@Suite struct JSONReaderTests {
  private static func read(
    _ text: String, _ rules: JSONRules = .message
  ) throws(JSONFailure) -> JSONValue {
    try JSONReader.value(of: Data(text.utf8), rules)
  }

  private static let strict = JSONRules(isStrict: true)

  // MARK: What is JSON

  @Test(
    arguments: [
      ("null", .null), (" true\n", true), ("\t[false]\r\n", [false]), (#""""#, ""), ("{}", [:]),
      ("[]", []), ("[[],{}]", [[], [:]]), (#"{"":{"a":[null]}}"#, ["": ["a": [.null]]]),
      (#"{ "a" : 1 , "b" : [ 2 , "c" ] }"#, ["a": 1, "b": [2, "c"]]),
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\uD83D\ude00""#, "Aé😀"),
      (#""a\u0000b""#, "a\u{0}b"), ("\"😀\u{7F}\u{2028}\"", "😀\u{7F}\u{2028}"),
    ] as [(String, JSONValue)])
  func `each form of valid JSON is read`(text: String, value: JSONValue) throws {
    #expect(try Self.read(text) == value)
    #expect(try Self.read(text, Self.strict) == value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
  }

  @Test(arguments: [
    ("", 0), (" ", 1), ("nul", 0), ("nulll", 4), ("True", 0), ("1 2", 2), ("{}{}", 2), ("[", 1),
    ("]", 0), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1}", 2), ("{\"a\":1]", 6), ("{1:2}", 1),
    ("{\"a\"}", 4), ("{\"a\" 1}", 5), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{,}", 1),
    ("{\"a\":1", 6),
    ("\"a", 0), (#""\x""#, 1), (#""\u12"#, 1), (#""\u12g4""#, 1), ("'a'", 0), ("01", 0), ("-", 0),
    ("+1", 0), (".5", 0), ("1.", 0), ("1e", 0), ("1e+", 0), ("--1", 0), ("1e999", 0), ("NaN", 0),
    ("Infinity", 0), ("//\n1", 0), ("[1/**/]", 2), ("{a:1}", 1), ("\u{FEFF}", 3), ("[1,,2]", 3),
  ])
  func `invalid JSON is rejected, and the error has the place of the first fault`(
    text: String, place: Int
  ) {
    #expect(throws: JSONFailure.malformed(at: place)) { try Self.read(text) }
    #expect(throws: (any Error).self) { try Self.read(text, Self.strict) }
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("-0.0", 0), ("7", 7), ("-7.00", -7), ("1e3", 1_000), ("1.5E+1", 15),
      ("100e-2", 1), ("0e99999999999999999999", 0), ("0.0001e4", 1),
      ("12345678901234567.0e2", 1_234_567_890_123_456_700),
      // An exponent may begin with any number of zeros.
      ("1e0000001", 10), ("1e-00000001", 0.1), ("1e+00", 1), ("12e0000000000", 12),
      ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
      // A `Double` would round the next two numbers to even numbers.
      ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.0", 9_007_199_254_740_993),
      ("9223372036854775808", .number(0x1p63)), ("-9223372036854775809", .number(-0x1p63)),
      ("0.1", 0.1), ("1e-1", 0.1), ("1e300", 1e300), ("4.9e-324", .number(.leastNonzeroMagnitude)),
      ("1e-999", .number(0)),
      ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890.0),
    ] as [(String, JSONValue)])
  func `a number is read exactly as an integer if it fits and has no fraction, or else as a Double`(
    text: String, value: JSONValue
  ) throws {
    #expect(try Self.read(text) == value)
    #expect(try Self.read("[\(text)]") == [value])
    #expect(try Self.read("{\"a\": \(text)}") == ["a": value])
  }

  @Test func `no digit of a long exponent is ignored`() throws {
    let zeros = String(repeating: "0", count: 150_000)
    #expect(try Self.read("1\(zeros)e-150000") == 1)
    for exponent in ["1500000", "15000000", "15000000000000000000"] {
      #expect(try Self.read("1\(zeros)e-\(exponent)") == .number(0))
    }
    #expect(try Self.read("0.\(zeros)1e150001") == 1)
    #expect(throws: JSONFailure.malformed(at: 0)) { try Self.read("0.\(zeros)1e1500010") }
  }

  // MARK: What may be repaired

  /// An error's body in Latin-1.
  private static let latinBody =
    Data("{\"error\":\"invalid_grant\",\"error_description\":\"expir".utf8) + Data([0xE9])
    + Data("\"}".utf8)

  private static let smallFaults: [(Data, JSONValue)] = [
    (Data("\u{FEFF}{\"a\":1}".utf8), ["a": 1]),
    (latinBody, ["error": "invalid_grant", "error_description": "expir\u{FFFD}"]),
    (Data("\"a\nb\u{1}\"".utf8), "a\nb\u{1}"), (Data(#""\ud800x""#.utf8), "\u{FFFD}x"),
    (Data(#""\udc00\ud800\n""#.utf8), "\u{FFFD}\u{FFFD}\n"),
    (Data(#""\ud800\u0041""#.utf8), "\u{FFFD}A"), (Data(#"{"a":1,"a":2}"#.utf8), ["a": 1]),
  ]

  @Test(arguments: smallFaults)
  func `a small fault is repaired in a server's message, but rejected in strict mode`(
    text: Data, value: JSONValue
  ) throws {
    #expect(try JSONReader.value(of: text) == value)
    #expect(throws: (any Error).self) { try JSONReader.value(of: text, Self.strict) }
  }

  @Test(arguments: [
    #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#, #"{"a":["a","a"],"b":"a"}"#,
    #"{"a":"\",\"a\":"}"#, #"{"":1," ":1}"#, #"{"a":1,"A":1}"#, #"{"\u0061":1,"\u0062":1}"#,
    #"{"a\"":1,"a":1}"#, #"{"a":[[],{"b":1}],"b":[{}]}"#,
  ])
  func `a name may occur once in each object`(text: String) throws {
    _ = try Self.read(text, Self.strict)
  }

  @Test(arguments: [
    #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"":1,"":2}"#, #"{"a":1,"\u0061":2}"#,
    #"{"a\/b":1,"a/b":2}"#, #"{"\ud83d\ude00":1,"😀":2}"#, #"{"x":{"a":1,"a":1}}"#,
    #"{"a":[],"a":[]}"#, #"{"a":[{"a":1}],"b":{},"b":1}"#,
    // In Swift, these two spellings of "é" are equal strings, so one of the two would be lost.
    "{\"\u{E9}\":1,\"e\u{301}\":2}",
  ])
  func `a repeated name in an object is noticed at any depth`(text: String) {
    for text in [text, "[0,{\"o\":\(text)}]"] {
      let error = #expect(throws: JSONFailure.self) { try Self.read(text, Self.strict) }
      guard case .doubleName = error else {
        Issue.record("\(text) is refused for another reason: \(String(describing: error))")
        continue
      }
    }
  }

  /// JSON with more than 30 combining marks in a row, and their place.
  private static let longRuns = [
    marks(31), escaped(marks(31)), "a" + marks(16) + escaped(marks(15)),
  ].flatMap { ["{\"\($0)\":1}", "[{\"a\":[\"\($0)\"]}]"] }

  private static func escaped(_ text: String) -> String {
    text.utf16.map { "\\u0" + String($0, radix: 16) }.joined()
  }

  @Test(arguments: longRuns)
  func `many combining marks in a row are separated in a server's message, and otherwise rejected`(
    text: String
  ) throws {
    let value = try Self.read(text)
    #expect(try Self.read(text, .answer) == value)
    let texts = value.object.map { Array($0.keys) } ?? [value[0]["a"][0].string ?? ""]
    #expect(texts.allSatisfy { $0.isStreamSafe && $0.unicodeScalars.contains("\u{34F}") })
    for rules in [Self.strict, .signed, .header, .keySet, .settings] {
      #expect(throws: JSONFailure.tooManyMarks) { try Self.read(text, rules) }
    }
  }

  @Test(arguments: longRuns)
  func `a text that this program has written keeps all of its combining marks`(text: String) throws
  {
    let expected = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(try Self.read(text, .own) == expected)
    #expect(try Self.read(text, .stored) == expected)
  }

  @Test(arguments: [JSONRules.message, .signed, .header, .keySet, .settings, .answer])
  func `thirty combining marks in a row are kept`(rules: JSONRules) throws {
    #expect(try Self.read("[\"\(marks(30))a\(marks(30))\"]", rules)[0].string?.utf8.count == 121)
  }

  @Test func `two names that differ after the marks are two members`() throws {
    let object = "{\"\(marks(40))a\":1,\"\(marks(40))b\":2}"
    #expect(try Self.read(object).object?.count == 2)
  }

  // MARK: Limits

  @Test func `each limit is the largest value that is accepted`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try Self.read(nested(32))
    #expect(throws: JSONFailure.tooDeep) { try Self.read(nested(33)) }
    let rules = JSONRules(maximumBytes: 9, maximumValues: 4)
    _ = try Self.read("[1,2,3]  ", rules)
    #expect(throws: JSONFailure.tooLong) { try Self.read("[1,2,3]   ", rules) }
    #expect(throws: JSONFailure.tooManyValues) { try Self.read("[1,2,3,4]", rules) }
    // The outermost array has no weight, the inner array has 1, and its two values have 2 each.
    _ = try Self.read("[[1,2]]", JSONRules(maximumWeight: 5))
    #expect(throws: JSONFailure.tooManyValues) {
      try Self.read("[[1,2]]", JSONRules(maximumWeight: 4))
    }
  }

  @Test func `a long text that never closes its arrays, objects or strings is rejected`() {
    for text in ["[", "{\"a\":", "[[],", "\"", "{\"a\":[{"] {
      let long = String(repeating: text, count: 100_000)
      #expect(throws: (any Error).self) { try Self.read(long, .own) }
    }
  }

  @Test(arguments: [1, 2, 7, 1_000])
  func `a text that is read in pieces gives the same value`(size: Int) throws {
    let text = #"{"a":[1,"two",{"b":[null,true,[]]}],"c":{"d":{},"e":-2.5},"f":"\u00e9"} "#
    let whole = try Self.read(text)
    var reader = try JSONReader(Data(text.utf8), .message)
    var value: JSONValue?
    for _ in 0..<20 where value == nil { value = try reader.read(atMost: size) }
    #expect(value == whole)
    #expect(try JSONReader.value(of: Data("xx\(text)".utf8).dropFirst(2)) == whole)
  }
}
