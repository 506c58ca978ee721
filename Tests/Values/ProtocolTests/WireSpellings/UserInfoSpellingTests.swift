import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// The provider's response about the user, as JSON or signed.
@Suite struct UserInfoSpellingTests: WireReader {
  static let title = "UserInfo responses"
  static let specification = "OpenID Connect Core 1.0, sections 5.1 and 5.3.2"

  private static let secret = String(repeating: "C4N4RY", count: 6)

  static let base = [
    "sub": #""alice""#, "name": #""Alice""#, "email": #""a@example.com""#,
    "email_verified": "true", "updated_at": "1700000000", "picture": #""https://id.example/p""#,
    "address": #"{"country":"Land"}"#,
  ]

  private static func client() throws(SQOAuthError) -> RegisteredClient? {
    var configuration = try ClientConfiguration(
      clientID: "app", clientSecret: secret,
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/t",
        userInfo: "https://id.example/u", issuer: "https://id.example"))
    configuration.idTokenAlgorithm = .hs256
    return configuration.metadata.map {
      RegisteredClient(
        configuration: configuration, environment: ClientEnvironment(), metadata: $0)
    }
  }

  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    guard let client = try client() else { return "no metadata" }
    let idToken = IDToken(
      validated: try IDTokenClaims([
        "iss": "https://id.example", "sub": "alice", "aud": "app", "exp": 1, "iat": 1,
      ]), compactForm: "a.b.c")
    let user = try await UserInfoRequest(client).read(
      message.response, of: idToken, removing: SentSecrets([]))
    let verified = user.isEmailVerified.map { "\($0)" } ?? "-"
    return "sub \(user.subject); name \(user.name ?? "-"); email \(user.email ?? "-"); "
      + "verified \(verified); updated \(user.updateDate.map { "\($0)" } ?? "-"); "
      + "picture \(user.pictureURL?.absoluteString ?? "-"); "
      + "country \(user.address?.country ?? "-")"
  }

  /// Returns a JWT of the provider with the message as its payload.
  private static func signed(_ message: WireMessage, _ end: String = "") -> WireMessage {
    var jwt = WireMessage(SecretlySigned.text(message.body, by: secret) + end)
    jwt.plain = Data(SecretlySigned.text(message.plain, by: secret).utf8)
    jwt.type = "application/jwt"
    return jwt
  }

  private static let optional = [
    "name", "email", "email_verified", "updated_at", "picture", "address",
  ]

  static let rows: [SpellingRow] = [
    .missing(.null, "all but `sub`", each(["null"], of: optional)),
    .missing(
      .null, "`iss`, `aud` of a signed response",
      each(["null"], of: ["iss", "aud"]).map { signed($0) }),
    .refused(
      .null, "`sub`", .userInfoInvalid, saying: [#"has no "sub""#],
      [with(["sub": "null"]), signed(with(["sub": "null"]))]),
    .missing(.empty, "all but `sub`", each([#""""#], of: optional)),
    .missing(
      .empty, "`iss`, `aud` of a signed response",
      (each([#""""#], of: ["iss", "aud"]) + [with(["aud": "[]"])]).map { signed($0) }),
    .refused(.empty, "`sub`", .userInfoInvalid, saying: ["is empty"], [with(["sub": #""""#])]),
    .missing(.kind, "all but `sub`", each(["5"], of: optional.filter { $0 != "updated_at" })),
    .missing(.kind, "`updated_at` as a text", [with(["updated_at": #""2026-11-26""#])]),
    .read(
      .kind, "`email_verified` as a text", "verified true;", [with(["email_verified": #""true""#])]),
    .refused(
      .kind, "`sub`", .userInfoInvalid, saying: ["is a number and not a text"], [with(["sub": "5"])]
    ),
    .missing(.list, "all but `sub`", each([#"["x"]"#], of: optional)),
    .refused(
      .list, "`sub` as a list", .userInfoInvalid, saying: ["is a list and not a text"],
      [with(["sub": #"["alice"]"#])]),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in another claim", "sub alice;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["name": #""Ren?""#]).replacing("?", by: [0xE9]),
      ]),
    .refused(.encoding, "UTF-16", .invalidResponse, saying: ["UTF-16"], [with().encoded(.utf16)]),
    .refused(
      .encoding, "`sub` in invalid UTF-8; a signed text with such a fault anywhere",
      .userInfoInvalid,
      [
        with(["sub": #""alic?""#]).replacing("?", by: [0xE9]),
        signed(with(["name": #""Ren?""#]).replacing("?", by: [0xE9])),
      ]),
    .read(
      .contentType, "`application/json` with parameters or in upper case; `application/jwt`",
      "sub alice;",
      ["application/json;charset=utf-8", "APPLICATION/JSON", "application/x+json"].map {
        with().typed($0)
      } + [signed(with()), signed(with()).typed("application/JWT; x=y")]),
    .refused(
      .contentType, "any other", .userInfoInvalid, saying: [#"the content type "text/"#],
      ["text/html", "text/plain"].map { with().typed($0) }),
    .refused(
      .contentType, "none", .userInfoInvalid, saying: ["no content type"], [with().typed(nil)]),
    .read(
      .more, "unknown claims, also twice or nested", "sub alice;",
      [with(adding: #""x":1,"x":[{"y":{}}],"_claim_names":{"a":"b"}"#)]),
    .refused(
      .more, "`sub`, `email`, `email_verified` twice with different values", .invalidResponse,
      saying: ["twice, with different values"],
      [
        with(adding: #""sub":"bob""#), with(adding: #""email":"evil@example.com""#),
        with(adding: #""email_verified":false"#),
      ]),
    .refused(
      .letterCase, "names of claims, as `Sub`; letters of `sub`", .userInfoInvalid,
      [
        WireMessage(with().text.replacingOccurrences(of: #""sub""#, with: #""Sub""#)),
        with(["sub": #""Alice""#]),
      ]),
    .read(
      .letterCase, "`email_verified` as `True`", "verified -;",
      note: "counts as missing, so as not verified", [with(["email_verified": #""True""#])]),
    .read(
      .unneeded, "any further claim", "sub alice;",
      each(["-1", "[]", #""""#, "{}"], of: ["groups", "zoneinfo", "birthdate", "profile"])),
    .read(
      .number, "`updated_at`: with a fraction, negative, huge", "sub alice;",
      each(["1700000000.5", "-1", "1e300"], of: ["updated_at"])),
    .read(
      .blanks, "around the object, after a signed text", "sub alice;",
      [
        with().wrapped(Array("\n ".utf8), Array("\n".utf8)), signed(with(), "\n"),
        signed(with(), " \r\n"),
      ]),
    .refused(
      .blanks, "around `sub`", .userInfoInvalid, saying: ["another user"],
      [with(["sub": #""alice ""#])]),
    .read(.missing, "all but `sub`", "sub alice;", without(optional)),
    .refused(.missing, "`sub`", .userInfoInvalid, saying: [#"has no "sub""#], without(["sub"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
