import Testing

@testable import SequencingOAuth

/// The answer that comes through the browser, in a query or as a form.
@Suite struct RedirectSpellingTests: WireReader {
  static let title = "Redirects of sign-ins, in a query or posted"
  static let specification =
    "RFC 6749, section 4.1.2; RFC 9207, section 2.4; RFC 9700, section 4; OAuth 2.0 Form Post "
    + "Response Mode"

  /// Judges a query.
  ///
  /// A redirect that does not answer the sign-in is an error here.
  static func read(_ message: WireMessage) throws(SQOAuthError) -> String {
    let redirect = Redirect(issuer: Redirect.issuer, requiresIssuer: false)
    switch redirect.response("\(redirect.redirectURI)?\(message.text)") {
    case .notAddressed: throw SQOAuthError(.redirectRefused, "it has another address")
    case .wrongState: throw SQOAuthError(.stateMismatch, "it answers no sign-in")
    case .unreadable(let error): throw error
    case .answer(let result):
      let answer = try result.get()
      let more = answer.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      return "code \(answer.code); more \(more.joined(separator: ","))"
    }
  }

  private static let state = "state=\(Redirect.state)"

  /// Returns a query with the right state, a code and further parameters.
  private static func query(_ rest: String) -> WireMessage {
    WireMessage("\(state)&code=abc&\(rest)", plain: "\(state)&code=abc")
  }

  /// Returns a query with the right state and further parameters.
  private static func bare(_ rest: String) -> WireMessage { WireMessage("\(state)&\(rest)") }

  static let rows: [SpellingRow] = [
    .impossible(.null, "a form has texts alone"),
    .read(
      .empty, "a further parameter, or a pair without a name", "code abc;",
      [query("x="), query("x"), query("&&"), query("=")]),
    .refused(
      .empty, "`code`, `error`", .invalidAuthorizationResponse,
      [bare("code="), bare("code"), bare("error="), bare("error=%00")]),
    .refused(.empty, "`iss`", .issuerMismatch, saying: ["\"iss\""], [query("iss=")]),
    .elsewhere(.empty, "`state`", "x", "answers no sign-in; the wait goes on", in: "StateTests"),
    .impossible(.kind, "a form has texts alone"),
    .refused(
      .list, "a known parameter twice", .invalidAuthorizationResponse, saying: ["more than once"],
      [query("code=abc"), query("iss=a&iss=a"), query("error_description=a&error_description=a")]),
    .missing(.list, "a further parameter twice", [query("x=1&x=2"), query("x=1&x=1")]),
    .elsewhere(
      .list, "`state` twice", "x", "answers no sign-in; the wait goes on", in: "StateTests"),
    .missing(
      .encoding, "a further parameter that cannot be decoded",
      [query("x=%E9"), query("x=100%"), query("x=%u00f3"), query("%FF=1")]),
    .refused(
      .encoding, "`code` that cannot be decoded, or is not visible ASCII",
      .invalidAuthorizationResponse, saying: ["the code in the redirect"],
      [bare("code=%E9"), bare("code=a%"), bare("code=%C3%BC"), bare("code=a%00")]),
    .elsewhere(
      .encoding, "`error_description` that cannot be decoded", "r", "read, with marks in its place",
      in: "ErrorAnswerTests"),
    .elsewhere(
      .contentType, "a POST: a form in the body; anything else", "r x",
      "read if the sign-in asked for it; otherwise an error page, and the wait goes on",
      in: "LoopbackRequestTests", "LoopbackRedirectTests"),
    .read(
      .more, "unknown parameters", "code abc; more scope=a b,session_state=1",
      note: "the app gets them", [query("session_state=1&scope=a+b")]),
    .missing(
      .more, "the client's own credentials, which a server sends back",
      [
        query("client_assertion=C4N4RY"), query("client_assertion_type=jwt"),
        query("client_secret=C4N4RY"),
      ]),
    .refused(
      .more, "a token, or a response in a JWT", .invalidAuthorizationResponse,
      saying: ["did not ask for"],
      [query("access_token=C4N4RY"), query("id_token="), query("response=x")]),
    .refused(
      .letterCase, "`Code`; `Error` beside no code", .invalidAuthorizationResponse,
      [bare("Code=abc"), bare("Error=access_denied")]),
    .elsewhere(
      .letterCase, "`State`; letters of `iss`", "x",
      "answers no sign-in; refused: `issuer_mismatch`", in: "StateTests", "IssuerTests"),
    .refused(
      .letterCase, "a code of an error in upper case", .init(rawValue: "ACCESS_DENIED"),
      note: "reported as it is, and not a cancellation", [bare("error=ACCESS_DENIED")]),
    .read(
      .unneeded, "`expires_in`, `error_uri` beside a code", "code abc;",
      [query("expires_in=-1"), query("error_uri=%FF"), query("error_description=%")]),
    .impossible(.number, "a redirect has no numbers that count"),
    .read(.blanks, "inside a code", "code a b;", [bare("code=a+b"), bare("code=a%20b")]),
    .refused(
      .blanks, "around `iss`", .issuerMismatch,
      [query("iss=\(Redirect.issuer)%20"), query("iss=+\(Redirect.issuer)")]),
    .elsewhere(
      .blanks, "around `state`", "x", "answers no sign-in; the wait goes on", in: "StateTests"),
    .read(.missing, "`iss` that was not promised", "code abc;", [query("")]),
    .refused(
      .missing, "`code` and `error`", .invalidAuthorizationResponse,
      saying: ["neither a code nor an error"], [bare("")]),
    .elsewhere(
      .missing, "`iss` that was promised; `state`", "x",
      "refused: `issuer_mismatch`; answers no sign-in", in: "IssuerTests", "StateTests"),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
