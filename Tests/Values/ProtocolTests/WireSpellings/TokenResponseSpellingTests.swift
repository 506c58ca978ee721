import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Successful token responses of any grant.
@Suite struct TokenResponseSpellingTests: WireReader {
  static let title = "Token responses of all grants"
  static let specification = "RFC 6749, sections 3.3, 5.1 and 7.1; RFC 8693, section 2.2.1"

  static let base = [
    "access_token": #""C4N4RY-a""#, "token_type": #""Bearer""#, "expires_in": "3600",
    "refresh_token": #""C4N4RY-r""#, "scope": #""a b""#, "id_token": #""C4N4RY-i""#,
    "refresh_token_timeout": "86400", "authorization_expires_in": "864000",
  ]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let token = try TokenResponse(
      parser: StandardTokenResponseParser(),
      context: .init(receivedAt: Answer.now, requestedScope: "asked"),
      request: Answer.request
    ).read(message.response)
    let lifetime = token.expirationDate.map { "\(Int($0.timeIntervalSince(Answer.now)))" }
    let ends = [token.refreshTokenExpirationDate, token.authorizationExpirationDate]
      .map { $0.map { "\(Int($0.timeIntervalSince(Answer.now)))" } ?? "-" }
    return "access \(token.accessToken); type \(token.tokenType); lifetime \(lifetime ?? "-"); "
      + "refresh \(token.refreshToken ?? "-"); scope \(token.scope ?? "-"); "
      + "ID token \(token.idTokenText ?? "-"); refresh ends \(ends[0]); grant ends \(ends[1]);"
  }

  private static let optional = ["expires_in", "refresh_token", "scope", "id_token"]

  private static let ends = ["refresh_token_timeout", "authorization_expires_in"]
  private static let endNames = "`refresh_token_timeout`, `authorization_expires_in`"

  static let rows: [SpellingRow] = [
    .missing(.null, endNames, each(["null"], of: ends)),
    .missing(.empty, endNames, each([#""""#], of: ends)),
    .read(.kind, endNames + " as a text of digits", "ends 60;", each([#""60""#], of: ends)),
    .missing(.kind, endNames, each(["true", "{}", #""soon""#], of: ends)),
    .missing(.list, endNames, each([#"["60"]"#], of: ends)),
    .read(.number, endNames + ": `0`", "ends -;", note: "no end", each(["0"], of: ends)),
    .missing(.number, endNames + ": negative", each(["-1"], of: ends)),
    .missing(.blanks, "around " + endNames, each([#"" 60""#], of: ends)),
    .missing(.missing, endNames, saying: "ends -;", without(ends)),
    .missing(
      .null, "`expires_in`, `refresh_token`, `scope`, `id_token`, `error`",
      each(["null"], of: optional + ["error"])),
    .refused(
      .null, "`access_token`, `token_type`", .invalidResponse, saying: ["no usable"],
      each(["null"], of: ["access_token", "token_type"])),
    .missing(
      .empty, "`refresh_token`, `id_token`, `error`",
      each([#""""#], of: ["refresh_token", "id_token", "error"])),
    .read(
      .empty, "`scope`, as a text or a list", "scope ;", note: "read as no scope",
      each([#""""#, "[]"], of: ["scope"])),
    .refused(
      .empty, "`access_token`", .invalidResponse, saying: ["\"access_token\": it is empty"],
      [with(["access_token": #""""#])]),
    .refused(
      .empty, "`token_type`, `expires_in`", .invalidResponse,
      each([#""""#], of: ["token_type", "expires_in"])),
    .read(
      .kind, "`expires_in` as a text of digits", "lifetime 3600;",
      [with(["expires_in": #""3600""#])]),
    .missing(
      .kind, "`refresh_token`, `id_token`",
      each(["5", "true", "{}"], of: ["refresh_token", "id_token"])),
    .read(
      .kind, "`scope`", "scope -;", note: "the scopes are unknown; the app finds the value",
      each(["5", "true", "{}", #"["a",1]"#], of: ["scope"])),
    .refused(
      .kind, "`access_token`", .invalidResponse,
      saying: [#""access_token": it is"#, "and not a text"],
      each(["5", "true", "{}"], of: ["access_token"])),
    .refused(
      .kind, "`token_type`, `expires_in`", .invalidResponse,
      each(["true", "{}"], of: ["token_type", "expires_in"])),
    .refused(
      .kind, "an `error` beside a token", .invalidResponse, saying: ["no OAuth error code"],
      each(["5", "true", "false", "{}", "[]"], of: ["error"])),
    .read(.list, "`scope` as a list of texts", "scope a b;", [with(["scope": #"["a","b"]"#])]),
    .missing(
      .list, "`refresh_token`, `id_token`", each([#"["x"]"#], of: ["refresh_token", "id_token"])),
    .refused(
      .list, "`access_token`, `token_type`, `expires_in`", .invalidResponse,
      each([#"["x"]"#], of: ["access_token", "token_type", "expires_in"])),
    .read(
      .encoding, "a byte order mark; escaped characters", "access C4N4RY-a;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with().replacing("access_token", by: Array(#"\u0061ccess_token"#.utf8)),
      ]),
    .read(
      .encoding, "ISO-8859-1, a control character or half a surrogate pair in a further member",
      "access C4N4RY-a;",
      [
        with(["x": #""caf?""#]).replacing("?", by: [0xE9]), with(["x": #""\ud800""#]),
        with(["x": #""a?b""#]).replacing("?", by: [0x01]),
      ]),
    .read(
      .encoding, "more than 30 combining marks in a row, in a further member", "access C4N4RY-a;",
      [with(["x": "\"\(marks(31))\""]), with(adding: "\"\(marks(31))\":1")]),
    .refused(
      .encoding, "UTF-16, with and without a byte order mark", .invalidResponse, saying: ["UTF-16"],
      [with().encoded(.utf16), with().encoded(.utf16LittleEndian), with().encoded(.utf16BigEndian)]),
    .refused(
      .encoding, "a zero byte or a letter outside ASCII in `access_token`", .invalidResponse,
      saying: ["a forbidden character"],
      each([#""C4N4RY\u0000""#, #""é""#], of: ["access_token"])),
    .elsewhere(
      .contentType, "`application/json` with parameters or in upper case, `application/…+json`",
      "r", "read", in: "TokenBodyTests"),
    .elsewhere(
      .contentType, "`text/html`, `text/plain`, a form, none", "x",
      "refused: `invalid_response`; the error names the type and the quirk that takes it",
      in: "TokenBodyTests", "QuirksTests"),
    .read(
      .more, "unknown members of any kind, also twice or nested", "access C4N4RY-a;",
      [
        with(adding: #""x":1,"x":{"y":[[[{"z":null}]]]}"#),
        with(adding: #""error_description":"","ok":true"#),
      ]),
    .read(
      .more, "a member twice with the same value", "access C4N4RY-a;",
      [with(adding: #""access_token":"C4N4RY-a","scope":"a b""#)]),
    .refused(
      .more, "a member that the SDK uses, twice with different values", .invalidResponse,
      saying: ["twice, with different values"],
      [
        with(adding: #""access_token":"other""#), with(adding: #""refresh_token":"other""#),
        with(adding: #""scope":"a b c""#), with(adding: #""id_token":null"#),
        with(adding: #""\u0074oken_type":"mac""#), with(["error": "null"], adding: #""error":"x""#),
      ]),
    .read(
      .letterCase, "`token_type` in any letter case", "type bEARER;",
      [with(["token_type": #""bEARER""#])]),
    .elsewhere(
      .letterCase, "names of members, as `Access_Token`", "x", "refused: `invalid_response`",
      in: "TokenFieldsTests"),
    .read(
      .unneeded, "`x`, `created_at`, `not-before-policy`, `error_uri`", "access C4N4RY-a;",
      each(
        ["-1", "[]", #""""#, "1e300"], of: ["x", "created_at", "not-before-policy", "error_uri"])),
    .elsewhere(
      .number, "`expires_in`: `3600.0`, `0`, `1e9`; beyond 68 years", "r",
      "read; cut at 68 years", in: "TokenLifetimeTests"),
    .elsewhere(
      .number, "`expires_in`: negative, not a number", "x", "refused: `invalid_response`",
      in: "TokenLifetimeTests"),
    .refused(
      .number, "a number that no `Double` can hold, in any member", .invalidResponse,
      [with(["x": "1e999"])]),
    .read(
      .blanks, "before and after the object", "access C4N4RY-a;",
      [with().wrapped(Array("\r\n\t ".utf8), Array("\n\n".utf8))]),
    .refused(
      .blanks, "around `access_token`, `token_type`, `expires_in`", .invalidResponse,
      [
        with(["access_token": #"" C4N4RY""#]), with(["access_token": #""C4N4RY\n""#]),
        with(["token_type": #""Bearer ""#]), with(["expires_in": #"" 3600""#]),
      ]),
    .read(
      .missing, "`expires_in`, `refresh_token`, `id_token`", "access C4N4RY-a;",
      without(["expires_in", "refresh_token", "id_token"])),
    .read(
      .missing, "`scope`", "scope asked;", note: "the scopes are those that were asked for",
      without(["scope"])),
    .refused(
      .missing, "`access_token`", .invalidResponse,
      saying: [#""access_token""#, #"the members "authorization_expires_in", "expires_in""#],
      without(["access_token"])),
    .refused(
      .missing, "`token_type`", .invalidResponse, saying: [#""token_type""#, ".missingTokenType"],
      without(["token_type"])),
    .elsewhere(
      .missing, "`issued_token_type` of a token exchange", "x", "refused: `invalid_response`",
      in: "TokenExchangeGrantTests"),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
