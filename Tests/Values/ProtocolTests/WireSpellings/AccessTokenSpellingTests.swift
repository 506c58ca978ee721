import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthBackend

/// The claims of a caller's access token with a valid signature.
@Suite struct AccessTokenSpellingTests: WireReader {
  static let title = "Access tokens that are JWTs: claims"
  static let specification = "RFC 9068, sections 2.2 and 4; RFC 7519, section 4.1"

  static let base = [
    "iss": #""https://id.example""#, "sub": #""alice""#, "aud": #""api""#, "client_id": #""app""#,
    "scope": #""a b""#, "exp": "1750000300", "iat": "1749999990", "jti": #""j""#,
  ]

  /// Reads the claims without the profile of RFC 9068, which requires more claims.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let members = try SignedText.accessToken(isTyped: false).explaining {
      () throws(JWSFailure) in try JOSEObject.members(of: message.body, as: "payload")
    }
    let claims = try AccessTokenRules(
      issuer: "https://id.example", audience: "api", profile: .anyJWT,
      dates: AccessTokenDates(
        now: Date(timeIntervalSince1970: 1_750_000_000), clockTolerance: .seconds(60))
    ).check(members)
    return "sub \(claims.subject ?? "-"); client \(claims.clientID ?? "-"); "
      + "scopes \(claims.scopes); jti \(claims.identifier ?? "-"); "
      + "login \(claims.loginDate.map { "\(Int($0.timeIntervalSince1970))" } ?? "-")"
  }

  private static let optional = ["sub", "client_id", "scope", "iat", "jti"]
  private static let required = ["iss", "aud", "exp"]
  private static let foreign = ["nonce", "at_hash", "c_hash", "events"]

  static let rows: [SpellingRow] = [
    .missing(
      .null, "`sub`, `client_id`, `scope`, `iat`, `jti`, `nbf`, `auth_time`",
      note: "RFC 9068 demands some of them", each(["null"], of: optional + ["nbf", "auth_time"])),
    .missing(.null, "`nonce`, `at_hash`, `c_hash`, `events`", each(["null"], of: foreign)),
    .refused(
      .null, "`iss`, `aud`, `exp`", .accessTokenInvalid, saying: ["has no \""],
      each(["null"], of: required)
    ),
    .missing(.empty, "`scope`", each([#""""#, "[]"], of: ["scope"])),
    .refused(
      .empty, "the others", .accessTokenInvalid,
      each([#""""#], of: ["iss", "sub", "aud", "client_id", "jti", "exp", "iat"])
        + [with(["aud": "[]"])]),
    .read(
      .kind, "`scope`", "scopes [];", note: "read as no scope",
      each(["5", "{}"], of: ["scope"]) + [with(["scope": "5", "scp": #""admin""#])]),
    .missing(
      .kind, "`auth_time`", note: "a request that needs a recent login is refused then",
      each([#""1749999990""#, "true"], of: ["auth_time"])),
    .refused(
      .kind, "the others", .accessTokenInvalid, saying: ["and not"],
      each(["true"], of: ["iss", "sub", "aud", "client_id", "jti", "exp", "iat", "nbf"])),
    .read(.list, "`aud` as a list", "sub alice;", [with(["aud": #"["api","other"]"#])]),
    .read(.list, "`scope` as a list", #"scopes ["a", "b"];"#, [with(["scope": #"["a","b"]"#])]),
    .read(
      .list, "`scp` in place of `scope`, as a list or a text", #"scopes ["a", "b"];"#,
      [#"["a","b"]"#, #""a b""#].map { with(["scope": "null", "scp": $0]) }),
    .refused(
      .list, "`iss`, `sub`, `client_id`, `jti` as lists", .accessTokenInvalid,
      saying: ["is a list and not a text"],
      each([#"["x"]"#], of: ["iss", "sub", "client_id", "jti"])),
    .refused(
      .encoding, "ISO-8859-1, UTF-16, a byte order mark", .accessTokenInvalid,
      saying: ["no JSON object"],
      [
        with(["x": #""caf?""#]).replacing("?", by: [0xE9]), with().encoded(.utf16),
        with().wrapped([0xEF, 0xBB, 0xBF]),
      ]),
    .impossible(.contentType, "the token comes in a field of a request; `typ` is in its header"),
    .read(
      .more, "unknown claims", "sub alice;", [with(adding: #""x":[{"y":{}}],"roles":["admin"]"#)]),
    .read(
      .more, "`scp` beside `scope`", #"scopes ["a", "b"];"#, note: "`scope` counts",
      each([#"["admin"]"#, #""admin""#], of: ["scp"])),
    .refused(
      .more, "`nonce`, `at_hash`, `c_hash`, `events`", .accessTokenInvalid,
      saying: ["claims of another type of token"], each([#""x""#, "{}"], of: foreign)),
    .refused(
      .more, "a name twice, at any depth", .accessTokenInvalid, saying: ["with the same name"],
      [with(adding: #""aud":"api""#), with(adding: #""x":1,"x":1"#)]),
    .refused(
      .letterCase, "names of claims, letters of `iss` and `aud`", .accessTokenInvalid,
      [
        WireMessage(with().text.replacingOccurrences(of: #""iss""#, with: #""Iss""#)),
        with(["iss": #""https://ID.example""#]), with(["aud": #""API""#]),
      ]),
    .read(
      .unneeded, "`name`, `acr`, `amr`, `act`", "sub alice;",
      each(["-1", "[]", #""""#], of: ["name", "acr", "amr", "act"])),
    .read(
      .number, "`exp` as `….0` or far away", "sub alice;",
      each(["1750000300.0", "99999999999"], of: ["exp"])),
    .missing(
      .number, "`auth_time`: negative, in milliseconds, huge",
      each(["-1", "1750000000000", "1e300"], of: ["auth_time"])),
    .refused(
      .number, "`exp`, `iat`, `nbf`: negative, in milliseconds", .accessTokenInvalid,
      saying: ["is not a time in seconds"],
      each(["-1", "1750000000000"], of: ["exp", "iat", "nbf"])),
    .read(.blanks, "in `scope`", #"scopes ["a", "b"];"#, [with(["scope": #""  a   b ""#])]),
    .refused(
      .blanks, "around `iss`, `aud`", .accessTokenInvalid,
      [with(["iss": #""https://id.example ""#]), with(["aud": #"" api""#])]),
    .read(
      .missing, "`sub`, `client_id`, `scope`, `iat`, `jti`", "scopes",
      note: "unless RFC 9068 counts",
      without(optional)),
    .refused(
      .missing, "`iss`, `aud`, `exp`", .accessTokenInvalid, saying: ["has no \""], without(required)
    ),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
