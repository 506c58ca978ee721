import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The keys that an issuer publishes.
@Suite struct KeySetSpellingTests: WireReader {
  static let title = "Key sets"
  static let specification =
    "RFC 7517, sections 4 and 5; RFC 7518, section 6; OpenID Connect Core 1.0, section 10.1.1"

  private static let vector = try? SignedVectors.one(.es256)

  /// The members of the only key in a set.
  static let base: [String: String] = {
    let key = vector?.key.object ?? [:]
    return key.compactMapValues { value in value.string.map { "\"\($0)\"" } }
  }()

  /// Fetches the set, and verifies a text that its key signed.
  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    var environment = ClientEnvironment()
    environment.transport = ScriptedTransport { _ in message.response }
    guard let uri = URL(string: "https://id.example/keys"), let vector else { return "no vector" }
    let source = SigningKeys.Source(
      issuer: "https://id.example", uri: uri, timeout: .seconds(600))
    let keys = try await source.fetch(environment).keys
    let text = try SignedText.idToken.read(vector.jws)
    try SignedText.idToken.explaining { () throws(JWSFailure) in
      try text.verify(with: keys, algorithm: vector.algorithm)
    }
    return "verified"
  }

  /// Returns a set for each key.
  private static func sets(_ keys: [WireMessage]) -> [WireMessage] {
    keys.map { set($0) }
  }

  private static func set(_ key: WireMessage, beside other: String = "") -> WireMessage {
    key.wrapped(Array(#"{"keys":[\#(other)"#.utf8), Array("]}".utf8))
  }

  /// Returns the key's `x` with a text at its end.
  private static func x(before end: String) -> String {
    String((base["x"] ?? "").dropLast()) + end + "\""
  }

  private static let optional = ["use", "key_ops", "alg"]

  static let rows: [SpellingRow] = [
    .read(
      .null, "`use`, `key_ops`, `alg`, and members of other kinds of key", "verified",
      note: "counts as missing", sets(each(["null"], of: optional + ["n", "e", "d", "x5c"]))),
    .refused(
      .null, "`kty`, `crv`, `x`, `y`; `kid` that a header names", .idTokenKey,
      note: "the key is skipped", sets(each(["null"], of: ["kty", "crv", "x", "y", "kid"]))),
    .refused(
      .null, "`keys`", .invalidResponse,
      saying: ["an unusable set of keys: the key set has no array of keys"],
      [WireMessage(#"{"keys":null}"#)]),
    .refused(
      .empty, "`use`, `alg`, `kid`, `key_ops`", .idTokenKey, note: "the key is skipped",
      sets(each([#""""#], of: ["use", "alg", "kid"]) + [with(["key_ops": "[]"])])),
    .elsewhere(
      .empty, "`keys`", "x", "refused: no key fits, and the set is fetched again",
      in: "JSONWebKeySetTests", "SigningKeysTests"),
    .refused(
      .kind, "a member of the key", .idTokenKey, note: "the key is skipped",
      sets(each(["1", "true", "{}"], of: ["kty", "crv", "x", "y", "kid", "use", "alg"]))),
    .read(
      .kind, "another key or an unusable one beside the right one", "verified",
      ["5,", "null,", #""key","#, #"{"kty":5},"#, #"{"kty":"AKP","alg":"x"},"#].map {
        set(with(), beside: $0)
      }),
    .refused(
      .list, "`alg`, `use` as lists, `key_ops` as a text", .idTokenKey,
      note: "the key is skipped",
      sets(each([#"["ES256"]"#], of: ["alg", "use"]) + [with(["key_ops": #""verify""#])])),
    .refused(
      .list, "`keys` as one object", .invalidResponse, saying: ["has no array of keys"],
      [WireMessage(#"{"keys":{}}"#)]),
    .read(
      .encoding, "a byte order mark", "verified",
      [set(with()).wrapped([0xEF, 0xBB, 0xBF])]),
    .refused(
      .encoding, "UTF-16, ISO-8859-1", .invalidResponse, saying: ["an unusable set of keys"],
      [
        set(with()).encoded(.utf16),
        set(with(["x5c": #"["caf?"]"#])).replacing("?", by: [0xE9]),
      ]),
    .refused(
      .encoding, "a member of the key in Base64 with padding", .idTokenKey,
      note: "the key is skipped", sets([with(["x": x(before: "=")])])),
    .read(
      .contentType, "any, and none", "verified",
      ["application/jwk-set+json", "text/plain", "text/html", "APPLICATION/JSON", nil].map {
        set(with()).typed($0)
      }),
    .read(
      .more, "unknown members, a private half, certificates", "verified",
      sets([with(adding: #""x5c":["MII"],"x5t":"a","ext":true,"d":"C4N4RY""#)])),
    .refused(
      .more, "a name twice, at any depth", .invalidResponse, saying: ["with the same name"],
      sets([with(adding: #""kty":"EC""#), with(adding: #""z":1,"z":2"#)])),
    .elsewhere(
      .more, "more than 500 usable keys or 1 MiB", "x", "refused: `invalid_response`",
      in: "JSONWebKeySetTests"),
    .refused(
      .letterCase, "values, as `ec`, `SIG`, `es256`", .idTokenKey, note: "the key is skipped",
      sets([
        with(["kty": #""ec""#]), with(["use": #""SIG""#]), with(["alg": #""es256""#]),
      ])),
    .read(
      .unneeded, "`x5c`, `x5t`, `x5u`, `exp`, `iat`", "verified",
      sets(each(["5", "[]", #""""#, "{}"], of: ["x5c", "x5t", "x5u", "exp", "iat"]))),
    .impossible(.number, "a key has no numbers but in Base64url"),
    .read(
      .blanks, "before and after the object", "verified",
      [set(with()).wrapped(Array("\r\n".utf8), Array("\n".utf8))]),
    .refused(
      .blanks, "around `kid`, `x`", .idTokenKey, note: "the key is skipped",
      sets([with(["kid": #"" k""#]), with(["x": x(before: #"\n"#)])])),
    .read(.missing, "`use`, `key_ops`, `alg`", "verified", sets(without(optional))),
    .refused(
      .missing, "`kty`, `crv`, `x`, `y`; `kid` that a header names", .idTokenKey,
      note: "the key is skipped", sets(without(["kty", "crv", "x", "y", "kid"]))),
    .refused(
      .missing, "`keys`", .invalidResponse, saying: ["has no array of keys"], [WireMessage("{}")]),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
