import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The state of an answer, checked before everything else.
@Suite struct StateTests {
  let redirect = Redirect(issuer: Redirect.issuer, requiresIssuer: true)

  /// Queries that do not contain the request's state exactly once.
  static let wrongStates: [String] = {
    let state = Redirect.state
    return [
      "", "state", "state=", "state=x", "state=\(state)x", "state=x\(state)",
      "state=\(state.dropLast())", "state=\(state.lowercased())", "state=\(state)%20",
      "state=+\(state)", "state=\(state)%00", "State=\(state)", "state%20=\(state)",
      "state=\(state)&state=\(state)", "state=\(state)&state=x", "state=x&state=\(state)",
      "state=\(state)&state=", "state=\(state)&%73tate=x", "sta te=\(state)",
      "state[]=\(state)", "amp;state=\(state)",
    ]
  }()

  @Test(arguments: wrongStates)
  func `a code with a wrong, missing or repeated state does not answer this sign-in`(state: String)
  {
    #expect(redirect.judge(query: "code=abc&iss=\(Redirect.issuer)&\(state)") == .wrongState)
    #expect(redirect.judge(query: "\(state)&code=abc&iss=\(Redirect.issuer)") == .wrongState)
  }

  @Test(arguments: wrongStates)
  func `an error with a wrong, missing or repeated state does not end the sign-in`(state: String) {
    #expect(
      redirect.judge(query: "error=access_denied&iss=\(Redirect.issuer)&\(state)") == .wrongState)
  }

  @Test(arguments: [
    "iss=https%3A%2F%2Fevil.example&code=abc", "access_token=abc&token_type=bearer",
    "code=a&code=b", "error=a&error=b", "",
  ])
  func `a wrong state is reported before anything else that is wrong`(query: String) {
    #expect(redirect.judge(query: "state=wrong&\(query)") == .wrongState)
    #expect(redirect.judge(query: query) == .wrongState)
  }

  @Test func `a state in the fragment is ignored`() {
    #expect(
      redirect.judge("\(redirect.redirectURI)?code=abc#state=\(Redirect.state)") == .wrongState)
  }

  @Test func `the right state is accepted, percent-encoded or not`() {
    let open = Redirect()
    let escaped = Redirect.state.utf8.map { "%" + String($0, radix: 16) }.joined()
    #expect(open.judge(query: "code=abc&state=\(Redirect.state)") == .code("abc"))
    #expect(open.judge(query: "code=abc&state=\(escaped)") == .code("abc"))
  }

  @Test(arguments: ["%", "code=%", "code=%zz", "code=a%2", "code=%FF"])
  func `a query that cannot be decoded is not accepted`(query: String) {
    #expect(
      Redirect().judge(query: "\(query)&state=\(Redirect.state)")
        == .refused(.invalidAuthorizationResponse))
  }
}
