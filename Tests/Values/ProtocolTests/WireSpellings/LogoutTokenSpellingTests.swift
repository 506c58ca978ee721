import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// The claims of a logout token with a valid signature.
@Suite struct LogoutTokenSpellingTests: WireReader {
  static let title = "Logout tokens: claims"
  static let specification = "OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6"

  static let base = [
    "iss": #""https://id.example""#, "aud": #""app""#, "iat": "1750000000", "exp": "1750000120",
    "jti": #""j""#, "sub": #""alice""#, "sid": #""s""#,
    "events": #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#,
  ]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let members = try SignedText.logoutToken.explaining {
      () throws(JWSFailure) in try JOSEObject.members(of: message.body, as: "payload")
    }
    let token = try LogoutToken(
      members, issuer: "https://id.example", clientID: "app", clockTolerance: .seconds(60),
      now: Date(timeIntervalSince1970: 1_750_000_000))
    return "sub \(token.subject ?? "-"); sid \(token.sessionID ?? "-"); "
      + "exp \(Int(token.expirationDate.timeIntervalSince1970))"
  }

  private static let optional = ["sub", "sid", "exp"]
  private static let required = ["iss", "aud", "iat", "jti", "events"]

  private static func event(_ value: String) -> WireMessage {
    with(["events": #"{"http://schemas.openid.net/event/backchannel-logout":\#(value)}"#])
  }

  static let rows: [SpellingRow] = [
    .missing(.null, "`sub`, `sid`, `exp`, `nonce`", each(["null"], of: optional + ["nonce"])),
    .refused(
      .null, "`iss`, `aud`, `iat`, `jti`, `events`", .logoutTokenInvalid,
      each(["null"], of: required) + [event("null")]),
    .missing(.empty, "`sub`, `sid`", each([#""""#], of: ["sub", "sid"])),
    .refused(
      .empty, "both of them; `iss`, `aud`, `jti`, `events`", .logoutTokenInvalid,
      each([#""""#], of: ["iss", "aud", "jti", "events"])
        + [with(["sub": #""""#, "sid": #""""#]), with(["aud": "[]"]), with(["events": "{}"])]),
    .refused(
      .kind, "any claim that the SDK reads", .logoutTokenInvalid,
      each(["true"], of: optional + required) + [event(#""x""#)]),
    .read(.list, "`aud` as a list", "sub alice;", [with(["aud": #"["app","other"]"#])]),
    .refused(
      .list, "`events` as a list; `sub`, `sid` as lists", .logoutTokenInvalid,
      [with(["events": #"["http://schemas.openid.net/event/backchannel-logout"]"#])]
        + each([#"["x"]"#], of: ["sub", "sid"])),
    .refused(
      .encoding, "ISO-8859-1, UTF-16, a byte order mark", .logoutTokenInvalid,
      saying: ["no JSON object"],
      [
        with(["x": #""caf?""#]).replacing("?", by: [0xE9]), with().encoded(.utf16),
        with().wrapped([0xEF, 0xBB, 0xBF]),
      ]),
    .impossible(.contentType, "the app gives the text of the token"),
    .read(
      .more, "unknown claims and events", "sub alice;",
      [with(adding: #""x":[{"y":{}}],"trace_id":"t""#), event(#"{"x":1}"#)]),
    .refused(
      .more, "`nonce`", .logoutTokenInvalid, saying: ["has a nonce"],
      each([#""n""#, #""""#, "5"], of: ["nonce"])),
    .refused(
      .more, "a name twice, at any depth", .logoutTokenInvalid, saying: ["with the same name"],
      [with(adding: #""sub":"bob""#), with(adding: #""x":1,"x":1"#)]),
    .refused(
      .letterCase, "letters of `iss`, `aud`, the event", .logoutTokenInvalid,
      [
        with(["iss": #""https://ID.example""#]), with(["aud": #""App""#]),
        WireMessage(with().text.replacingOccurrences(of: "backchannel", with: "BackChannel")),
      ]),
    .read(
      .unneeded, "any further claim", "sub alice;",
      each(["-1", "[]", #""""#], of: ["toe", "txn", "name", "auth_time"])),
    .read(
      .number, "`exp`, `iat` as `….0`", "sub alice;",
      [with(["exp": "1750000120.0", "iat": "1750000000.0"])]),
    .refused(
      .number, "`exp`, `iat`: negative, in milliseconds", .logoutTokenInvalid,
      saying: ["is not a time in seconds"], each(["-1", "1750000000000"], of: ["exp", "iat"])),
    .refused(
      .blanks, "around `iss`, `aud`", .logoutTokenInvalid,
      [with(["iss": #""https://id.example ""#]), with(["aud": #"" app""#])]),
    .read(.missing, "`sub` or `sid`", "exp 1750000120", without(["sub", "sid"])),
    .read(
      .missing, "`exp`", "exp 1750000120", note: "the token is valid for two minutes",
      without(["exp"])),
    .refused(
      .missing, "both of `sub` and `sid`; the others", .logoutTokenInvalid,
      without(required) + [with(["sub": "null", "sid": "null"])]),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
