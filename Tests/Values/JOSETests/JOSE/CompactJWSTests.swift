import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct CompactJWSTests {
  @Test func `the algorithm, the key ID and the type are read from the header`() throws {
    let text = try CompactJWS(
      SecretlySigned.text(header: #"{"alg":"HS256","kid":"k 1","typ":"JWT"}"#, payload: "hello"))
    #expect(text.algorithmName == "HS256" && text.keyID == "k 1" && text.type == "JWT")
    #expect(text.payload == Data("hello".utf8))
    let bare = try CompactJWS(SecretlySigned.text(header: #"{"alg":"HS256"}"#))
    #expect(bare.keyID == nil && bare.type == nil)
  }

  @Test func `a signed text prints without its content`() throws {
    let text = try CompactJWS(SecretlySigned.text(header: #"{"alg":"HS256","kid":"secret-kid"}"#))
    var dumped = ""
    dump(text, to: &dumped)
    #expect("\(text)" == "a signed text" && !dumped.contains("secret-kid"))
  }

  @Test(arguments: [
    "", ".", "..", "...", "e30", "e30.e30", "e30.e30.e30.e30", "e30.e30.e30.", ".e30.e30",
    "a.b.c.d.e.f", "\u{0}", "\u{FEFF}e30.e30.e30",
  ])
  func `a text without three segments or without a header is malformed`(text: String) {
    #expect { try CompactJWS(text) } throws: { Self.isMalformed($0) }
  }

  @Test(arguments: [
    ("eyJhbGciOiJIUzI1NiJ9=", "e30", "AA"), ("eyJhbGciOiJIUzI1NiJ9", "e30=", "AA"),
    ("eyJhbGciOiJIUzI1NiJ9", "e30", "AA=="), ("eyJhbGciOiJIUzI1NiJ9", "e30", "AB"),
    ("eyJhbGciOiJIUzI1NiJ9", "e30", "AAB"), ("eyJhbGciOiJIUzI1NiJ9", "e30", "A"),
    ("eyJhbGciOiJIUzI1NiJ9", "e30", "+/+/"), ("eyJhbGciOiJIUzI1NiJ9", "e3 0", "AA"),
    ("eyJhbGciOiJIUzI1NiJ9", "e30\n", "AA"), (" eyJhbGciOiJIUzI1NiJ9", "e30", "AA"),
    ("eyJhbGciOiJIUzI1NiJ9", "e30", "AA "), ("eyJhbGciOiJIUzI1NiJ9", "é30", "AA"),
  ])
  func `a segment that is not exact Base64url is malformed`(
    header: String, payload: String, signature: String
  ) {
    #expect { try CompactJWS("\(header).\(payload).\(signature)") } throws: {
      Self.isMalformed($0)
    }
  }

  @Test(arguments: [
    "", "null", "[]", #""alg""#, "{", "{}", #"{"alg":null}"#, #"{"alg":256}"#,
    #"{"alg":["HS256"]}"#, #"{"alg":"HS256"}x"#, #"{"alg" "HS256"}"#,
    #"{"alg":"HS256","kid":1}"#, #"{"alg":"HS256","typ":{}}"#, #"{"alg":"HS256","kid":false}"#,
    #"{"alg":"HS256","alg":"HS256"}"#, #"{"alg":"none","\u0061lg":"HS256"}"#,
    #"{"alg":"HS256","x":{"a":1,"a":1}}"#, #"{"alg":"HS256","x":[{"a":1,"b":2,"a":1}]}"#,
  ])
  func `a header that is no object, repeats a name or has a wrong alg, kid or typ is malformed`(
    header: String
  ) throws {
    let text = try SecretlySigned.text(header: header)
    #expect { try CompactJWS(text) } throws: { Self.isMalformed($0) }
  }

  @Test func `a header in another encoding than UTF-8 is malformed`() throws {
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
      let header = try #require(#"{"alg":"HS256"}"#.data(using: encoding))
      let text = try SecretlySigned.text(header: header, payload: Data("{}".utf8))
      #expect { try CompactJWS(text) } throws: { Self.isMalformed($0) }
    }
    let invalid = Data(#"{"alg":"HS256","kid":""#.utf8) + [0xC0, 0x80] + Data(#""}"#.utf8)
    let text = try SecretlySigned.text(header: invalid, payload: Data("{}".utf8))
    #expect { try CompactJWS(text) } throws: { Self.isMalformed($0) }
  }

  @Test(arguments: [
    #"{"alg":"HS256","crit":["exp"],"exp":1}"#, #"{"alg":"HS256","crit":[]}"#,
    #"{"alg":"HS256","crit":null}"#, #"{"crit":["b64"],"alg":"HS256","b64":false}"#,
    #"{"alg":"HS256","b64":true}"#, #"{"alg":"HS256","\u0063rit":["x"]}"#,
  ])
  func `a header with crit or b64 is rejected, whatever its value`(header: String) throws {
    let text = try SecretlySigned.text(header: header)
    #expect(throws: JWSFailure.critical) { try CompactJWS(text) }
  }

  @Test(arguments: [
    "a.b.c.d.e", "....", "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.a.b.c.d",
  ])
  func `an encrypted text is reported as encrypted`(text: String) {
    #expect(throws: JWSFailure.encrypted) { try CompactJWS(text) }
  }

  @Test func `a header with an encryption algorithm is reported as encrypted`() throws {
    let text = try SecretlySigned.text(header: #"{"alg":"HS256","enc":"A256GCM"}"#)
    #expect(throws: JWSFailure.encrypted) { try CompactJWS(text) }
  }

  @Test func `a text may be as long as the limit, but not longer`() throws {
    let frame = try SecretlySigned.text(header: #"{"alg":"HS256"}"#, payload: "").utf8.count
    // A base64url text never has one character more than a multiple of 4, so the longest text may
    // be one character shorter than the limit.
    let payload = String(repeating: "x", count: (CompactJWS.maximumSize - frame) * 3 / 4)
    let longest = try SecretlySigned.text(header: #"{"alg":"HS256"}"#, payload: payload)
    #expect(longest.utf8.count >= CompactJWS.maximumSize - 1)
    try CompactJWS(longest).verify(secret: SecretlySigned.secret, algorithm: .hs256)
    let longer = try SecretlySigned.text(header: #"{"alg":"HS256"}"#, payload: payload + "xx")
    #expect(throws: JWSFailure.tooLong) { try CompactJWS(longer) }
  }

  @Test(arguments: [
    "", "hello", "[]", "null", #"{"iss":"a","iss":"a"}"#, #"{"iss":"a","i\u0073s":"b"}"#,
    #"{"a":{"b":{"c":1,"c":2}}}"#, #"{"iss":"a""#, #"{'iss':'a'}"#, #"{"iss":"a"}{}"#,
    #"{"a":\#(String(repeating: "[", count: 40))\#(String(repeating: "]", count: 40))}"#,
    #"{"a":[\#(String(repeating: "0,", count: 10_000))0]}"#,
  ])
  func `claims that are no JSON object, are too deep or too many, or repeat a name are malformed`(
    payload: String
  ) throws {
    let text = try CompactJWS(
      SecretlySigned.text(header: #"{"alg":"HS256"}"#, payload: payload))
    try text.verify(secret: SecretlySigned.secret, algorithm: .hs256)
    #expect { try text.claims() } throws: { Self.isMalformed($0) }
  }

  /// Returns whether an error is `malformed` with one of the known reasons.
  ///
  /// These reasons are fixed texts, which quote nothing of the JWS.
  private static func isMalformed(_ error: any Error) -> Bool {
    guard case .malformed(let reason) = error as? JWSFailure else { return false }
    return reasons.contains(reason)
  }

  private static let reasons: Set = [
    "it does not have three segments", "a segment has padding or is not Base64url",
    "the header names no algorithm", "the header is no JSON object",
    "the header has two members with the same name", "the payload is no JSON object",
    "the payload has two members with the same name", "\"alg\" is not a string",
    "\"kid\" is not a string", "\"typ\" is not a string",
    "the JSON of the payload is nested too deeply or has too many values",
  ]
}
