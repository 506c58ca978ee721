/// The status of a gRPC call, in the head or in the trailers of its response.
struct CallStatusSpellings: SpellingSource {
  static let title = "The status of gRPC calls"
  static let specification = "gRPC over HTTP/2, “Responses”"

  private static let suite = "AnswerTests"

  static let rows: [SpellingRow] = [
    .impossible(.null, "a field has texts alone"),
    .elsewhere(.empty, "`grpc-status`", "x", "`unknown`", in: suite),
    .elsewhere(.kind, "`grpc-status` that is no number", "x", "`unknown`", in: suite),
    .elsewhere(
      .list, "`grpc-status` in the head and in the trailers", "r", "the trailers count", in: suite),
    .elsewhere(
      .encoding, "`grpc-message` with escapes; bytes that no field may have", "r x",
      "read; the call ends", in: suite, "HeaderRuleTests"),
    .elsewhere(
      .contentType, "`application/grpc…` in any letter case; any other, and none", "r x",
      "read; an error by the HTTP status", in: suite),
    .elsewhere(
      .more, "unknown fields; too many of them", "r x", "metadata; the call ends",
      in: suite, "HeaderRuleTests"),
    .elsewhere(
      .letterCase, "names of fields in upper case", "x", "the call ends", in: "HeaderRuleTests"),
    .elsewhere(
      .unneeded, "heads before the real one", "m", "passed over", in: "HeaderRuleTests"),
    .elsewhere(.number, "negative, or unknown to gRPC", "x", "`unknown`", in: suite),
    .elsewhere(.blanks, "around texts of metadata", "r", "kept", in: "HeaderRuleTests"),
    .elsewhere(.missing, "`grpc-status`", "x", "an error by the HTTP status", in: suite),
  ]
}
