import Foundation
import SequencingOAuth
import Testing

@Suite struct JSONValueTests {
  static func read(_ json: String) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
  }

  @Test(arguments: [
    ("null", JSONValue.null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
    ("1", .integer(1)), ("-1", .integer(-1)), ("1.5", .number(1.5)), ("1.0", .integer(1)),
    ("9223372036854775807", .integer(.max)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ("1e300", .number(1e300)), ("\"\"", .string("")), ("\"1\"", .string("1")),
    ("\"true\"", .string("true")), ("[]", .array([])), ("{}", .object([:])),
    ("[1,\"a\",null]", .array([.integer(1), .string("a"), .null])),
  ])
  func `each type of JSON value is recognized`(json: String, value: JSONValue) throws {
    #expect(try Self.read(json) == value)
  }

  @Test(arguments: [
    "null", "true", "1", "1.0", "0.1", "-0.0", "1e300", "9223372036854775808", "\"\\u0000\"",
    "[[[]]]", "{\"a\":{\"b\":[1,2.5,false]}}", "4.9e-324",
  ])
  func `a value survives writing and reading`(json: String) throws {
    let value = try Self.read(json)
    let again = try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(value))
    #expect(again == value)
  }
}
