import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct CustomParserTests {
  struct Parser: TokenResponseParser {
    let body: @Sendable (WebResponse, TokenResponseContext) throws -> SQToken
    func token(from response: WebResponse, context: TokenResponseContext) throws -> SQToken {
      try body(response, context)
    }
  }

  struct OwnError: Error, CustomStringConvertible {
    var description: String { "C4N4RY" }
  }

  @Test func `an app's parser may extend the standard parser's result`() throws {
    let parser = Parser { response, context in
      let token = try StandardTokenResponseParser().token(from: response, context: context)
      return SQToken(accessToken: token.accessToken + "!", scope: context.requestedScope)
    }
    let token = try Answer.read(TokenBodyTests.good, parser: parser)
    #expect(token.accessToken == "C4N4RYTOKEN!")
    #expect(token.scope == "asked")
  }

  @Test func `a parser may use the decoded members`() throws {
    struct MembersParser: TokenResponseParser {
      func token(from response: WebResponse, context: TokenResponseContext) -> SQToken {
        SQToken(accessToken: "decoded again")
      }
      func token(
        from response: WebResponse, members: [String: JSONValue]?, context: TokenResponseContext
      ) -> SQToken {
        SQToken(accessToken: members?["access_token"].string ?? "no members")
      }
    }
    let parser = MembersParser()
    #expect(try Answer.read(TokenBodyTests.good, parser: parser).accessToken == "C4N4RYTOKEN")
    #expect(try Answer.read("access_token=a", parser: parser).accessToken == "no members")
  }

  @Test func `a parser's error becomes the cause of an invalidResponse error and is not printed`() {
    let error = failure(.invalidResponse) {
      try Answer.read(TokenBodyTests.good, parser: Parser { _, _ in throw OwnError() })
    }
    #expect(error?.cause is OwnError)
    #expect(error.map { !everyText(of: $0).contains("C4N4RY") } == true)
  }

  @Test func `an SDK error that a parser throws keeps its code`() {
    failure(.insufficientScope) {
      try Answer.read(
        TokenBodyTests.good,
        parser: Parser { _, _ in throw SQOAuthError(.insufficientScope, "too few") })
    }
  }

  @Test(arguments: [(400, "{}"), (302, "{}"), (500, "{}"), (200, #"{"error":"invalid_grant"}"#)])
  func `a parser is not called for failures and OAuth errors`(status: Int, body: String) {
    failure {
      try Answer.read(
        body, status: status,
        parser: Parser { _, _ in
          Issue.record("the parser was called")
          return SQToken(accessToken: "a")
        })
    }
  }
}
