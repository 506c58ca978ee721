import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The header of a text that an issuer signs.
@Suite struct SignedHeaderSpellingTests: WireReader {
  static let title = "Signed texts: headers"
  static let specification = "RFC 7515, sections 4 and 5.2; RFC 8725, section 3.11"

  private static let secret = String(repeating: "C4N4RY", count: 6)

  static let base = ["alg": #""HS256""#, "kid": #""k""#, "typ": #""JWT""#]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let text = try SignedText.logoutToken.read(
      SecretlySigned.text(Data("{}".utf8), by: secret, header: message.text))
    try SignedText.logoutToken.explaining { () throws(JWSFailure) in
      try text.verify(secret: Data(secret.utf8), algorithm: .hs256)
    }
    return "kid \(text.keyID ?? "-"); typ \(text.type ?? "-");"
  }

  static let rows: [SpellingRow] = [
    .missing(.null, "`kid`, `typ`", each(["null"], of: ["kid", "typ"])),
    .refused(
      .null, "`alg`", .logoutTokenInvalid, saying: ["names no algorithm"], [with(["alg": "null"])]),
    .elsewhere(.null, "`crit`, `b64`", "x", "refused", in: "CompactJWSTests"),
    .read(
      .empty, "`typ`", "typ ;", note: "read; a text that must have a type has another one",
      [with(["typ": #""""#])]),
    .elsewhere(
      .empty, "`kid`", "x", "refused, unless a key has this name", in: "KeySelectionTests"),
    .refused(.empty, "`alg`", .logoutTokenInvalid, [with(["alg": #""""#])]),
    .refused(
      .kind, "`alg`, `kid`, `typ`", .logoutTokenInvalid, saying: ["is not a string"],
      each(["1", "true", "{}"], of: ["alg", "kid", "typ"])),
    .refused(
      .list, "`alg`, `kid`, `typ`", .logoutTokenInvalid, saying: ["is not a string"],
      each([#"["HS256"]"#], of: ["alg", "kid", "typ"])),
    .elsewhere(
      .encoding, "UTF-16, a byte order mark, invalid UTF-8, Base64 with padding", "x", "refused",
      in: "CompactJWSTests"),
    .refused(
      .encoding, "more than 30 combining marks in a row", .logoutTokenInvalid,
      saying: ["30 combining marks"],
      each(["\"\(marks(31))\""], of: ["alg", "kid", "typ"]) + [with(adding: "\"\(marks(31))\":1")]),
    .impossible(.contentType, "a header has no content type; `typ` is a member"),
    .read(
      .more, "`jku`, `jwk`, `x5c`, `x5u`, `cty` and unknown members", "kid k;",
      note: "never used",
      [with(adding: #""jku":"http://evil","jwk":{"kty":"oct"},"x5c":[],"x":{"y":[]}"#)]),
    .refused(
      .more, "more than a hundred values, or 16 KiB", .logoutTokenInvalid,
      saying: ["is malformed: the "],
      [
        with(adding: #""x":[\#(String(repeating: "1,", count: 100))1]"#),
        with(adding: #""x":"\#(String(repeating: "x", count: 16 << 10))""#),
      ]),
    .elsewhere(.more, "a name twice", "x", "refused", in: "CompactJWSTests"),
    .refused(
      .letterCase, "`alg` in lower case", .logoutTokenInvalid, saying: ["the SDK does not know"],
      [with(["alg": #""hs256""#])]),
    .elsewhere(
      .letterCase, "`typ` in any letter case, with and without `application/`", "r", "read",
      in: "SignedHeaderSpellingTests"),
    .read(
      .unneeded, "`jku`, `x5t`, `cty`", "kid k;",
      each(["null", "-1", "[]", #""""#], of: ["jku", "x5t", "cty"])),
    .impossible(.number, "a header has no numbers"),
    .read(.blanks, "in the JSON", "kid k;", [with().wrapped(Array("\n ".utf8), Array(" ".utf8))]),
    .refused(.blanks, "around `alg`", .logoutTokenInvalid, [with(["alg": #""HS256 ""#])]),
    .elsewhere(.blanks, "around the text or a segment", "x", "refused", in: "CompactJWSTests"),
    .read(.missing, "`kid`, `typ`", "kid", without(["kid", "typ"])),
    .refused(
      .missing, "`alg`", .logoutTokenInvalid, saying: ["names no algorithm"], without(["alg"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }

  @Test(arguments: ["at+jwt", "AT+JWT", "application/at+jwt", "Application/At+Jwt"])
  func `typ matches in any letter case, with or without the prefix application`(type: String) {
    #expect(SignedText.accessToken(isTyped: true).allows(type: type))
    #expect(!SignedText.introspection.allows(type: type))
    #expect(!SignedText.accessToken(isTyped: true).allows(type: " \(type)"))
  }
}
