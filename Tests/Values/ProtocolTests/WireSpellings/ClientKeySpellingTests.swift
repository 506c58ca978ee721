import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// A client's private key in a JSON Web Key of another program.
@Suite struct ClientKeySpellingTests: WireReader {
  static let title = "Client keys in JSON Web Keys"
  static let specification = "RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2"

  static let base: [String: String] = {
    let key = PublishedKey.all.first { $0.algorithm == "RS256" }?.key.object ?? [:]
    var members = key.compactMapValues { value in value.string.map { "\"\($0)\"" } }
    members["alg"] = #""RS256""#
    members["kid"] = #""k""#
    members["use"] = #""sig""#
    return members
  }()

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let key = try ClientKey(jwk: message.text)
    return "algorithm \(key.algorithm.rawValue); name \(key.keyID ?? "-")"
  }

  private static let whole = ["kty", "n", "e", "d"]

  static let rows: [SpellingRow] = [
    .missing(
      .null, "`alg`, `kid`, `use`, `oth`, members of other kinds of key",
      each(["null"], of: ["alg", "kid", "use", "oth", "crv", "x", "y", "x5c"])),
    .missing(
      .null, "all primes",
      [
        with(["p": "null", "q": "null", "dp": "null", "dq": "null", "qi": "null"])
      ]),
    .refused(.null, "`kty`, `n`, `e`, `d`", .invalidConfiguration, each(["null"], of: whole)),
    .refused(
      .empty, "`kty`, `n`, `d`, `alg`, `use`", .invalidConfiguration,
      each([#""""#], of: ["kty", "n", "d", "alg", "use"])),
    .refused(
      .kind, "members of the key, `alg`, `use`", .invalidConfiguration,
      each(["5", "{}"], of: whole + ["alg", "use"])),
    .missing(
      .kind, "`kid`", note: "the name is the key's thumbprint", each(["5", "{}"], of: ["kid"])),
    .refused(
      .list, "`alg`, `use`, a set of keys", .invalidConfiguration,
      each([#"["sig"]"#], of: ["alg", "use"]) + [
        with().wrapped(Array(#"{"keys":["#.utf8), Array("]}".utf8))
      ]),
    .read(.encoding, "a byte order mark", "name k", [with().wrapped([0xEF, 0xBB, 0xBF])]),
    .refused(
      .encoding, "UTF-16, Base64 with padding", .invalidConfiguration,
      [with().encoded(.utf16), with(["e": #""AQAB==""#])]),
    .impossible(.contentType, "the app gives the text"),
    .read(
      .more, "unknown members", "name k",
      [with(adding: #""x5t":"a","ext":true,"key_ops":["sign"]"#)]),
    .refused(
      .more, "`key_ops` without `sign`", .invalidConfiguration, saying: ["not for signatures"],
      [with(adding: #""key_ops":["verify"]"#), with(adding: #""key_ops":"sign""#)]),
    .refused(
      .more, "a name twice", .invalidConfiguration, saying: ["with the same name"],
      [with(adding: #""kid":"k""#)]),
    .refused(
      .letterCase, "values, as `rsa`, `rs256`, `SIG`", .invalidConfiguration,
      [with(["kty": #""rsa""#]), with(["alg": #""rs256""#]), with(["use": #""SIG""#])]),
    .read(
      .unneeded, "`x5c`, `x5t`, `iat`, `exp`", "name k",
      each(["5", "[]", #""""#], of: ["x5c", "x5t", "iat", "exp"])),
    .impossible(.number, "a key has no numbers but in Base64url"),
    .read(
      .blanks, "before and after the object", "name k",
      [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .refused(
      .blanks, "around members of the key", .invalidConfiguration, [with(["e": #""AQAB ""#])]),
    .read(.missing, "`alg`, `kid`, `use`", "algorithm RS256;", without(["alg", "kid", "use"])),
    .refused(.missing, "`kty`, `n`, `e`, `d`", .invalidConfiguration, without(whole)),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
