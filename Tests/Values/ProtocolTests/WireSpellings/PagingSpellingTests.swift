import Foundation
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes

/// The member of an API's response that names the next page.
@Suite struct PagingSpellingTests: WireReader {
  static let title = "Pages of APIs"
  static let specification = "RFC 8288, section 3; each API's own documentation"

  static let base = ["items": "[1]", "next": #""?page=2""#]

  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    guard let url = URL(string: "https://api.example/files") else { return "no URL" }
    let json = try? JSONReader.value(of: message.response.body, .answer)
    let next = Paging.body().neighbours(of: message.response, json, at: url).next
    return "next \(next?.absoluteString ?? "-")"
  }

  static let rows: [SpellingRow] = [
    .missing(.null, "`next`", [with(["next": "null"])]),
    .missing(.empty, "`next`", [with(["next": #""""#])]),
    .missing(
      .kind, "`next` as a truth value or an object", each(["false", "true", "{}"], of: ["next"])),
    .read(
      .kind, "`next` as a number", "next https://api.example/3",
      note: "read as a text, as page tokens are", [with(["next": "3"])]),
    .missing(.list, "`next` as a list", each(["[]", #"["?page=2"]"#], of: ["next"])),
    .read(
      .encoding, "a byte order mark; ISO-8859-1 in another member", "page=2",
      [
        with().wrapped([0xEF, 0xBB, 0xBF]),
        with(["x": #""caf?""#]).replacing("?\"", by: [0xE9, 0x22]),
      ]),
    .read(
      .encoding, "UTF-16", "next -", note: "there is no next page, and the records are an error",
      [with().encoded(.utf16)]),
    .read(
      .contentType, "any, and none", "page=2",
      ["text/html", "text/plain", nil].map { with().typed($0) }),
    .read(
      .more, "unknown members; `next` twice", "page=2", note: "the first one is read",
      [with(adding: #""next":"?page=3","x":[{}]"#)]),
    .missing(
      .letterCase, "the name of the member, as `Next`",
      [WireMessage(#"{"Next":"?page=2"}"#, plain: "{}")]),
    .elsewhere(
      .letterCase, "relations and names in a `Link` field", "r", "read", in: "PagingTests"),
    .elsewhere(
      .unneeded, "a fault in a `Link` field after the link", "r", "read", in: "PagingTests"),
    .missing(.number, "a number with a fraction", [with(["next": "1.5"])]),
    .read(
      .number, "a whole number of 2^63 or more", "next https://api.example/9223372036854775808",
      note: "its digits are read", [with(["next": "9223372036854775808"])]),
    .elsewhere(
      .blanks, "in a `Link` field", "r", "read", in: "PagingTests"),
    .elsewhere(.missing, "`next`, `Link`", "m", "there is no next page", in: "PagingTests"),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
