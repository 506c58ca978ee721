import Foundation
import TestSupport
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// The JSON of a stored record, which must equal that of `JSONEncoder`.
@Suite struct JSONWriterTests {
  private static let texts = [
    "", "plain", "\"quoted\"", #"C:\folder"#, "a/b", "line\nline\r\n\ttab", "\u{8}\u{C}\u{0}\u{1F}",
    "\u{7F}\u{80}\u{2028}\u{FEFF}\u{FFFF}", "😀 e\u{301} \u{E9}", "{}[],:",
  ]

  private static let numbers: [JSONValue] = [
    0, -1, .integer(.max), .integer(.min), 0.5, .number(-0.0), .number(1e300),
    .number(.leastNonzeroMagnitude),
    .number(1e16), .number(123_456_789.000_000_1), true, false, .null,
  ]

  /// Returns a record in which every member contains the text.
  private static func record(_ text: String, date: Date?, grant: AccountRecord.Grant?)
    -> AccountRecord
  {
    let fields: [String: JSONValue] = [
      text: .string(text), "numbers": .array(numbers), "none": .array([]), "empty": [:],
      "deep": [
        "b": [["a": .string(text)]], "B": 1, "a": 2, "aa": 3, "a_": 4, "é": 5, "e\u{301}x": 6,
      ],
    ]
    let token = SQToken(
      accessToken: text, expirationDate: date, tokenType: text, scope: text, refreshToken: text,
      issueDate: date, additionalFields: fields, nonce: text,
      redirectParameters: [text: text, "b": "a", "a": "b"])
    return AccountRecord(
      id: text, clientID: text, issuer: text, tokenEndpoint: text, grant: grant, session: text,
      token: token, attributes: [text: text, "z": "y"]
    ).refreshed(token, attributes: [text: text], usedAt: date, pending: token)
  }

  private static func encoded(_ record: AccountRecord) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(record)
  }

  @Test(arguments: texts) func `each text is written as JSONEncoder writes it`(text: String) throws
  {
    for date in [nil, Date(timeIntervalSince1970: 1_750_000_000), Date() + 0.1] {
      let record = Self.record(text, date: date, grant: .clientCredentials(scope: text))
      let json = try record.json()
      #expect(
        String(decoding: json, as: UTF8.self)
          == String(decoding: try Self.encoded(record), as: UTF8.self))
    }
  }

  @Test func `missing values of a record are left out`() throws {
    let record = AccountRecord(
      id: "a", clientID: "client", token: SQToken(accessToken: "access"))
    #expect(try record.json() == Self.encoded(record))
  }

  @Test func `a number that JSON cannot express is an error`() {
    let token = SQToken(accessToken: "a", additionalFields: ["n": .number(.infinity)])
    failure(.storeFailed) {
      try AccountRecord(id: "a", clientID: "client", token: token).json()
    }
  }
}
