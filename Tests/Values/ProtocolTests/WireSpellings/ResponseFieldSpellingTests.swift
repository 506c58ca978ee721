import Foundation
import Testing

@testable import SequencingOAuth

/// The header fields for the delay before a retry, and for the lifetime of a response.
@Suite struct ResponseFieldSpellingTests: WireReader {
  static let title = "`Retry-After`, `Cache-Control` and `Age`"
  static let specification = "RFC 9110, sections 5.3, 5.6.7 and 10.2.3; RFC 9111, section 5.2.2"

  /// Reads the lines of a response's head.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    var headers: HeaderFields = [:]
    for line in message.text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      headers.append(
        .init(
          name: String(parts[0]),
          value: (parts.last.map(String.init) ?? "").trimmingCharacters(in: .whitespaces)))
    }
    let wait = RetryAfter.delay(in: headers, now: Date(timeIntervalSince1970: 784_111_777))
    return "wait \(wait.map { "\($0)" } ?? "-"); fresh \(Int(HTTPFreshness.seconds(headers)));"
  }

  private static func heads(_ texts: String...) -> [WireMessage] {
    texts.map { WireMessage($0, plain: "") }
  }

  static let rows: [SpellingRow] = [
    .impossible(.null, "a field has texts alone"),
    .missing(.empty, "`Retry-After`, `Cache-Control`", heads("Retry-After:", "Cache-Control:")),
    .elsewhere(
      .kind, "`Retry-After` as a word or a date of another form", "m", "counts as missing",
      in: "RetryAfterTests"),
    .elsewhere(
      .kind, "`max-age` as a word", "r", "read as the shortest time, five minutes",
      in: "SigningKeysTests"),
    .read(
      .list, "`Cache-Control` in several fields", "fresh 300;",
      heads(
        "Cache-Control: max-age=900\nCache-Control: no-store",
        "cache-control: no-cache\nCache-Control: max-age=900")),
    .read(
      .list, "`Retry-After` twice", "wait 7.0 seconds;", note: "the first one is read",
      heads("Retry-After: 7\nRetry-After: 9")),
    .missing(.encoding, "digits outside ASCII", heads("Retry-After: \u{661}")),
    .impossible(.contentType, "the fields stand beside it"),
    .read(
      .more, "unknown directives", "fresh 900;",
      heads("Cache-Control: public, max-age=900, stale-if-error=5, x=\"y\"")),
    .read(
      .letterCase, "names of fields and directives", "wait 7.0 seconds; fresh 900;",
      heads("RETRY-AFTER: 7\nCACHE-CONTROL: Max-Age=900")),
    .read(
      .unneeded, "`Expires`, `Pragma`, `ETag`, a broken `Age`", "fresh 900;",
      heads("Expires: never\nPragma: x\nETag: y\nAge: old\nCache-Control: max-age=900")),
    .elsewhere(
      .number, "huge; negative, with a fraction", "r m",
      "cut at a day; `Retry-After` counts as missing", in: "RetryAfterTests", "SigningKeysTests"),
    .read(
      .blanks, "around values and directives", "wait 7.0 seconds; fresh 900;",
      heads("Retry-After:   7  \nCache-Control:  public ,  max-age=900 ")),
    .read(
      .missing, "both", "wait -; fresh 3600;", note: "no wait, and an hour",
      [WireMessage("")]),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
