import Foundation
import Testing

@testable import SequencingOAuth

/// The response that begins a sign-in on another device.
@Suite struct DeviceResponseSpellingTests: WireReader {
  static let title = "Device authorization responses"
  static let specification = "RFC 8628, section 3.2"

  static let base = [
    "device_code": #""C4N4RY-d""#, "user_code": #""WDJB-MJHT""#,
    "verification_uri": #""https://id.example/device""#,
    "verification_uri_complete": #""https://id.example/device?c=1""#, "expires_in": "1800",
    "interval": "7",
  ]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    let request = DeviceAuthorizationRequest(
      endpoint: URL(filePath: "/"), scope: nil, parameters: [],
      client: ClientCredentials(id: "client", secret: nil, authentication: .publicClient),
      timeout: .seconds(1))
    let response = try DeviceAuthorizationResponse(
      message.response, to: request, receivedAt: now)
    let shown = response.authorization
    return "device code \(response.deviceCode); user code \(shown.userCode); "
      + "page \(shown.verificationURI.absoluteString); "
      + "complete \(shown.verificationURIComplete?.absoluteString ?? "-"); "
      + "lifetime \(Int(shown.expirationDate.timeIntervalSince(now))); "
      + "interval \(response.interval)"
  }

  private static let required = ["device_code", "user_code", "verification_uri", "expires_in"]
  private static let optional = ["verification_uri_complete", "interval"]
  private static let oldName = #""verification_url":"https://old.example/""#

  static let rows: [SpellingRow] = [
    .missing(.null, "`verification_uri_complete`, `interval`", each(["null"], of: optional)),
    .read(
      .null, "`verification_uri` beside Google's older `verification_url`",
      "page https://old.example/;", note: "the older name is read",
      [with(["verification_uri": "null"], adding: oldName)]),
    .refused(
      .null, "`device_code`, `user_code`, `verification_uri`, `expires_in`", .invalidResponse,
      saying: ["no usable"], each(["null"], of: required)),
    .missing(.empty, "`verification_uri_complete`, `interval`", each([#""""#], of: optional)),
    .read(
      .empty, "`verification_uri` beside Google's older `verification_url`",
      "page https://old.example/;", note: "the older name is read",
      [with(["verification_uri": #""""#], adding: oldName)]),
    .refused(
      .empty, "`device_code`, `user_code`, `verification_uri`, `expires_in`", .invalidResponse,
      saying: ["no usable"], each([#""""#], of: required)),
    .read(
      .kind, "`expires_in`, `interval` as texts of digits", "lifetime 1800; interval 7",
      [with(["expires_in": #""1800""#, "interval": #""7""#])]),
    .missing(
      .kind, "`verification_uri_complete`, `interval`", note: "five seconds without an interval",
      each(["true", "{}"], of: optional) + [with(["interval": #""5 seconds""#])]),
    .refused(
      .kind, "`device_code`, `user_code`, `verification_uri`", .invalidResponse,
      saying: ["it is a number and not a text"],
      each(["5"], of: ["device_code", "user_code", "verification_uri"])),
    .refused(
      .kind, "`expires_in`", .invalidResponse, saying: [#""expires_in""#],
      each(["true", "{}", #""soon""#], of: ["expires_in"])),
    .missing(
      .list, "`verification_uri_complete`, `interval`", each(["[5]"], of: optional)),
    .refused(
      .list, "the others", .invalidResponse, saying: ["no usable"], each([#"["x"]"#], of: required)),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in a further member",
      "user code WDJB-MJHT;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["message": #""caf?""#]).replacing("?", by: [0xE9]),
      ]),
    .refused(.encoding, "UTF-16", .invalidResponse, [with().encoded(.utf16)]),
    .elsewhere(
      .encoding, "control characters in `user_code`", "x", "refused: `invalid_response`",
      in: "DeviceAuthorizationResponseTests"),
    .read(
      .contentType, "any, and none", "user code WDJB-MJHT;",
      ["text/html", "text/plain", "application/json;charset=x", "APPLICATION/JSON", nil].map {
        with().typed($0)
      }),
    .read(
      .more, "unknown members, also twice or nested", "user code WDJB-MJHT;",
      [with(adding: #""message":"x","message":"y","x":[{"y":{}}]"#)]),
    .refused(
      .more, "a code or an address twice with different values", .invalidResponse,
      [
        with(adding: #""device_code":"x""#), with(adding: #""user_code":"x""#),
        with(adding: #""verification_uri":"https://evil.example""#),
      ]),
    .refused(
      .letterCase, "names of members, as `User_Code`", .invalidResponse, saying: [#""user_code""#],
      [WireMessage(with().text.replacingOccurrences(of: "user_code", with: "User_Code"))]),
    .missing(
      .unneeded, "`verification_uri_complete` that no browser may open",
      each(
        [#""javascript:alert(1)""#, #""http://id.example/""#, #""/device""#],
        of: ["verification_uri_complete"])),
    .missing(.number, "a negative `interval`", each(["-1", #""-1""#], of: ["interval"])),
    .elsewhere(
      .number, "`interval` and `expires_in`: zero, with a fraction, huge", "r",
      "read within bounds: an interval of a second at least, and both of a day at most",
      in: "DeviceAuthorizationResponseTests"),
    .refused(.number, "a negative `expires_in`", .invalidResponse, [with(["expires_in": "-1"])]),
    .read(
      .blanks, "before and after the object", "user code WDJB-MJHT;",
      [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .refused(
      .blanks, "around `verification_uri`", .invalidResponse,
      [with(["verification_uri": #"" https://id.example/device""#])]),
    .read(
      .missing, "`verification_uri_complete`", "complete -;", without(["verification_uri_complete"])
    ),
    .read(
      .missing, "`interval`", "interval 5", note: "five seconds", without(["interval"])),
    .refused(
      .missing, "the others", .invalidResponse, saying: ["no usable"], without(required)),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
