import Foundation
import SQBasics
import SequencingOAuth
import Testing

@Suite struct JSONAccessTests {
  private static let json: JSONValue = [
    "items": [["title": "A", "size": 3], ["title": .null], "last"],
    "open": true, "ratio": 0.5, "count": 3.0, "huge": 1e300, "none": .null, "empty": [:],
  ]

  @Test func `chained subscripts return a value at any depth`() {
    #expect(Self.json["items"][0]["title"].string == "A")
    #expect(Self.json["items"]?[0]?["title"]?.string == "A")
    #expect(Self.json["items"][0]["size"].integer == 3)
    #expect(Self.json["items"].array?.map(\.string) == [nil, nil, "last"])
    #expect(Self.json["items"][0].object == ["title": "A", "size": 3])
    #expect(Self.json["open"].bool == true)
    #expect(Self.json["ratio"].number == 0.5)
  }

  @Test(arguments: [
    json["absent"], json["absent"]["title"], json["items"]["title"], json["open"][0],
    json["items"][3], json["items"][-1], json["items"][.min], json["items"][.max],
    json["items"][0]["title"]["more"][0], json["empty"]["a"], json["none"]["a"], json["none"][0],
    json[0],
  ])
  func `subscripts and typed properties of a missing value are nil`(missing: JSONValue?) {
    #expect(missing == nil)
    #expect(missing["a"] == nil && missing[0] == nil)
    #expect(missing.string == nil && missing.bool == nil && missing.integer == nil)
    #expect(missing.number == nil && missing.array == nil && missing.object == nil)
  }

  @Test func `a JSON null is distinguished from a missing value`() {
    #expect(Self.json["none"] == .null)
    #expect(Self.json["items"][1]["title"] == .null)
    #expect(Self.json["none"].string == nil)
  }

  @Test(
    arguments: [
      (JSONValue.null, 0), (true, 1), (7, 2), (0.5, 3), ("7", 4), (["7"], 5), (["a": "7"], 6),
    ] as [(JSONValue, Int)])
  func `a value has one type only, but an integer is also a number`(
    value: JSONValue, kind: Int
  ) {
    #expect((value.bool != nil) == (kind == 1))
    #expect((value.integer != nil) == (kind == 2))
    #expect((value.number != nil) == (kind == 2 || kind == 3))
    #expect((value.string != nil) == (kind == 4))
    #expect((value.array != nil) == (kind == 5))
    #expect((value.object != nil) == (kind == 6))
  }

  @Test(
    arguments: [
      (JSONValue.integer(.max), Int.max, 9_223_372_036_854_775_808),
      (.integer(.min), .min, -0x1p63),
      (.number(2), 2, 2), (.number(1e300), nil, 1e300), (.number(.nan), nil, nil),
      (.number(-.infinity), nil, -Double.infinity), (.number(0.1), nil, 0.1),
    ] as [(JSONValue, Int?, Double?)])
  func `a number with a fraction or out of range is not an integer`(
    value: JSONValue, integer: Int?, number: Double?
  ) {
    #expect(value.integer == integer)
    #expect(value.number == number || number == nil && value.number?.isNaN == true)
  }

  private static let literals: [(String, JSONValue)] = [
    (#"{"a":[1,-2,2.5,1.0,1e300]}"#, ["a": [1, -2, 2.5, 1.0, 1e300]]),
    (#"{"b":{"c":null,"d":false}}"#, ["b": ["c": .null, "d": false]]),
    (#""text 42""#, "text \(6 * 7)"), ("[]", []), ("{}", [:]), ("0", 0), ("0", -0.0),
  ]

  @Test(arguments: literals)
  func `a Swift literal equals the value that is read from the same JSON text`(
    json: String, literal: JSONValue
  )
    throws
  {
    #expect(try JSONValueTests.read(json) == literal)
  }

  @Test func `if a literal repeats a member's name, the later member is used`() {
    let value: JSONValue = ["a": 1, "b": 2, "a": "later"]
    #expect(value == ["b": 2, "a": "later"])
  }
}
