import Foundation
import Testing

@testable import SequencingOAuth
@testable import TestSupport

@Suite struct QuirksTests {
  @Test func `a missing token type is forgiven by its own switch only`() throws {
    let body = #"{"access_token":"a"}"#
    #expect(try Answer.read(body, quirks: .missingTokenType).tokenType == "Bearer")
    for quirks in [TokenResponseQuirks(), .anyContentType] {
      failure(.invalidResponse) { try Answer.read(body, quirks: quirks) }
    }
    failure(.invalidResponse) { try Answer.read(body, quirks: .formEncoded) }
    failure(.invalidResponse) {
      try Answer.read(#"{"access_token":"a","token_type":"mac"}"#, quirks: .missingTokenType)
    }
  }

  @Test func `another content type is forgiven by its own switch only`() throws {
    #expect(
      try Answer.read(TokenBodyTests.good, type: "text/html", quirks: .anyContentType).accessToken
        == "C4N4RYTOKEN")
    for quirks in [TokenResponseQuirks(), .missingTokenType] {
      failure(.invalidResponse) {
        try Answer.read(TokenBodyTests.good, type: "text/html", quirks: quirks)
      }
    }
    failure(.invalidResponse) {
      try Answer.read("<html></html>", type: "text/html", quirks: .anyContentType)
    }
  }

  @Test func `form encoding is forgiven by its own switch only`() throws {
    let body = "access_token=a%2Bb&expires=5184000"
    let form = "application/x-www-form-urlencoded"
    let token = try Answer.read(body, type: form, quirks: [.formEncoded, .missingTokenType])
    #expect(token.accessToken == "a+b")
    for quirks in [TokenResponseQuirks(), .missingTokenType] {
      failure(.invalidResponse) { try Answer.read(body, type: form, quirks: quirks) }
    }
  }

  @Test(arguments: [200, 400])
  func `a server of forms says what is wrong in one, with any status`(status: Int) {
    let body = "error=bad_verification_code&error_description=It+has+expired."
    let error = failure {
      try Answer.read(
        body, status: status, type: "application/x-www-form-urlencoded", quirks: .formEncoded)
    }
    #expect(error?.code == SQOAuthError.Code(rawValue: "bad_verification_code"))
    #expect(error?.response?.errorDescription == "It has expired.")
    #expect(error?.status == status)
  }

  @Test(arguments: [
    "error=", "access_token=a&error=", "access_token=a&access_token=b", "", "access_token=%zz",
    "access_token=", "access_token=a%0D%0Ab",
  ])
  func `a form is checked as strictly as JSON`(body: String) {
    for type in ["application/x-www-form-urlencoded", "text/plain"] {
      failure {
        try Answer.read(body, type: type, quirks: [.formEncoded, .missingTokenType])
      }
    }
  }
}
