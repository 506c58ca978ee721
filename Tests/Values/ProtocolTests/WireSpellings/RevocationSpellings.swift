/// Responses to revocations.
///
/// The SDK reads only a few parts of them.
struct RevocationSpellings: SpellingSource {
  static let title = "Answers to revocations"
  static let specification = "RFC 7009, section 2.2"

  private static let suite = "RevocationResponseTests"

  static let rows: [SpellingRow] = [
    .elsewhere(.null, "the body of a success", "r", "the token has ended", in: suite),
    .elsewhere(.empty, "the body of a success", "r", "the token has ended", in: suite),
    .elsewhere(
      .kind, "the body of a success; Facebook's `false` or `success`", "r x",
      "the token has ended; refused: `invalid_response`", in: suite),
    .elsewhere(.list, "an `error` that is no text", "x", "refused, by the status", in: suite),
    .elsewhere(
      .encoding, "the body of a success; that of a refusal", "r x",
      "the token has ended; as in the table of errors", in: suite, "ErrorBodySpellingTests"),
    .elsewhere(
      .contentType, "any, and none", "r", "the status counts", in: suite, "ErrorBodySpellingTests"),
    .elsewhere(.more, "the body of a success", "r", "the token has ended", in: suite),
    .elsewhere(
      .letterCase, "a code of an error", "x", "as in the table of errors",
      in: "ErrorBodySpellingTests"),
    .elsewhere(.unneeded, "the body of a success", "r", "the token has ended", in: suite),
    .impossible(.number, "no number is read"),
    .elsewhere(.blanks, "the body of a success", "r", "the token has ended", in: suite),
    .elsewhere(
      .missing, "the body of a success; the `error` of a refusal", "r x",
      "the token has ended; refused, by the status", in: suite),
  ]
}
