import Testing

@testable import SequencingOAuth

/// The redirect after the user has logged out at the provider.
@Suite struct LogoutRedirectSpellingTests: WireReader {
  static let title = "Redirects of logouts"
  static let specification = "OpenID Connect RP-Initiated Logout 1.0, section 3"

  private static let address = "http://127.0.0.1:51004/out"

  static func read(_ message: WireMessage) async throws(SQOAuthError) -> String {
    let logout = PendingLogout(redirectURI: address, state: "S")
    guard logout.offer("\(address)?\(message.text)") != .notAddressed else {
      throw SQOAuthError(.redirectRefused, "it has another address")
    }
    try await logout.response()
    return "logged out"
  }

  private static func texts(_ queries: String...) -> [WireMessage] {
    queries.map { WireMessage($0) }
  }

  static let rows: [SpellingRow] = [
    .impossible(.null, "a query has texts alone"),
    .read(.empty, "another parameter", "logged out", texts("state=S&x=", "x&state=S", "&&state=S")),
    .refused(.empty, "`state`", .stateMismatch, texts("state=", "state")),
    .impossible(.kind, "a query has texts alone"),
    .refused(.list, "`state` twice", .stateMismatch, texts("state=S&state=S", "state=S&state=x")),
    .read(
      .encoding, "another parameter that cannot be decoded; `state` with escapes", "logged out",
      texts("state=S&x=%E9", "x=100%&state=S", "st%61te=%53")),
    .refused(.encoding, "`state` that cannot be decoded", .stateMismatch, texts("state=S%E9")),
    .impossible(.contentType, "the parameters are in the query"),
    .read(.more, "unknown parameters, also twice", "logged out", texts("x=1&x=2&state=S&sid=a")),
    .refused(
      .letterCase, "`State`; letters of its value", .stateMismatch, texts("State=S", "state=s")),
    .read(
      .unneeded, "an `error`, which the specification does not have", "logged out",
      texts("state=S&error=", "state=S&iss=x")),
    .impossible(.number, "no number is read"),
    .refused(
      .blanks, "around `state`", .stateMismatch, texts("state=S%20", "state=+S", "state =S")),
    .refused(
      .missing, "`state`", .stateMismatch, saying: ["no state or a wrong one"], texts("", "x=1")),
  ]

  @Test(arguments: rows.filter(\.isTested))
  func `each deviation from the specification has the outcome in its table row`(
    row: SpellingRow
  ) async {
    await Self.check(row)
  }
}
