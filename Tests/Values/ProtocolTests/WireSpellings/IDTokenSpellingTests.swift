import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// The claims of a sign-in's ID token with a valid signature.
@Suite struct IDTokenSpellingTests: WireReader {
  static let title = "ID tokens: claims"
  static let specification =
    "OpenID Connect Core 1.0, sections 2, 3.1.3.7 and 12.2; RFC 7519, sections 2 and 4.1"

  private static let now = ManualClock().now.timeIntervalSince1970.rounded()

  static let base = [
    "iss": #""https://id.example""#, "sub": #""alice""#, "aud": #""app""#,
    "exp": "\(Int(now) + 300)", "iat": "\(Int(now))", "nonce": #""n""#, "azp": #""app""#,
    "auth_time": "\(Int(now) - 5)", "acr": #""gold""#, "amr": #"["pwd"]"#, "sid": #""s""#,
  ]

  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    let secret = String(repeating: "C4N4RY", count: 6)
    var configuration = try ClientConfiguration(
      clientID: "app", clientSecret: secret,
      provider: .endpoints(
        authorization: "https://id.example/a", token: "https://id.example/t",
        issuer: "https://id.example"))
    configuration.idTokenAlgorithm = .hs256
    var environment = ClientEnvironment()
    environment.clock = ManualClock()
    guard let metadata = configuration.metadata else { return "no metadata" }
    let token = try await IDTokenValidator(configuration, metadata, environment).validate(
      SecretlySigned.text(message.body, by: secret),
      IDTokenExpectation(accessToken: "C4N4RY-a", nonce: .required("n")))
    return "sub \(token.subject); aud \(token.audience); azp \(token.authorizedParty ?? "-"); "
      + "auth_time \(token.authenticationDate.map { "\($0)" } ?? "-"); "
      + "acr \(token.authenticationContextClass ?? "-"); amr \(token.authenticationMethods); "
      + "sid \(token.sessionID ?? "-")"
  }

  private static let optional = ["azp", "auth_time", "acr", "amr", "sid"]
  private static let required = ["iss", "sub", "aud", "exp", "iat"]
  private static let hashes = ["at_hash", "c_hash"]

  static let rows: [SpellingRow] = [
    .missing(
      .null, "`azp`, `auth_time`, `acr`, `amr`, `sid`, `at_hash`, `c_hash`, `nbf`",
      each(["null"], of: optional + hashes + ["nbf"])),
    .refused(
      .null, "`iss`, `sub`, `aud`, `exp`, `iat`", .idTokenIncomplete, saying: ["has no \""],
      each(["null"], of: required)),
    .refused(
      .null, "`nonce` after a code", .idTokenNonce,
      note: "after a refresh it counts as missing", [with(["nonce": "null"])]),
    .missing(
      .empty, "`azp`, `auth_time`, `acr`, `amr`, `sid`, `at_hash`, `c_hash`",
      each([#""""#], of: optional + hashes)),
    .missing(.empty, "`amr` as a list", [with(["amr": "[]"])]),
    .refused(
      .empty, "`iss`, `sub`, `aud`, also a list", .idTokenMalformed, saying: ["is empty"],
      each([#""""#], of: ["iss", "sub", "aud"]) + [with(["aud": "[]"])]),
    .refused(
      .empty, "`exp`, `iat`", .idTokenMalformed, saying: ["is a text and not a time"],
      each([#""""#], of: ["exp", "iat"])),
    .refused(.empty, "`nonce` after a code", .idTokenNonce, [with(["nonce": #""""#])]),
    .missing(
      .kind, "`auth_time`, `acr`, `amr`",
      note: "a sign-in that demands a recent login or an `acr` is refused then",
      each(["true", "{}"], of: ["auth_time", "acr", "amr"])
        + [with(["auth_time": #""1900000000""#]), with(["acr": "1"]), with(["amr": "7"])]),
    .refused(
      .kind, "`iss`, `sub`, `azp`, `sid`, `nonce`, `at_hash`, `c_hash`", .idTokenMalformed,
      saying: ["is a number and not a text"],
      each(["7"], of: ["iss", "sub", "azp", "sid", "nonce"] + hashes)),
    .refused(
      .kind, "`exp`, `iat`, `nbf` as texts", .idTokenMalformed,
      saying: ["is a text and not a time"],
      each([#""1900000000""#], of: ["exp", "iat", "nbf"])),
    .read(.list, "`aud` as a list of one", #"aud ["app"];"#, [with(["aud": #"["app"]"#])]),
    .read(.list, "`amr` as one text", #"amr ["pwd"];"#, [with(["amr": #""pwd""#])]),
    .missing(.list, "`acr` as a list", [with(["acr": #"["gold"]"#])]),
    .refused(
      .list, "`sub`, `iss`, `azp`, `nonce` as lists", .idTokenMalformed,
      saying: ["is a list and not a text"],
      each([#"["x"]"#], of: ["sub", "iss", "azp", "nonce"])),
    .refused(
      .encoding,
      "ISO-8859-1, a control character, half a surrogate pair, UTF-16, a byte order mark",
      .idTokenMalformed, saying: ["the payload is no JSON object"],
      [
        with(["x": #""caf?""#]).replacing("?", by: [0xE9]), with(["x": #""\ud800""#]),
        with(["x": #""a?b""#]).replacing("?", by: [1]), with().encoded(.utf16),
        with().wrapped([0xEF, 0xBB, 0xBF]),
      ]),
    .elsewhere(
      .encoding, "`iss` in another Unicode form", "x", "refused: `id_token_issuer`",
      in: "IDTokenRulesTests", "ExactTextTests"),
    .impossible(.contentType, "an ID token comes in a member of a token response"),
    .read(
      .more, "unknown claims of any kind", "sub alice;",
      [with(adding: #""x":[{"y":null}],"roles":"admin","nonce_supported":true"#)]),
    .refused(
      .more, "a name twice, at any depth", .idTokenMalformed, saying: ["with the same name"],
      [
        with(adding: #""sub":"bob""#), with(adding: #""sub":"alice""#),
        with(adding: #""x":1,"x":1"#),
        with(adding: #""x":{"y":1,"y":1}"#),
      ]),
    .refused(
      .letterCase, "names of claims, as `Sub`", .idTokenIncomplete, saying: [#""sub""#],
      [WireMessage(with().text.replacingOccurrences(of: #""sub""#, with: #""Sub""#))]),
    .refused(
      .letterCase, "letters of `iss`", .idTokenIssuer, [with(["iss": #""https://ID.example""#])]),
    .refused(.letterCase, "letters of `aud`", .idTokenAudience, [with(["aud": #""App""#])]),
    .read(
      .unneeded, "`name`, `email`, `address`, `updated_at`, `jti`, `ver`", "sub alice;",
      each(
        ["null", "5", "[]", #""""#], of: ["name", "email", "address", "updated_at", "jti", "ver"])),
    .read(
      .number, "`exp` as `….0` or in another notation", "sub alice;",
      [with(["exp": "\(Int(now) + 300).0"]), with(["exp": "99999999999"]), with(["exp": "9e9"])]),
    .missing(
      .number, "`auth_time` that is negative or in milliseconds",
      each(["-1", "\(Int(now))000"], of: ["auth_time"])),
    .refused(
      .number, "`exp`, `iat`, `nbf`: negative, in milliseconds, huge", .idTokenMalformed,
      saying: ["is not a time in seconds"],
      each(["-1", "\(Int(now))000", "1e300"], of: ["exp", "iat", "nbf"])),
    .read(
      .blanks, "in the JSON", "sub alice;", [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .refused(.blanks, "around `iss`", .idTokenIssuer, [with(["iss": #""https://id.example ""#])]),
    .refused(.blanks, "around `aud`", .idTokenAudience, [with(["aud": #"" app""#])]),
    .refused(.blanks, "around `nonce`", .idTokenNonce, [with(["nonce": #""n ""#])]),
    .read(
      .missing, "`azp`, `auth_time`, `acr`, `amr`, `sid`, `at_hash`, `c_hash`", "sub alice;",
      without(optional)),
    .refused(
      .missing, "`iss`, `sub`, `aud`, `exp`, `iat`", .idTokenIncomplete, saying: ["has no \""],
      without(required)),
    .refused(.missing, "`nonce` after a code", .idTokenNonce, without(["nonce"])),
    .elsewhere(
      .missing, "the ID token itself", "m x",
      "`id_token_missing` after a code with the scope `openid`; otherwise there is no identity",
      in: "PasswordIdentityTests", "DeviceSignInTests"),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }

  /// A claim that cannot be read does not satisfy what a request requires of the login.
  @Test(arguments: [#""1900000000""#, "true", "-1"])
  func `an unreadable auth_time or acr counts as missing`(value: String) throws {
    let claims = try IDTokenClaims(
      JSONReader.value(of: Self.with(["auth_time": value, "acr": "1"]).body).object ?? [:])
    let rules = IDTokenRules(
      issuer: "https://id.example", clientID: "app", trustedAudiences: [],
      clockTolerance: .seconds(60), algorithm: .rs256, now: ManualClock().now)
    var expectation = IDTokenExpectation(accessToken: "a", nonce: .ifPresent(nil))
    try rules.checkStatements(claims, expectation)
    expectation.maximumAge = .seconds(1000)
    failure(.idTokenAuthenticationDate) { try rules.checkStatements(claims, expectation) }
    expectation.maximumAge = nil
    expectation.essentialContexts = ["1"]
    failure(.idTokenAuthenticationContext) { try rules.checkStatements(claims, expectation) }
  }

  @Test(arguments: ["null", #""""#])
  func `an empty nonce counts as missing after a refresh`(value: String) throws {
    let claims = try IDTokenClaims(
      JSONReader.value(of: Self.with(["nonce": value]).body).object ?? [:])
    let rules = IDTokenRules(
      issuer: "https://id.example", clientID: "app", trustedAudiences: [],
      clockTolerance: .seconds(60), algorithm: .rs256, now: ManualClock().now)
    try rules.checkParties(
      claims, IDTokenExpectation(accessToken: "a", nonce: .ifPresent("n")))
    failure(.idTokenNonce) {
      try rules.checkParties(claims, IDTokenExpectation(accessToken: "a", nonce: .required("n")))
    }
  }
}

extension SecretlySigned {
  /// Returns a JWT with the payload, signed with a client's secret.
  static func text(
    _ payload: Data, by secret: String, header: String = #"{"alg":"HS256"}"#
  ) -> String {
    let input = Base64URL.encode(Data(header.utf8)) + "." + Base64URL.encode(payload)
    let code = HMAC.code(of: Data(input.utf8), secret: Data(secret.utf8), by: .sha256)
    return input + "." + Base64URL.encode(code ?? Data())
  }
}
