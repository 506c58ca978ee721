import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// Tests that stored values are read as `JSONDecoder` reads them.
@Suite struct StoredDecoderTests {
  private static let token: [String: JSONValue] = [
    "access_token": "access", "token_type": "Bearer", "additional_fields": ["a": [1, 2.5, .null]],
    "expiration_date": 771_696_400, "issue_date": 771_692_800.25, "scope": "demo é",
  ]
  private static let record: [String: JSONValue] = [
    "id": "alice", "client_id": "client", "issuer": "https://id.example", "session": "s",
    "generation": 3, "reuses_refresh_token": true, "token": .object(token),
    "attributes": ["name": "Alice"], "used_at": 771_692_900,
    "grant": [
      "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
      "assertion": ["lifetime": 60, "sub": "x", "claims": ["a": ["b": true]]],
    ],
  ]

  private static func json(_ members: [String: JSONValue]) throws -> Data {
    try JSONEncoder().encode(members)
  }

  @Test func `a record is read as JSONDecoder reads it`() throws {
    let json = try Self.json(Self.record)
    let record = try #require(try StoredDecoder.value(AccountRecord.self, from: json))
    #expect(record == (try JSONDecoder().decode(AccountRecord.self, from: json)))
    #expect(record.token.scope == "demo é" && record.attributes == ["name": "Alice"])
    #expect(record.generation == 3 && record.grant?.assertion?.subject == "x")
    #expect(try StoredDecoder.value(AccountRecord.self, from: try record.json()) == record)
  }

  /// Members that change the record, each with its new value; `nil` removes the member.
  private static let changes: [(String, JSONValue?)] = [
    ("id", nil), ("id", .null), ("id", 1), ("client_id", ["x"]), ("issuer", true),
    ("issuer", .null), ("session", nil), ("generation", "3"), ("generation", 2.5),
    ("generation", 1e300), ("generation", .null), ("generation", -1), ("reuses_refresh_token", 1),
    ("reuses_refresh_token", "true"), ("token", nil), ("token", "x"), ("token", []),
    ("attributes", ["name": 1]), ("attributes", []), ("attributes", .null), ("used_at", "now"),
    ("used_at", 1.5), ("grant", ["grant_type": 1]), ("grant", [:]), ("grant", .null),
    ("unknown", ["any": "thing"]), ("unknown", .null), ("bound_token", .object(token)),
  ]

  @Test(arguments: changes)
  func `a changed record is read or rejected exactly as by JSONDecoder`(
    name: String, value: JSONValue?
  ) throws {
    var members = Self.record
    members[name] = value
    let json = try Self.json(members)
    let expected = try? JSONDecoder().decode(AccountRecord.self, from: json)
    #expect(try StoredDecoder.value(AccountRecord.self, from: json) == expected)
  }

  /// The next refresh adds 1 to the number.
  @Test(arguments: [-1, .max, 1 << 53])
  func `a record with an impossible number of refreshes decodes to nil`(count: Int64) throws {
    let json = try Self.json(Self.record.merging(["generation": .integer(count)]) { $1 })
    #expect(try StoredDecoder.value(AccountRecord.self, from: json) == nil)
  }

  @Test func `members of a later version are kept, in both ways to write a record`() throws {
    let later: [String: JSONValue] = ["later": ["a": [1, .null, 2.5]], "z": "é"]
    // A database in clear adds a digest to the record, which is no member of it.
    let json = try Self.json(Self.record.merging(later) { $1 }.merging(["sha256": "x"]) { $1 })
    let record = try #require(try StoredDecoder.value(AccountRecord.self, from: json))
    let changed = record.refreshed(SQToken(accessToken: "next"), attributes: [:])
    for json in [try changed.json(), try JSONEncoder().encode(changed)] {
      let members = try JSONDecoder().decode([String: JSONValue].self, from: json)
      #expect(members.filter { later[$0.key] != nil } == later)
      #expect(members["sha256"] == nil && members["token"]?["access_token"] == "next")
      #expect(try StoredDecoder.value(AccountRecord.self, from: json) == changed)
    }
  }

  @Test func `members of a later version inside a part of a record stay until the part changes`()
    throws
  {
    let key: JSONValue = ["alg": "ES256", "jkt": "x", "later": 1]
    let grant: JSONValue = ["grant_type": "client_credentials", "later": 2]
    let token = JSONValue.object(Self.token.merging(["later": ["a": .null]]) { $1 })
    let json = try Self.json(
      Self.record.merging(["grant": grant, "proof_key": key, "bound_token": token]) { $1 })
    let record = try #require(try StoredDecoder.value(AccountRecord.self, from: json))
    let next = SQToken(accessToken: "next").bound(to: record.proofKey)
    let refreshed = record.refreshed(next, attributes: [:])
    let renewed = record.refreshed(
      record.token, by: .clientCredentials(scope: "x"), attributes: [:])
    for (changed, later) in [
      (record.with(attributes: ["name": "Bob"]), [1, 2, ["a": .null]]),
      (refreshed, [1, 2, nil]), (renewed, [1, nil, ["a": .null]]),
    ] as [(AccountRecord, [JSONValue?])] {
      for json in [try changed.json(), try JSONEncoder().encode(changed)] {
        let members = try JSONDecoder().decode([String: JSONValue].self, from: json)
        let parts = ["proof_key", "grant", "bound_token"].map { members[$0]?.object ?? [:] }
        #expect(parts.map { $0["later"] } == later)
        #expect(parts.allSatisfy { !$0.isEmpty })
        #expect(try StoredDecoder.value(AccountRecord.self, from: json) == changed)
      }
    }
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}x", #"{"a":1}"#, #"{"id":"a","id":"a"}"#, "\u{FEFF}{}",
    String(repeating: "[", count: 600),
  ])
  func `a text that is not a record decodes to nil`(text: String) throws {
    #expect(try StoredDecoder.value(AccountRecord.self, from: Data(text.utf8)) == nil)
  }

  @Test func `a record that is not UTF-8 decodes to nil`() throws {
    var json = try Self.json(Self.record)
    let place = try #require(json.range(of: Data("alice".utf8))?.lowerBound)
    json[place] = 0xFF
    #expect(try StoredDecoder.value(AccountRecord.self, from: json) == nil)
  }

  /// A type with values that no stored value of the SDK has.
  private struct Various: Codable, Equatable {
    var small: Int8
    var large: UInt64
    var list: [Int]
    var nested: [String: [Bool?]]
    var single: JSONValue
    var method: ClientAuthentication
  }

  @Test
  func `integers, lists and nested values are read, but a Float or too large an integer gives nil`()
    throws
  {
    let various = Various(
      small: -5, large: 7, list: [1, 2, 3], nested: ["a": [true, nil]], single: ["x": 1.5],
      method: .post)
    let json = try JSONEncoder().encode(various)
    #expect(try StoredDecoder.value(Various.self, from: json) == various)
    let tooLarge = Data(String(decoding: json, as: UTF8.self).replacing("-5", with: "300").utf8)
    #expect(try StoredDecoder.value(Various.self, from: tooLarge) == nil)
    #expect(try StoredDecoder.value(Float.self, from: Data("1.5".utf8)) == nil)
  }
}
