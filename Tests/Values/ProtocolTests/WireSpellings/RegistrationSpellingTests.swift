import Foundation
import Testing

@testable import SequencingOAuth

/// The client that a server says it has registered, now or earlier.
@Suite struct RegistrationSpellingTests: WireReader {
  static let title = "Registrations and their management"
  static let specification = "RFC 7591, section 3.2.1; RFC 7592, section 3"

  static let base = [
    "client_id": #""c""#, "client_secret": #""C4N4RY-s""#, "client_secret_expires_at": "0",
    "redirect_uris": #"["http://127.0.0.1/cb"]"#, "scope": #""a b""#,
    "token_endpoint_auth_method": #""client_secret_basic""#,
    "grant_types": #"["authorization_code"]"#,
    "registration_client_uri": #""https://id.example/register/c""#,
    "registration_access_token": #""C4N4RY-t""#,
  ]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let response = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([]), now: Date(timeIntervalSince1970: 0),
      address: URL(string: "https://id.example/register"))
    let metadata = ClientMetadata(redirectURIs: ["http://127.0.0.1/cb"])
    let registration = try response.registration(
      in: try response.members(of: message.response), for: metadata)
    try registration.check(against: metadata)
    let end = registration.clientSecretExpirationDate?.timeIntervalSince1970
    return "client \(registration.clientID); secret \(registration.clientSecret ?? "-"); "
      + "end \(end.map { "\(Int($0))" } ?? "-"); scope \(registration.scope ?? "-"); "
      + "method \(registration.clientAuthentication.rawValue); "
      + "managed \(registration.management?.accessToken ?? "-")"
  }

  private static let managing = ["registration_client_uri", "registration_access_token"]

  static let rows: [SpellingRow] = [
    .missing(
      .null, "`client_secret_expires_at`, `scope`, `grant_types`, `jwks`, `logo_uri`, the managing",
      each(
        ["null"],
        of: ["client_secret_expires_at", "scope", "grant_types", "jwks", "logo_uri"] + managing)),
    .read(
      .null, "`token_endpoint_auth_method`", "method client_secret_basic;",
      note: "by the secret: Basic with one, none without",
      [with(["token_endpoint_auth_method": "null"])]),
    .refused(
      .null, "`client_id`", .invalidResponse, saying: [#"has no "client_id""#],
      [with(["client_id": "null"])]),
    .refused(
      .null, "`redirect_uris`", .registrationMismatch, saying: ["other redirect URIs"],
      [with(["redirect_uris": "null"])]),
    .missing(
      .empty, "`client_secret_expires_at`, `scope`, `grant_types`, the managing",
      each(
        [#""""#], of: ["client_secret_expires_at", "scope", "grant_types"] + managing)
        + [with(["grant_types": "[]"])]),
    .refused(
      .empty, "`client_id`", .invalidResponse, saying: [#"has no "client_id""#],
      [with(["client_id": #""""#])]),
    .refused(
      .empty, "`redirect_uris`", .registrationMismatch, each(["[]", #""""#], of: ["redirect_uris"])),
    .read(
      .kind, "`client_secret_expires_at` as a text of digits", "end 1900000000;",
      [with(["client_secret_expires_at": #""1900000000""#])]),
    .missing(
      .kind, "the managing", note: "the client cannot manage itself",
      each(["5", "{}", "[]"], of: managing)),
    .read(
      .kind, "`scope`", "scope -;", note: "the scopes are unknown",
      each(["5", "{}"], of: ["scope"])),
    .refused(
      .kind, "`client_id`, `client_secret`, `token_endpoint_auth_method`", .invalidResponse,
      saying: ["is a number and not a text"],
      each(["5"], of: ["client_id", "client_secret", "token_endpoint_auth_method"])),
    .refused(
      .kind, "`client_secret_expires_at`", .invalidResponse, saying: ["and not a time in seconds"],
      each([#""never""#, "true", "{}"], of: ["client_secret_expires_at"])),
    .read(
      .list, "`scope`, `token_endpoint_auth_method` as lists", "method client_secret_basic;",
      [
        with(["scope": #"["a","b"]"#]),
        with(["token_endpoint_auth_method": #"["client_secret_basic"]"#]),
      ]),
    .missing(.list, "`grant_types` as a text", [with(["grant_types": #""authorization_code""#])]),
    .refused(
      .list, "`redirect_uris` as a text", .invalidResponse, saying: ["is a text and not a list"],
      [with(["redirect_uris": #""http://127.0.0.1/cb""#])]),
    .refused(
      .list, "`client_id`, `client_secret` as lists", .invalidResponse,
      saying: ["is a list and not a text"], each([#"["c"]"#], of: ["client_id", "client_secret"])),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in a further member", "client c;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["client_name": #""caf?""#]).replacing("?", by: [0xE9]),
      ]),
    .refused(.encoding, "UTF-16", .invalidResponse, saying: ["UTF-16"], [with().encoded(.utf16)]),
    .refused(
      .encoding, "`client_id`, `client_secret` with characters other than visible ASCII",
      .invalidResponse,
      saying: ["has forbidden characters"],
      each([#""C4N4RY\u0000""#, #""é""#], of: ["client_id", "client_secret"])),
    .missing(
      .encoding, "`registration_access_token` with characters other than visible ASCII",
      note: "the client cannot manage itself",
      each([#""C4N4RY\n""#, #""é""#], of: ["registration_access_token"])),
    .read(
      .contentType, "`application/json` with parameters or in upper case, `application/…+json`",
      "client c;",
      ["application/json;charset=utf-8", "APPLICATION/JSON", "application/x+json"].map {
        with().typed($0, status: 201)
      }),
    .refused(
      .contentType, "any other", .invalidResponse,
      saying: [#"the content type "text/"#, "instead of JSON"],
      ["text/html", "text/plain"].map { with().typed($0) }),
    .refused(
      .contentType, "none", .invalidResponse, saying: ["no content type"], [with().typed(nil)]),
    .read(
      .more, "unknown members, also twice or nested", "client c;",
      [with(adding: #""x":1,"x":[{"y":{}}]"#)]),
    .refused(
      .more, "a member that the SDK uses, twice with different values", .invalidResponse,
      saying: ["twice, with different values"],
      [
        with(adding: #""client_id":"x""#), with(adding: #""client_secret":"x""#),
        with(adding: #""redirect_uris":["https://evil.example"]"#),
        with(adding: #""registration_access_token":"x""#),
        with(adding: #""jwks":{"keys":[]},"jwks":{"keys":[{}]}"#),
      ]),
    .refused(
      .letterCase, "names of members, as `Client_ID`", .invalidResponse,
      saying: [#"has no "client_id""#],
      [WireMessage(with().text.replacingOccurrences(of: #""client_id""#, with: #""Client_ID""#))]),
    .refused(
      .letterCase, "values, as `Client_Secret_Basic`", .registrationMismatch,
      [with(["token_endpoint_auth_method": #""Client_Secret_Basic""#])]),
    .read(
      .unneeded, "`client_id_issued_at`, `logo_uri`, `contacts`, `response_types`", "client c;",
      each(
        ["-1", "{}", #""""#], of: ["client_id_issued_at", "logo_uri", "contacts", "response_types"])
    ),
    .read(
      .number, "`client_secret_expires_at` as `0.0` or `1.9e9`", "client c;",
      each(["0.0", "1.9e9"], of: ["client_secret_expires_at"])),
    .refused(
      .number, "`client_secret_expires_at`: negative, in milliseconds", .invalidResponse,
      saying: ["is not a time in seconds"],
      each(["-1", "1900000000000", "1e300"], of: ["client_secret_expires_at"])),
    .read(
      .blanks, "before and after the object", "client c;",
      [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .read(.blanks, "around `client_id`", "client  c;", [with(["client_id": #"" c""#])]),
    .missing(
      .blanks, "around `registration_client_uri`", note: "the client cannot manage itself",
      [with(["registration_client_uri": #"" https://id.example/register/c""#])]),
    .read(
      .missing, "`client_secret`", "client c;", note: "a public client, if no method needs one",
      [with(["client_secret": "null", "token_endpoint_auth_method": #""none""#])]),
    .read(
      .missing, "`client_secret_expires_at`, `scope`, `grant_types`, the managing", "client c;",
      without(["client_secret_expires_at", "scope", "grant_types"] + managing)),
    .refused(
      .missing, "`client_id`", .invalidResponse, saying: [#"has no "client_id""#],
      without(["client_id"])),
    .refused(
      .missing, "`redirect_uris`", .registrationMismatch, without(["redirect_uris"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
