import Foundation
import Testing

@testable import SequencingOAuth

/// A stored account record, which another version of the SDK or another program may have written.
@Suite struct KeptRecordSpellingTests: WireReader {
  static let title = "Kept records"
  static let specification = "``AccountRecord``"

  static let base = [
    "id": #""a""#, "client_id": #""c""#, "issuer": #""https://id.example""#,
    "token_endpoint": #""https://id.example/t""#, "session": #""s""#, "generation": "3",
    "reuses_refresh_token": "true", "attributes": #"{"name":"x"}"#, "used_at": "1",
    "token": #"{"access_token":"C4N4RY-a","token_type":"Bearer"}"#,
  ]

  /// Reads the record as a store does whose digest or seal has shown that the bytes are whole.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let record = try StoredDecoder.whole(AccountRecord.self, from: message.body, named: "it")
    return "id \(record.id); issuer \(record.issuer ?? "-"); session \(record.session ?? "-"); "
      + "generation \(record.generation.map { "\($0)" } ?? "-"); "
      + "reuses \(record.reusesRefreshToken); attributes \(record.attributes.keys.sorted()); "
      + "token \(record.token.accessToken)"
  }

  private static let optional = [
    "issuer", "token_endpoint", "session", "generation", "reuses_refresh_token", "attributes",
    "used_at",
  ]

  static let rows: [SpellingRow] = [
    .missing(.null, "all but `id`, `client_id`, `token`", each(["null"], of: optional)),
    .refused(
      .null, "`id`, `client_id`, `token`", .storeTooNew,
      each(["null"], of: ["id", "client_id", "token"])),
    .read(.empty, "texts", "token C4N4RY-a", each([#""""#], of: ["issuer", "session"])),
    .refused(
      .kind, "any member that the SDK reads", .storeTooNew,
      each(["[]"], of: ["id", "client_id", "token"] + optional)),
    .refused(
      .list, "`id`, `issuer` as lists", .storeTooNew, each([#"["a"]"#], of: ["id", "issuer"])),
    .elsewhere(
      .encoding, "a changed byte, a file that is cut off", "x", "refused: `store_damaged`",
      in: "FileTokenStoreDamageTests", "EncryptedStoreDamageTests"),
    .impossible(.contentType, "a store has none"),
    .read(
      .more, "unknown members, as of a newer version", "token C4N4RY-a",
      [with(adding: #""new":{"x":[1]}"#)]),
    .elsewhere(
      .more, "a file of a newer version", "x", "refused, and the version is named",
      in: "FileTokenStoreDamageTests"),
    .refused(
      .letterCase, "names of members, as `ID`", .storeTooNew,
      [WireMessage(with().text.replacingOccurrences(of: #""id""#, with: #""ID""#))]),
    .refused(
      .unneeded, "a member that is read but not used now", .storeTooNew,
      note: "the record stays as it is",
      [with(["used_at": #""x""#]), with(["attributes": #"{"name":5}"#])]),
    .refused(
      .number, "`generation` that is no whole number", .storeTooNew,
      each(["1.5", "1e300"], of: ["generation"])),
    .read(
      .blanks, "before and after the object", "token C4N4RY-a",
      [with().wrapped(Array("\n ".utf8), Array("\n".utf8))]),
    .read(.missing, "all but `id`, `client_id`, `token`", "token C4N4RY-a", without(optional)),
    .refused(
      .missing, "`id`, `client_id`, `token`", .storeTooNew, without(["id", "client_id", "token"])),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
