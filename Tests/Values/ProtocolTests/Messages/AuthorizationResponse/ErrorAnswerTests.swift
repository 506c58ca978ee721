import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct ErrorAnswerTests {
  func refusal(_ query: String) -> SQOAuthError? {
    let redirect = Redirect()
    return redirect.response("\(redirect.redirectURI)?state=\(Redirect.state)&\(query)").error
  }

  @Test(arguments: [
    "invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type",
    "invalid_scope", "server_error", "temporarily_unavailable", "login_required", "my_own-code",
  ])
  func `the error contains the server's error code, description and URI`(code: String) throws {
    let error = try #require(refusal("error=\(code)&error_description=a+b&error_uri=https://x/y"))
    #expect(error.code.rawValue == code)
    #expect(error.response?.error.rawValue == code)
    #expect(error.response?.errorDescription == "a b")
    #expect(error.response?.errorURI == "https://x/y")
  }

  @Test func `only access_denied counts as a cancellation`() {
    #expect(refusal("error=access_denied")?.isCancellation == true)
    #expect(refusal("error=server_error")?.isCancellation == false)
    #expect(refusal("error=not_access_denied")?.isCancellation == false)
    #expect(refusal("error=server_error&error_description=access_denied")?.isCancellation == false)
  }

  /// The SDK's own codes must not steer the app if a server sends them: `cancelled` would look like
  /// the user's decision, and `not_authorized` would end a session.
  @Test(arguments: ["cancelled", "timed_out", "state_mismatch", "store_failed", "not_authorized"])
  func `a server's error with one of the SDK's own codes becomes requestRefused`(code: String)
    throws
  {
    let error = try #require(refusal("error=\(code)"))
    #expect(!error.isCancellation)
    #expect(!error.requiresSignIn && error.code == .requestRefused)
    #expect(error.response?.error.rawValue == code && error.message.contains(code))
  }

  @Test func `an empty error parameter makes the redirect invalid`() {
    #expect(refusal("error=")?.code == .invalidAuthorizationResponse)
  }

  @Test(arguments: ["error=access_denied&code=abc", "code=abc&error=access_denied"])
  func `a redirect with both an error and a code yields the server's error`(query: String) {
    #expect(refusal(query)?.code == .accessDenied)
  }

  @Test func `control characters and direction overrides are removed from all texts`() throws {
    let nasty = "a%0D%0Ab%1B%5B31mc%E2%80%AEd%00e%E2%80%A8f%C2%85g%7F"
    let error = try #require(
      refusal("error=x\(nasty)&error_description=\(nasty)&error_uri=\(nasty)"))
    let texts = [
      error.description, error.message, error.code.rawValue,
      error.response?.errorDescription ?? "", error.response?.errorURI ?? "",
    ]
    for text in texts {
      #expect(!text.unicodeScalars.contains(where: isHarmful), "\(text.debugDescription)")
    }
    #expect(error.response?.errorDescription?.hasPrefix("a b") == true)
  }

  @Test func `a long text is cut at 500 characters`() throws {
    let long = String(repeating: "x", count: 10_000)
    let error = try #require(refusal("error=\(long)&error_description=\(long)&error_uri=\(long)"))
    #expect(error.response?.errorDescription?.count == 500)
    #expect(error.response?.errorURI?.count == 500)
    #expect(error.code.rawValue.count == 500)
    #expect(error.description.count < 2_000)
  }

  /// A server may repeat an ID token hint, a signed request, the nonce or, without a `state`, the
  /// state.
  @Test(arguments: [
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2ln", "eyJhbGciOiJFUzI1NiJ9.eyJzdWIi",
    "%65yJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9", "the-nonce-of-the-request", Redirect.state,
  ])
  func `no text shows a secret of the request that the server repeats`(secret: String) throws {
    var redirect = Redirect()
    redirect.secrets = ["the-nonce-of-the-request"]
    let query = "error=x+\(secret)&error_description=bad+%22\(secret)%22&error_uri=a:\(secret)"
    let answer = redirect.response("\(redirect.redirectURI)?state=\(Redirect.state)&\(query)")
    let error = try #require(answer.error)
    #expect(error.message.contains("bad \"[removed]\""))
    guard case .wrongState(let unbound?) = redirect.response("\(redirect.redirectURI)?\(query)")
    else {
      Issue.record("the redirect has no state")
      return
    }
    for text in [everyText(of: error), everyText(of: unbound), unbound.withoutState] {
      #expect(!text.contains(secret) && !text.contains("eyJ"))
    }
  }

  @Test(arguments: [
    ("introducci%u00f3n", "introducci%u00f3n"), ("100%", "100%"), ("expir%E9", "expir\u{FFFD}"),
  ])
  func `a description that cannot be decoded does not hide the error`(sent: String, shown: String) {
    let error = refusal("error=access_denied&error_description=\(sent)")
    #expect(error?.code == .accessDenied && error?.response?.errorDescription == shown)
  }
}

/// Returns whether a terminal or a log would obey the character instead of showing it.
func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator: true
  default: false
  }
}
