import Foundation
import Testing

@testable import SequencingOAuth

/// The claims of a signed response to a sign-in, with a valid signature.
@Suite struct SignedResponseSpellingTests: WireReader {
  static let title = "Signed responses of sign-ins: claims"
  static let specification = "JARM, sections 2.1 and 2.4"

  static let base = [
    "iss": #""https://id.example""#, "aud": #""app""#, "exp": "1750000120",
    "code": #""c""#, "state": #""s""#,
  ]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let claims = try SignedText.authorizationResponse.explaining {
      () throws(JWSFailure) in try JOSEObject.members(of: message.body, as: "payload")
    }
    try SignedAuthorizationResponse.check(
      claims, issuer: "https://id.example", clientID: "app",
      at: Date(timeIntervalSince1970: 1_750_000_000), tolerance: .seconds(60))
    let parameters = SignedAuthorizationResponse.parameters(in: claims)
    func value(_ name: String) -> String { parameters.value(name) ?? "-" }
    return "code \(value("code")); state \(value("state")); error \(value("error"));"
  }

  private static let required = ["iss", "aud", "exp"]

  static let rows: [SpellingRow] = [
    .read(.null, "`code`, `state`, `error`", "-;", each(["null"], of: ["code", "state"])),
    .refused(
      .null, "`iss`, `aud`, `exp`", .invalidAuthorizationResponse, each(["null"], of: required)),
    .refused(
      .empty, "`iss`, `aud`", .invalidAuthorizationResponse,
      each([#""""#], of: ["iss", "aud"]) + [with(["aud": "[]"])]),
    .elsewhere(
      .empty, "`code`, `state`, `error`", "x", "as in a redirect", in: "SignedMessageTests"),
    .refused(
      .kind, "`iss`, `aud`, `exp`, `nbf`", .invalidAuthorizationResponse,
      each(["true"], of: required + ["nbf"])),
    .read(
      .kind, "`code`, `state`", "-;", note: "counts as missing, so the redirect is not an answer",
      each(["1", "{}"], of: ["code", "state"])),
    .read(.list, "`aud` as a list of one", "code c;", [with(["aud": #"["app"]"#])]),
    .refused(
      .list, "`aud` with a second client", .invalidAuthorizationResponse,
      [with(["aud": #"["app","other"]"#])]),
    .refused(
      .encoding, "ISO-8859-1, UTF-16, a byte order mark", .invalidAuthorizationResponse,
      saying: ["no JSON object"],
      [
        with(["x": #""caf?""#]).replacing("?", by: [0xE9]), with().encoded(.utf16),
        with().wrapped([0xEF, 0xBB, 0xBF]),
      ]),
    .impossible(.contentType, "the text comes in a redirect"),
    .read(
      .more, "unknown claims", "code c; state s;",
      [with(adding: #""x":[{"y":{}}],"session_state":"t""#)]),
    .refused(
      .more, "a name twice, at any depth", .invalidAuthorizationResponse,
      saying: ["with the same name"],
      [with(adding: #""code":"other""#), with(adding: #""x":1,"x":1"#)]),
    .refused(
      .letterCase, "letters of `iss`, `aud`", .invalidAuthorizationResponse,
      [with(["iss": #""https://ID.example""#]), with(["aud": #""App""#])]),
    .read(
      .unneeded, "`iat`, `jti`", "code c;", each(["-1", "[]", #""""#], of: ["iat", "jti"])),
    .read(
      .number, "`exp` and `nbf` as `….0`, `nbf` within the tolerance", "code c;",
      [
        with(["exp": "1750000120.0"]), with(["nbf": "1749999990.0"]), with(["nbf": "1750000060"]),
      ]),
    .refused(
      .number, "`exp`: negative, in milliseconds, past", .invalidAuthorizationResponse,
      each(["-1", "1750000000000", "1749999939"], of: ["exp"])),
    .refused(
      .number, "`nbf`: negative, in milliseconds, in the future", .invalidAuthorizationResponse,
      each(["-1", "1750000000000", "1750000061"], of: ["nbf"])),
    .refused(
      .blanks, "around `iss`, `aud`", .invalidAuthorizationResponse,
      [with(["iss": #""https://id.example ""#]), with(["aud": #"" app""#])]),
    .read(.missing, "`code`, `state`", "-;", without(["code", "state"])),
    .refused(.missing, "`iss`, `aud`, `exp`", .invalidAuthorizationResponse, without(required)),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
