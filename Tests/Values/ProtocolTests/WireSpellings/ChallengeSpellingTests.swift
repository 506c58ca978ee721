import Testing

@testable import SequencingOAuth

/// The header field that says why an API rejected a token.
@Suite struct ChallengeSpellingTests: WireReader {
  static let title = "Challenges of APIs"
  static let specification = "RFC 6750, section 3; RFC 9110, sections 11.2 to 11.6.1"

  /// Describes the challenge of a response.
  ///
  /// A missing challenge is an error here.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let response = WebResponse(status: 401, headers: ["WWW-Authenticate": message.text])
    guard let challenge = response.tokenChallenge else {
      throw SQOAuthError(.invalidToken, "there is no challenge")
    }
    return "error \(challenge.error?.rawValue ?? "-"); scope \(challenge.scope ?? "-"); "
      + "realm \(challenge.realm ?? "-")"
  }

  private static let plain = #"Bearer realm="r""#

  private static func fields(_ texts: String...) -> [WireMessage] {
    texts.map { WireMessage($0, plain: plain) }
  }

  static let rows: [SpellingRow] = [
    .impossible(.null, "a field has texts alone"),
    .missing(.empty, "`error`", fields(#"Bearer realm="r", error="""#)),
    .read(
      .empty, "`scope`, `realm`", "error invalid_token;",
      fields(#"Bearer error="invalid_token", scope="", realm="""#)),
    .refused(
      .empty, "the field", .invalidToken, note: "there is no challenge", fields("", " ", ",")),
    .impossible(.kind, "a field has texts alone"),
    .read(
      .list, "several challenges in one field", "error invalid_token;",
      fields(
        #"Basic realm="b", Bearer error="invalid_token""#,
        #"Bearer realm="r", Bearer error="invalid_token""#)),
    .refused(
      .list, "a parameter twice", .invalidToken, note: "the challenge is skipped",
      fields("Bearer error=invalid_token, error=insufficient_scope")),
    .read(
      .encoding, "letters outside ASCII in a quoted text", "error invalid_token;",
      fields(#"Bearer error="invalid_token", error_description="é""#)),
    .missing(.encoding, "such letters in `scope`", fields(#"Bearer realm="r", scope="é""#)),
    .elsewhere(
      .encoding, "control characters, folded lines", "r", "removed from the texts; read as a blank",
      in: "TokenChallengeTests", "ChallengeGrammarTests"),
    .elsewhere(
      .contentType, "the refusal's content", "r", "not read for the challenge; the app gets it",
      in: "RefusalContentTests"),
    .elsewhere(
      .more, "unknown parameters, other schemes; more than 16 fields or 8 KiB", "r m",
      "read or skipped", in: "TokenChallengeTests", "ChallengeGrammarTests"),
    .read(
      .letterCase, "the scheme and the names of parameters", "error invalid_token;",
      fields("BEARER error=invalid_token", #"bearer Error="invalid_token""#)),
    .read(
      .letterCase, "a code", "error INVALID_TOKEN;", note: "read as another code",
      fields(#"Bearer error="INVALID_TOKEN""#)),
    .read(
      .unneeded, "a fault after the parameters that count", "error invalid_token;",
      fields(
        #"Bearer error="invalid_token", error_description="a "b" c""#,
        #"Bearer error="invalid_token", x"#, #"Bearer error="invalid_token", realm="#)),
    .impossible(.number, "no number is read"),
    .read(
      .blanks, "around `=` and commas, and at the ends", "error invalid_token;",
      fields(#"  Bearer   error = "invalid_token" ,scope="a"  "#, ",, Bearer error=invalid_token,")),
    .read(
      .missing, "all parameters", "error -;", note: "a request without a token", fields("Bearer")),
    .elsewhere(
      .missing, "the field", "m", "the error has no challenge; a 401 is one all the same",
      in: "TokenChallengeTests", "SendTests"),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
