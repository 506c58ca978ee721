import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The error object in the body of an endpoint's response.
@Suite struct ErrorBodySpellingTests: WireReader {
  static let title = "Errors in a body, of every endpoint"
  static let specification =
    "RFC 6749, section 5.2; RFC 7009, section 2.2.1; RFC 7591, section 3.2.2; RFC 8628, section 3.5"

  static let base = [
    "error": #""invalid_grant""#, "error_description": #""why""#, "error_uri": #""https://s/e""#,
  ]

  /// Describes the code and the texts of an OAuth error, and throws any other error.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    do throws(SQOAuthError) {
      _ = try TokenResponse(
        parser: StandardTokenResponseParser(),
        context: .init(receivedAt: Answer.now, requestedScope: nil), request: Answer.request
      ).read(message.response)
      return "a token"
    } catch {
      guard let response = error.response else { throw error }
      return "code \(error.code); ends \(error.requiresSignIn); "
        + "description \(response.errorDescription ?? "-"); URI \(response.errorURI ?? "-")"
    }
  }

  private static func refusing(_ messages: [WireMessage]) -> [WireMessage] {
    messages.map { $0.typed($0.type, status: 400) }
  }

  static let rows: [SpellingRow] = [
    .missing(
      .null, "`error_description`, `error_uri`",
      refusing(each(["null"], of: ["error_description", "error_uri"]))),
    .refused(
      .null, "`error`", .requestRefused, saying: ["and said: why"],
      note: "no code, and the server's words", refusing([with(["error": "null"])])),
    .read(
      .empty, "`error_description`, `error_uri`", "code invalid_grant;",
      refusing(each([#""""#], of: ["error_description", "error_uri"]))),
    .refused(
      .empty, "`error`, also with nothing but control characters", .requestRefused,
      saying: ["and said: why"], refusing(each([#""""#, #""\u0000\u200b""#], of: ["error"]))),
    .missing(
      .kind, "`error_description`, `error_uri`",
      refusing(each(["5", "true", "{}"], of: ["error_description", "error_uri"]))),
    .refused(
      .kind, "`error`", .requestRefused, saying: ["and said: why"],
      refusing(each(["400", "true"], of: ["error"]))),
    .elsewhere(
      .kind, "errors in forms of other protocols and frameworks", "x",
      "refused: `request_refused`; the error has the server's words", in: "TokenRefusalTests"),
    .missing(
      .list, "`error_description`, `error_uri`",
      refusing(each([#"["x"]"#], of: ["error_description", "error_uri"]))),
    .refused(
      .list, "`error`", .requestRefused, refusing([with(["error": #"["invalid_grant"]"#])])),
    .read(
      .encoding, "ISO-8859-1 in `error_description`, a byte order mark",
      "code invalid_grant;",
      refusing([
        with(["error_description": #""expir?""#]).replacing("?", by: [0xE9]),
        with().wrapped([0xEF, 0xBB, 0xBF]),
      ])),
    .refused(.encoding, "UTF-16", .requestRefused, refusing([with().encoded(.utf16)])),
    .elsewhere(
      .encoding, "control characters and marks that turn a text", "r", "removed from the texts",
      in: "TokenRefusalTests"),
    .read(
      .contentType, "any, and none", "code invalid_grant;",
      ["text/html", "text/plain", "application/json;charset=x", "APPLICATION/JSON", nil].map {
        with().typed($0, status: 400)
      }),
    .read(
      .more, "unknown members, also twice or nested", "code invalid_grant;",
      refusing([with(adding: #""x":1,"x":[{"y":{}}],"error_codes":[50076]"#)])),
    .refused(
      .more, "`error` twice with different values", .requestRefused,
      refusing([with(adding: #""error":"invalid_client""#)])),
    .read(
      .letterCase, "a code in upper case", "code INVALID_GRANT; ends false;",
      note: "read as another code, which ends no session",
      refusing([with(["error": #""INVALID_GRANT""#])])),
    .refused(
      .letterCase, "`Error`", .requestRefused,
      refusing([WireMessage(#"{"Error":"invalid_grant"}"#)])),
    .read(
      .unneeded, "`error_uri`, `state`, `trace_id`", "code invalid_grant;",
      refusing(each(["-1", "[]", "{}"], of: ["error_uri", "state", "trace_id"]))),
    .impossible(.number, "an error has no numbers"),
    .read(
      .blanks, "before and after the object", "code invalid_grant;",
      refusing([with().wrapped(Array("\n ".utf8), Array("\n".utf8))])),
    .read(
      .blanks, "around a code", "ends false;", note: "read as another code, which ends no session",
      refusing([with(["error": #"" invalid_grant""#]), with(["error": #""invalid_grant ""#])])),
    .read(
      .missing, "`error_description`, `error_uri`", "code invalid_grant;",
      refusing(without(["error_description", "error_uri"]))),
    .refused(
      .missing, "`error`", .requestRefused, saying: ["and said: why"], refusing(without(["error"]))),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
