import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// The issuer of every answer is compared as a string, after form-decoding.
@Suite struct IssuerTests {
  static let wrongIssuers = [
    "https://honest.as.example1", "https://honest.as.example/", "https://honest.as.example/1",
    "https://honest.as.exampl", "https://HONEST.as.example", "HTTPS://honest.as.example",
    "http://honest.as.example", "https://honest.as.example:443", "https://honest.as.example?",
    "https://honest.as.example%23", "https%3A%2F%2Fhonest.as.example%252F", "", " ",
    "%20https://honest.as.example", "https://honest.as.example%20", "https://evil.example",
    "https://honest%252Eas.example", "https://user@honest.as.example",
    "https://honest.as.example%00", "honest.as.example",
  ]

  func judge(_ query: String, promised: Bool, known: Bool = true) -> Redirect.Verdict {
    Redirect(issuer: known ? Redirect.issuer : nil, requiresIssuer: promised)
      .judge(query: "\(query)&state=\(Redirect.state)")
  }

  @Test(arguments: wrongIssuers, [true, false])
  func `an issuer that differs in any character is rejected`(issuer: String, promised: Bool) {
    for kind in ["code=abc", "error=access_denied", "error=server_error"] {
      #expect(
        judge("\(kind)&iss=\(issuer)", promised: promised) == .refused(.issuerMismatch), "\(kind)")
    }
  }

  @Test(arguments: [true, false])
  func `the right issuer is accepted, encoded or not`(promised: Bool) {
    for issuer in ["https://honest.as.example", "https%3A%2F%2Fhonest.as.example"] {
      #expect(judge("code=abc&iss=\(issuer)", promised: promised) == .code("abc"))
      #expect(
        judge("error=access_denied&iss=\(issuer)", promised: promised) == .refused(.accessDenied))
    }
  }

  @Test(arguments: ["code=abc", "code=", "", "Error=access_denied"])
  func `a response without the promised iss parameter is rejected`(query: String) {
    #expect(judge(query, promised: true) == .refused(.issuerMismatch))
  }

  /// An error response ends the sign-in without a token request, so the client may show the
  /// server's reason.
  @Test(arguments: ["access_denied", "server_error", "my_own_code"])
  func `if an error response lacks the promised iss, the error keeps the code and mentions iss`(
    code: String
  )
    throws
  {
    let redirect = Redirect(issuer: Redirect.issuer, requiresIssuer: true)
    let address = "\(redirect.redirectURI)?state=\(Redirect.state)&error=\(code)"
    for query in ["", "&error_description=why", "&code=abc"] {
      let error = try #require(redirect.response(address + query).error)
      #expect(error.code.rawValue == code && error.response?.error.rawValue == code)
      #expect(error.isCancellation == (code == "access_denied"))
      #expect(error.message.contains("\"iss\""))
    }
    let full = try #require(redirect.response(address + "&iss=\(Redirect.issuer)").error)
    #expect(full.code.rawValue == code && !full.message.contains("\"iss\""))
  }

  @Test func `a response without iss is accepted if the metadata does not announce iss`() {
    #expect(judge("code=abc", promised: false) == .code("abc"))
    #expect(judge("error=access_denied", promised: false) == .refused(.accessDenied))
  }

  @Test(arguments: ["https://honest.as.example", "https://evil.example"])
  func `a repeated issuer is rejected, with any second value`(second: String) {
    for query in ["code=abc", "error=access_denied"] {
      for pair in [(Redirect.issuer, second), (second, Redirect.issuer)] {
        let verdict = judge("\(query)&iss=\(pair.0)&iss=\(pair.1)", promised: true)
        #expect(verdict == .refused(.invalidAuthorizationResponse), "\(query) \(pair)")
      }
    }
  }

  /// Swift's `==` takes U+212A, the kelvin sign, for the letter K.
  @Test func `an issuer with different characters that Unicode treats as equal is rejected`() {
    let redirect = Redirect(issuer: "https://id.example/K", requiresIssuer: true)
    #expect(
      redirect.judge(query: "code=abc&iss=https://id.example/%E2%84%AA&state=\(Redirect.state)")
        == .refused(.issuerMismatch))
  }

  @Test func `an issuer with the same letters in a different Unicode form is rejected`() {
    let redirect = Redirect(issuer: "https://caf\u{E9}.example", requiresIssuer: true)
    #expect(
      redirect.judge(query: "code=abc&iss=https://cafe%CC%81.example&state=\(Redirect.state)")
        == .refused(.issuerMismatch))
    #expect(
      redirect.judge(query: "code=abc&iss=https://caf%C3%A9.example&state=\(Redirect.state)")
        == .code("abc"))
  }

  @Test func `an issuer in the fragment is ignored`() {
    let redirect = Redirect(issuer: Redirect.issuer, requiresIssuer: true)
    let address = "\(redirect.redirectURI)?code=abc&state=\(Redirect.state)"
    #expect(redirect.judge("\(address)#iss=\(Redirect.issuer)") == .refused(.issuerMismatch))
    for issuer in [Redirect.issuer, "https://evil.example"] {
      #expect(redirect.judge("\(address)&iss=\(Redirect.issuer)#iss=\(issuer)") == .code("abc"))
    }
  }
}
