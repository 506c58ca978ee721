import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend
@testable import TestSupport

/// The authorization server's response about a caller's token.
@Suite struct IntrospectionSpellingTests: WireReader {
  static let title = "Introspections"
  static let specification = "RFC 7662, section 2.2; RFC 9701, section 5"

  static let base = [
    "active": "true", "iss": #""https://id.example""#, "sub": #""alice""#, "aud": #"["api"]"#,
    "client_id": #""app""#, "scope": #""a b""#, "exp": "1750000300", "iat": "1749999990",
    "nbf": "1749999990", "jti": #""j""#, "username": #""Alice""#, "token_type": #""Bearer""#,
  ]

  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    let configuration = try ClientConfiguration(
      clientID: "api", clientSecret: "C4N4RY-secret",
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/t",
        introspection: "https://id.example/i", issuer: "https://id.example"))
    var environment = ClientEnvironment()
    environment.clock = ManualClock()
    guard let metadata = configuration.metadata else { return "no metadata" }
    let client = RegisteredClient(
      configuration: configuration, environment: environment, metadata: metadata)
    let request = try await IntrospectionRequest("C4N4RY-t", by: client, wantsSignature: false)
    let claims = try await IntrospectionResponse(
      request: request, client: client, requiresTokenType: false
    ).read(message.response, signatures: nil)
    guard let claims else { return "not active" }
    let end = claims.expirationDate?.timeIntervalSince1970
    return
      "sub \(claims.subject ?? "-"); aud \(claims.audience); client \(claims.clientID ?? "-"); "
      + "scopes \(claims.scopes); iss \(claims.issuer ?? "-"); end \(end.map { "\(Int($0))" } ?? "-"); "
      + "username \(claims.username ?? "-"); jti \(claims.identifier ?? "-"); "
      + "login \(claims.loginDate.map { "\(Int($0.timeIntervalSince1970))" } ?? "-")"
  }

  private static let optional = [
    "iss", "sub", "aud", "client_id", "scope", "exp", "iat", "nbf", "jti", "username", "token_type",
  ]

  static let rows: [SpellingRow] = [
    .missing(.null, "all but `active`", each(["null"], of: optional)),
    .refused(
      .null, "`active`", .invalidResponse, saying: ["does not say if the token is active"],
      [with(["active": "null"])]),
    .missing(
      .empty, "all but `active`, `token_type`, `token_use`",
      each([#""""#], of: optional.filter { $0 != "token_type" })
        + [with(["aud": "[]"]), with(["scope": "[]"])]),
    .refused(
      .empty, "`token_type`, `token_use`", .unexpectedTokenType,
      each([#""""#], of: ["token_type", "token_use"])),
    .refused(.empty, "`active`", .invalidResponse, [with(["active": #""""#])]),
    .missing(
      .kind, "`iat`, `jti`, `auth_time`",
      each(["true", "{}", #""2026-11-26T00:00:00Z""#], of: ["iat", "auth_time"])
        + each(["5", "{}"], of: ["jti"])),
    .read(
      .kind, "`scope`", "scopes [];", note: "read as no scope", each(["5", "{}"], of: ["scope"])),
    .read(.kind, "`username`", "username -;", each(["5", "{}"], of: ["username"])),
    .refused(
      .kind, "`active` as a text or a number", .invalidResponse,
      saying: ["does not say if the token is active"], each([#""true""#, "1"], of: ["active"])),
    .refused(
      .kind, "`iss`, `sub`, `aud`, `client_id`", .invalidResponse, saying: ["is a number and not"],
      each(["5"], of: ["iss", "sub", "aud", "client_id"])),
    .refused(
      .kind, "`exp`, `nbf` as texts", .invalidResponse, saying: ["is a text and not a time"],
      each([#""1750000300""#], of: ["exp", "nbf"])),
    .refused(.kind, "`token_type`", .unexpectedTokenType, each(["5", "{}"], of: ["token_type"])),
    .read(.list, "`aud` as a text", #"aud ["api"];"#, [with(["aud": #""api""#])]),
    .read(.list, "`scope` as a list", #"scopes ["a", "b"];"#, [with(["scope": #"["a","b"]"#])]),
    .read(
      .list, "`scp` in place of `scope`, as a list or a text", #"scopes ["a", "b"];"#,
      [#"["a","b"]"#, #""a b""#].map { with(["scope": "null", "scp": $0]) }),
    .refused(
      .list, "`iss`, `sub`, `client_id` as lists", .invalidResponse,
      saying: ["is a list and not a text"],
      each([#"["x"]"#], of: ["iss", "sub", "client_id"])),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in a further member", "sub alice;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["username": #""Ren?""#]).replacing("?", by: [0xE9]),
      ]),
    .refused(.encoding, "UTF-16", .invalidResponse, saying: ["UTF-16"], [with().encoded(.utf16)]),
    .read(
      .contentType, "`application/json` with parameters or in upper case, `application/…+json`",
      "sub alice;",
      ["application/json;charset=utf-8", "APPLICATION/JSON", "application/x+json"].map {
        with().typed($0)
      }),
    .refused(
      .contentType, "any other, and none", .invalidResponse, saying: ["content type", "not JSON"],
      ["text/html", "text/plain", nil].map { with().typed($0) }),
    .elsewhere(
      .contentType, "a JWT where a signature is expected; JSON there", "r x",
      "read; refused: `invalid_response`", in: "SignedIntrospectionTests"),
    .read(
      .more, "unknown members, also twice or nested", "sub alice;",
      [with(adding: #""x":1,"x":[{"y":{}}],"ext":{"active":false}"#)]),
    .read(
      .more, "`scp` beside `scope`", #"scopes ["a", "b"];"#, note: "`scope` counts",
      each([#"["admin"]"#, #""admin""#], of: ["scp"])),
    .refused(
      .more, "`active`, `sub`, `aud`, `scope` and their like, twice with different values",
      .invalidResponse, saying: ["twice, with different values"],
      [
        with(adding: #""active":false"#), with(adding: #""sub":"bob""#),
        with(adding: #""aud":["other"]"#), with(adding: #""scope":"admin""#),
        with(adding: #""exp":9999999999"#),
      ]
        + ["scp", "acr", "auth_time", "act", "may_act", "authorization_details", "username"].map {
          with(adding: #""\#($0)":"x","\#($0)":"y""#)
        }),
    .refused(
      .letterCase, "names of members, as `Active`", .invalidResponse,
      [WireMessage(with().text.replacingOccurrences(of: "active", with: "Active"))]),
    .read(
      .letterCase, "`token_type` in any letter case", "sub alice;",
      each([#""bearer""#, #""BEARER""#], of: ["token_type"])),
    .refused(
      .letterCase, "letters of `iss`", .invalidResponse, saying: ["another issuer"],
      [with(["iss": #""https://ID.example""#])]),
    .read(
      .unneeded, "`ext`, `act`, `cnf`, `email`", "sub alice;",
      each(["-1", "[]", #""""#], of: ["ext", "act", "cnf", "email"])),
    .elsewhere(
      .number, "`exp` that is zero", "m", "counts as missing", in: "IntrospectionRulesTests"),
    .read(
      .number, "`exp` as `….0` or far away", "sub alice;",
      each(["1750000300.0", "99999999999"], of: ["exp"])),
    .missing(
      .number, "`iat`, `auth_time`: negative, in milliseconds, huge",
      each(["-1", "1750000000000", "1e300"], of: ["iat", "auth_time"])),
    .refused(
      .number, "`exp`, `nbf`: negative, in milliseconds", .invalidResponse,
      saying: ["is not a time in seconds"], each(["-1", "1750000000000"], of: ["exp", "nbf"])),
    .read(
      .blanks, "before and after the object; in `scope`", #"scopes ["a", "b"];"#,
      [
        with().wrapped(Array("\n ".utf8), Array("\n".utf8)), with(["scope": #""  a   b ""#]),
      ]),
    .refused(
      .blanks, "around `iss`", .invalidResponse, saying: ["another issuer"],
      [with(["iss": #""https://id.example ""#])]),
    .elsewhere(
      .blanks, "a line end after a signed answer", "r", "read", in: "UserInfoSpellingTests"),
    .read(.missing, "all but `active`", "scopes", without(optional)),
    .refused(
      .missing, "`active`", .invalidResponse, saying: ["does not say if the token is active"],
      without(["active"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
