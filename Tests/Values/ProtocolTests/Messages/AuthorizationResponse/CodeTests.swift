import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Which authorization codes are accepted.
@Suite struct CodeTests {
  let redirect = Redirect()

  func judge(_ query: String) -> Redirect.Verdict {
    redirect.judge(query: "state=\(Redirect.state)&\(query)")
  }

  @Test(arguments: [
    ("code=abc", "abc"), ("code=abc==", "abc=="), ("code=a%2Bb", "a+b"), ("code=a/b", "a/b"),
    ("code=a%2Fb", "a/b"), ("code=a+b", "a b"), ("code=a%26b%3Dc", "a&b=c"), ("code=a?b", "a?b"),
    ("code=abc&next=/x?y=z", "abc"), ("next=/x?code=evil&code=abc", "abc"),
    ("code=abc&session_state=1&scope=a+b&authuser=0&prompt=none", "abc"), ("code=%2541", "%41"),
    ("code=4%2F0AX4XfWh-abc.def_ghi~", "4/0AX4XfWh-abc.def_ghi~"),
  ])
  func `a code is form-decoded exactly once`(query: String, code: String) {
    #expect(judge(query) == .code(code))
  }

  @Test func `a fragment after the query is not part of the last value`() {
    #expect(
      redirect.judge("\(redirect.redirectURI)?state=\(Redirect.state)&code=abc#_=_")
        == .code("abc"))
    #expect(
      redirect.judge("\(redirect.redirectURI)?code=abc&state=\(Redirect.state)#") == .code("abc"))
  }

  @Test(arguments: [
    "", "code", "code=", "Code=abc", "codes=abc", "xcode=abc", "code=abc&code=abc",
    "code=abc&code=def", "code=abc&code=", "code=&code=abc", "code=a%00b", "code=a%0D%0Ab",
    "code=%C3%BC", "code=a%7F", "code=abc&%63ode=def",
  ])
  func `a missing, impossible or repeated code is rejected`(query: String) {
    #expect(judge(query) == .refused(.invalidAuthorizationResponse))
  }

  @Test(arguments: ["a%00b", "a%0D%0Ab", "%C3%BC", "a%7F", "%F0%9F%98%80", "C4N4RY%0A"])
  func `an impossible code is reported as malformed, not as missing`(code: String) throws {
    let error = try #require(
      redirect.response("\(redirect.redirectURI)?state=\(Redirect.state)&code=\(code)").error)
    #expect(error.code == .invalidAuthorizationResponse)
    #expect(error.message.contains("malformed") && !error.message.contains("neither"))
    ErrorTextTests.expectSilence(error)
    let missing = try #require(
      redirect.response("\(redirect.redirectURI)?state=\(Redirect.state)&code=").error)
    #expect(missing.message.contains("neither"))
  }

  @Test(arguments: ["x=100%", "x=%E9", "x=introducci%u00f3n", "%=a", "%FF=1&x=%", "scope=a%zz"])
  func `an unused parameter may have any encoding`(query: String) {
    #expect(judge("code=abc&\(query)") == .code("abc"))
    #expect(judge("\(query)&code=abc") == .code("abc"))
  }

  @Test(arguments: ["a%", "a%zzb", "%FF", "%C3"])
  func `a code that cannot be decoded is rejected, and not repaired`(code: String) {
    #expect(judge("code=\(code)") == .refused(.invalidAuthorizationResponse))
  }

  @Test(arguments: ["access_token", "token", "id_token", "refresh_token", "response"])
  func `a token next to a code, or in place of a code, is rejected`(name: String) {
    for value in ["abc", ""] {
      #expect(judge("code=abc&\(name)=\(value)") == .refused(.invalidAuthorizationResponse))
      #expect(judge("\(name)=\(value)") == .refused(.invalidAuthorizationResponse))
      #expect(fragment("\(name)=\(value)") == .refused(.invalidAuthorizationResponse))
    }
  }

  func fragment(_ fragment: String) -> Redirect.Verdict {
    redirect.judge("\(redirect.redirectURI)?state=\(Redirect.state)&code=abc#\(fragment)")
  }

  @Test(arguments: ["access_token=abc&x=%zz", "x=%&id_token=abc", "access_token=%FF"])
  func `a token in a fragment that cannot be decoded is rejected`(text: String) {
    #expect(fragment(text) == .refused(.invalidAuthorizationResponse))
  }

  @Test func `a token next to an error is rejected`() {
    #expect(
      judge("error=access_denied&access_token=abc") == .refused(.invalidAuthorizationResponse))
  }

  @Test(arguments: ["state", "iss", "error", "error_description", "error_uri"])
  func `a redirect that repeats state, iss or an error parameter yields no code`(
    name: String
  ) {
    // Unless the state occurs once, nothing proves that the redirect belongs to the request.
    let expected: Redirect.Verdict =
      name == "state" ? .wrongState : .refused(.invalidAuthorizationResponse)
    #expect(judge("code=abc&\(name)=a&\(name)=a") == expected)
  }

  @Test func `an unknown parameter may be repeated`() {
    #expect(judge("code=abc&x=1&x=2") == .code("abc"))
  }

  @Test func `a printed response does not show its code`() throws {
    let secret = "C4N4RYCODE"
    guard
      case .answer(.success(let response)) = redirect.response(
        "\(redirect.redirectURI)?state=\(Redirect.state)&code=\(secret)")
    else {
      Issue.record("the redirect was refused")
      return
    }
    #expect(!everyText(of: response).contains(secret))
  }
}
