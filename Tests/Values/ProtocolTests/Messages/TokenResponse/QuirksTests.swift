import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct QuirksTests {
  @Test func `a missing token type is accepted only with the quirk missingTokenType`() throws {
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

  @Test func `a content type other than JSON is accepted only with the quirk anyContentType`()
    throws
  {
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

  @Test func `a form is accepted only with the quirk formEncoded`() throws {
    let body = "access_token=a%2Bb&expires=5184000"
    let form = "application/x-www-form-urlencoded"
    let token = try Answer.read(body, type: form, quirks: [.formEncoded, .missingTokenType])
    #expect(token.accessToken == "a+b")
    for quirks in [TokenResponseQuirks(), .missingTokenType] {
      failure(.invalidResponse) { try Answer.read(body, type: form, quirks: quirks) }
    }
  }

  @Test func `scopes are separated by commas only with the quirk commaSeparatedScopes`() throws {
    func scopes(_ scope: String, _ quirks: TokenResponseQuirks) throws -> [String] {
      try Answer.read(
        #"{"access_token":"a","token_type":"bearer","scope":"\#(scope)"}"#, quirks: quirks
      ).scopes
    }
    #expect(try scopes("repo,gist", .commaSeparatedScopes) == ["repo", "gist"])
    #expect(try scopes("repo, gist user", .commaSeparatedScopes) == ["repo", "gist", "user"])
    #expect(try scopes("", .commaSeparatedScopes) == [])
    #expect(try scopes("repo,gist", []) == ["repo,gist"])
  }

  @Test func `each token type of Slack is accepted only with its own quirk`() throws {
    let types: [(String, TokenResponseQuirks)] = [
      ("user", .userTokenType), ("bot", .botTokenType),
    ]
    for (type, quirk) in types {
      let body = #"{"access_token":"a","token_type":"\#(type)"}"#
      #expect(try Answer.read(body, quirks: quirk).tokenType == "Bearer")
      for others in types.map(\.1) where others != quirk {
        failure(.invalidResponse) { try Answer.read(body, quirks: others) }
      }
      failure(.invalidResponse) { try Answer.read(body, quirks: .missingTokenType) }
    }
    for type in ["dpop", "mac", "app", ""] {
      failure(.invalidResponse) {
        try Answer.read(
          #"{"access_token":"a","token_type":"\#(type)"}"#,
          quirks: [.userTokenType, .botTokenType])
      }
    }
  }

  @Test(arguments: ["false", "null", "0", #""true""#, #""false""#, "{}", nil])
  func `with the quirk okMember, only a response whose member ok is true is a success`(ok: String?)
    throws
  {
    let body =
      #"{\#(ok.map { #""ok":\#($0),"# } ?? "")"access_token":"a","token_type":"bearer"}"#
    let error = failure(.invalidResponse) { try Answer.read(body, quirks: .okMember) }
    #expect(error?.message.contains(#""ok": true"#) == true, "\(error?.message ?? "")")
    #expect(try Answer.read(body).accessToken == "a")
    #expect(
      try Answer.read(
        #"{"ok":true,"access_token":"a","token_type":"bearer"}"#, quirks: .okMember
      ).accessToken == "a")
  }

  @Test func `a token inside authed_user is read only with the quirk tokenInAuthedUser`() throws {
    let body =
      #"{"authed_user":{"id":"U1","access_token":"a","token_type":"bearer","refresh_token":"r"}}"#
    let token = try Answer.read(body, quirks: .tokenInAuthedUser)
    #expect(token.accessToken == "a" && token.refreshToken == "r")
    #expect(token.additionalFields["authed_user"] == ["id": "U1"])
    failure(.invalidResponse) { try Answer.read(body) }
    failure(.invalidResponse) {
      try Answer.read(
        #"{"token_type":"bearer","authed_user":{"id":"U1"}}"#, quirks: .tokenInAuthedUser)
    }
  }

  @Test func `the parts of two tokens are never mixed`() throws {
    let user = #""authed_user":{"access_token":"u","token_type":"bearer"}"#
    let both =
      #"{"access_token":"a","token_type":"bearer","refresh_token":"r","scope":"x",\#(user)}"#
    let inside = try Answer.read(both, quirks: .tokenInAuthedUser)
    #expect(
      inside.accessToken == "u" && inside.refreshToken == nil && inside.scope == "asked")
    let app = try Answer.read(both)
    #expect(app.accessToken == "a" && app.refreshToken == "r")
    let own = try Answer.read(
      #"{"token_type":"bearer","refresh_token":"r","scope":"x",\#(user)}"#,
      quirks: .tokenInAuthedUser)
    #expect(own.accessToken == "u" && own.refreshToken == nil && own.scope == "asked")
  }

  @Test(arguments: [200, 400])
  func `an OAuth error in a form is read with status 200 or 400`(status: Int) {
    let body = "error=bad_verification_code&error_description=It+has+expired."
    let error = failure {
      try Answer.read(
        body, status: status, type: "application/x-www-form-urlencoded", quirks: .formEncoded)
    }
    #expect(error?.code == SQOAuthError.Code(rawValue: "bad_verification_code"))
    #expect(error?.response?.errorDescription == "It has expired.")
    #expect(error?.status == status)
  }

  @Test(arguments: ["text/javascript", "text/plain", nil])
  func `a JSON object is not read as a form`(type: String?) throws {
    let token = try Answer.read(
      TokenBodyTests.good, type: type, quirks: [.formEncoded, .anyContentType])
    #expect(token.accessToken == "C4N4RYTOKEN")
    let error = failure(.invalidResponse) {
      try Answer.read(TokenBodyTests.good, type: type, quirks: .formEncoded)
    }
    #expect(error?.message.contains("anyContentType") == true)
  }

  typealias Hint = (body: String, type: String?, words: [String])

  static let hints: [Hint] = [
    (#"{"access_token":"C4N4RY"}"#, "application/json", [#""token_type""#, ".missingTokenType"]),
    (TokenBodyTests.good, "text/plain; charset=utf-8", [#""text/plain""#, ".anyContentType"]),
    (TokenBodyTests.good, nil, ["no content type", ".anyContentType"]),
    ("access_token=C4N4RY", "text/plain", [#""text/plain""#, "form", ".formEncoded"]),
    (
      "access_token=C4N4RY&expires=1", "application/x-www-form-urlencoded",
      ["application/x-www-form-urlencoded", ".formEncoded"]
    ),
    (
      #"{"access_token":"C4N4RY","token_type":"bot"}"#, "application/json",
      [#""bot""#, "TokenResponseParser"]
    ),
    (
      #"{"access_token":"C4N4RY","token_type":"User Access Token"}"#, "application/json",
      [#""User Access Token""#, "TokenResponseParser"]
    ),
    (
      #"{"ok":true,"authed_user":{"access_token":"C4N4RY"}}"#, "application/json",
      [#""authed_user""#, "TokenResponseParser"]
    ),
    (#"{"token":"C4N4RY","type":"x"}"#, "application/json", [#""token", "type""#]),
    ("<html>", "text/html", [#""text/html""#, "check the token endpoint's address"]),
    ("", "application/json", ["is empty (status 200)"]), ("", nil, ["is empty (status 200)"]),
  ]

  @Test(arguments: hints.indices)
  func `the error says what the server sent and which quirk or parser, if any, accepts it`(
    index: Int
  ) {
    let hint = Self.hints[index]
    let error = failure(.invalidResponse) { try Answer.read(hint.body, type: hint.type) }
    let message = error?.message ?? ""
    for words in hint.words { #expect(message.contains(words), "\(message)") }
    #expect(message.contains("address") == (hint.type == "text/html"), "\(message)")
    #expect(!message.contains("C4N4RY") && error?.status == 200)
  }

  @Test func `many member names do not make a long error`() {
    let filler = String(repeating: "x", count: 200)
    let members = (0..<2_000).map { "\"\($0)\(filler)\":1" }
    let error = failure(.invalidResponse) {
      try Answer.read("{\(members.joined(separator: ","))}")
    }
    #expect((error?.message.count ?? 0) < 1_000)
  }

  @Test(arguments: [
    "access_token=a&error=", "access_token=a&x=%zz&x=%E9", "x=1&access_token=a&x=2&y=100%",
  ])
  func `a form is accepted even if an unused field is empty, repeated or badly encoded`(
    body: String
  ) throws {
    let token = try Answer.read(
      body, type: "text/plain", quirks: [.formEncoded, .missingTokenType])
    #expect(token.accessToken == "a")
  }

  @Test(arguments: [
    "error=", "access_token=a&error=x", "access_token=a&access_token=b", "", "access_token=%zz",
    "access_token=a&scope=%zz", "access_token=a&access_token=a",
    "access_token=", "access_token=a%0D%0Ab",
  ])
  func `a form with an error or with a missing, repeated or invalid token or scope is rejected`(
    body: String
  ) {
    for type in ["application/x-www-form-urlencoded", "text/plain"] {
      failure {
        try Answer.read(body, type: type, quirks: [.formEncoded, .missingTokenType])
      }
    }
  }
}
