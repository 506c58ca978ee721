import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The metadata document of a server, as discovery fetches it.
@Suite struct MetadataSpellingTests: WireReader {
  static let title = "Metadata of servers"
  static let specification =
    "RFC 8414, sections 2, 3.2 and 3.3; OpenID Connect Discovery 1.0, sections 3 and 4"

  static let base = [
    "issuer": #""https://id.example""#, "token_endpoint": #""https://id.example/token""#,
    "authorization_endpoint": #""https://id.example/authorize""#,
    "jwks_uri": #""https://id.example/keys""#, "scopes_supported": #"["openid"]"#,
    "code_challenge_methods_supported": #"["S256"]"#,
    "authorization_response_iss_parameter_supported": "true",
    "require_pushed_authorization_requests": "false",
  ]

  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    let discovery = Discovery(
      issuer: "https://id.example", timeout: .seconds(600), clock: ManualClock())
    let metadata = try await discovery.fetch(
      with: ScriptedTransport { _ in message.response }
    ).metadata
    let methods = metadata.codeChallengeMethods.map { "\($0)" } ?? "-"
    return "authorization \(metadata.authorizationEndpoint?.path ?? "-"); "
      + "token \(metadata.tokenEndpoint.path); keys \(metadata.jwksURI?.path ?? "-"); "
      + "scopes \(metadata.scopes.map { "\($0)" } ?? "-"); challenges \(methods); "
      + "iss \(metadata.sendsIssuerInResponse); "
      + "pushed \(metadata.requiresPushedAuthorizationRequests)"
  }

  private static let flags = [
    "authorization_response_iss_parameter_supported", "require_pushed_authorization_requests",
  ]
  private static let optional = [
    "authorization_endpoint", "jwks_uri", "scopes_supported", "code_challenge_methods_supported",
  ]

  static let rows: [SpellingRow] = [
    .missing(
      .null, "all but `issuer` and `token_endpoint`", each(["null"], of: optional + flags)),
    .refused(
      .null, "`issuer`, `token_endpoint`", .invalidResponse, saying: ["names no"],
      each(["null"], of: ["issuer", "token_endpoint"])),
    .missing(
      .empty, "endpoints, lists and promises, as an empty text",
      each([#""""#], of: ["authorization_endpoint", "jwks_uri", "scopes_supported"] + flags)),
    .read(.empty, "lists", "scopes [];", [with(["scopes_supported": "[]"])]),
    .refused(
      .empty, "`code_challenge_methods_supported` as an empty text", .invalidResponse,
      saying: ["code_challenge_methods_supported"],
      [with(["code_challenge_methods_supported": #""""#])]),
    .refused(
      .empty, "`token_endpoint`", .invalidResponse, saying: ["names no token endpoint"],
      [with(["token_endpoint": #""""#])]),
    .refused(.empty, "`issuer`", .issuerMismatch, [with(["issuer": #""""#])]),
    .elsewhere(
      .kind, "an endpoint that only some calls need", "m",
      "the call that needs it fails with the reason", in: "ProviderMetadataTests"),
    .missing(
      .kind, "lists", each(["5", "true", "{}", "[1]", "[null]"], of: ["scopes_supported"])),
    .read(
      .kind, "a promise as a text", "iss true;",
      each([#""true""#, #""TRUE""#], of: ["authorization_response_iss_parameter_supported"])),
    .missing(
      .kind, "a promise as a number, list or object", each(["1", "[]", "{}", "[true]"], of: flags)),
    .refused(
      .kind, "`issuer`", .invalidResponse, saying: ["names no issuer"],
      each(["5", "{}"], of: ["issuer"])),
    .refused(
      .kind, "`token_endpoint`, `authorization_endpoint`", .invalidResponse,
      saying: ["and not a text"],
      each(["5", "{}"], of: ["token_endpoint", "authorization_endpoint"])),
    .refused(
      .kind, "`code_challenge_methods_supported`", .invalidResponse,
      saying: ["code_challenge_methods_supported"],
      each(["5", "{}", "true", "[1]"], of: ["code_challenge_methods_supported"])),
    .read(
      .list, "a text for a list", #"scopes ["openid"];"#,
      [with(["scopes_supported": #""openid""#])]),
    .read(
      .list, "a list with elements that are not texts", #"scopes ["openid"];"#,
      note: "the texts are read", [with(["scopes_supported": #"[null,"openid",5]"#])]),
    .refused(
      .list, "`code_challenge_methods_supported` as a text", .invalidResponse,
      saying: ["is a text and not a list"], [with(["code_challenge_methods_supported": #""S256""#])]
    ),
    .refused(
      .list, "`issuer`, `token_endpoint` as lists", .invalidResponse,
      each([#"["https://id.example"]"#], of: ["issuer", "token_endpoint"])),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in a member that is not used",
      "token /token;",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["service_documentation": #""caf?""#]).replacing("?", by: [0xE9]),
      ]),
    .refused(.encoding, "UTF-16", .invalidResponse, saying: ["UTF-16"], [with().encoded(.utf16)]),
    .refused(
      .encoding, "`issuer` in another Unicode form, or in invalid UTF-8", .issuerMismatch,
      [with(["issuer": #""https://id.example?""#]).replacing("?\"", by: [0xE9, 0x22])]),
    .read(
      .contentType, "`application/json` with parameters or in upper case, `application/…+json`",
      "token /token;",
      ["application/json;charset=utf-8", "APPLICATION/JSON", "application/jrd+json"].map {
        with().typed($0)
      }),
    .refused(
      .contentType, "any other, and none", .invalidResponse,
      saying: ["and this issuer's metadata; configure the server to send the content type"],
      ["text/plain", "text/html", "application/octet-stream", nil].map { with().typed($0) }),
    .read(
      .more, "unknown members, also twice or nested", "token /token;",
      [with(adding: #""x":1,"x":2,"mtls_endpoint_aliases":{"token_endpoint":"http://evil"}"#)]),
    .refused(
      .more, "`issuer` or an endpoint twice with different values", .invalidResponse,
      saying: ["twice, with different values"],
      [
        with(adding: #""issuer":"https://evil.example""#),
        with(adding: #""token_endpoint":"https://evil.example/t""#),
        with(adding: #""jwks_uri":"https://evil.example/k""#),
        with(adding: #""mtls_endpoint_aliases":{},"mtls_endpoint_aliases":{"token_endpoint":"x"}"#),
      ]
        + OptionalEndpoint.allCases.map(\.rawValue).map { name in
          with(adding: #""\#(name)":"https://id.example/x","\#(name)":"https://evil.example/x""#)
        }),
    .refused(
      .letterCase, "names of members, as `Issuer`", .invalidResponse, saying: ["names no issuer"],
      [WireMessage(with().text.replacingOccurrences(of: #""issuer""#, with: #""Issuer""#))]),
    .elsewhere(
      .letterCase, "letters of `issuer`", "x", "refused: `issuer_mismatch`",
      in: "ProviderMetadataTests"),
    .read(
      .unneeded, "endpoints and lists that the client does not use", "token /token;",
      each(
        ["5", "{}", #""/""#, #""http://x""#],
        of: [
          "registration_endpoint", "end_session_endpoint", "introspection_endpoint", "jwks_uri",
          "claims_supported", "acr_values_supported", "op_policy_uri", "service_documentation",
        ])),
    .impossible(.number, "no member that the SDK reads is a number"),
    .read(
      .blanks, "before and after the object", "token /token;",
      [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .refused(
      .blanks, "around `issuer`", .issuerMismatch, [with(["issuer": #"" https://id.example""#])]),
    .refused(
      .blanks, "around `token_endpoint`, `authorization_endpoint`", .invalidResponse,
      each(
        [#"" https://id.example/x""#, #""https://id.example/x\n""#],
        of: ["token_endpoint", "authorization_endpoint"])),
    .read(
      .missing, "all but `issuer` and `token_endpoint`", "token /token;", without(optional + flags)),
    .refused(
      .missing, "`issuer`, `token_endpoint`", .invalidResponse, saying: ["names no"],
      without(["issuer", "token_endpoint"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
