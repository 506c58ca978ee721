import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// The content of an API's rejection, which the caller gets with the error.
@Suite(.timeLimit(.minutes(1))) struct RefusalContentTests {
  static let problem = #"{"title":"Payment required first","code":17}"#

  /// Returns a session whose API rejects every request with these fields and this content.
  func fixture(
    _ challenge: String? = SendTests.invalid, status: Int = 401, content: String = problem
  ) async throws -> SessionFixture {
    let fixture = try await SessionFixture().restored()
    var headers: HeaderFields = ["Content-Type": "application/problem+json", "X-Request-ID": "r1"]
    headers["WWW-Authenticate"] = challenge
    let answer = WebResponse(status: status, headers: headers, body: Data(content.utf8))
    fixture.api { _ in answer }
    return fixture
  }

  @Test(arguments: [
    (401, SendTests.invalid), (401, nil), (401, #"Basic realm="x""#),
    (401, #"Bearer error="invalid_request""#), (403, #"Bearer error="insufficient_scope""#),
  ])
  func `the error has the status, the fields and the content of the API's response`(
    status: Int, challenge: String?
  ) async throws {
    let fixture = try await fixture(challenge, status: status)
    let error = await failure { try await fixture.module.send(.get("https://api.example/x")) }
    let response = try #require(error?.resourceResponse)
    #expect(response.status == status && error?.status == status)
    #expect(response.headers["X-Request-ID"] == "r1")
    #expect(response.headers["WWW-Authenticate"] == challenge)
    #expect(response.body == Data(Self.problem.utf8))
  }

  @Test func `after a refresh, the error has the response to the repeated request`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.api { request in
      let token = request.headers["Authorization"] ?? ""
      return WebResponse(status: 401, body: Data("no \(token)".utf8))
    }
    let error = await failure(.invalidToken) {
      try await fixture.oauth.send(.get("https://api.example/x"))
    }
    #expect(error?.resourceResponse?.body == Data("no Bearer T2".utf8))
    // A token that the API repeats is in the content, but in no text of the error.
    #expect(error.map { !everyText(of: $0).contains("T2") } ?? false)
  }

  @Test(arguments: [
    (SQOAuthError.maximumContentBytes, SQOAuthError.maximumContentBytes),
    (SQOAuthError.maximumContentBytes + 1, SQOAuthError.maximumContentBytes), (0, 0),
  ])
  func `the content in the error is cut off at a size limit`(sent: Int, kept: Int) async throws {
    let fixture = try await fixture(content: String(repeating: "x", count: sent))
    let error = await failure { try await fixture.module.send(.get("https://api.example/x")) }
    #expect(error?.resourceResponse?.body.count == kept)
  }

  @Test func `no text of a refusal's error contains the API's response`() async throws {
    let fixture = try await fixture(content: "C4N4RY")
    fixture.api { _ in
      WebResponse(
        status: 401, headers: ["Set-Cookie": "C4N4RY", "C4N4RY": "a"], body: Data("C4N4RY".utf8))
    }
    let error = try #require(
      await failure { try await fixture.module.send(.get("https://api.example/x")) })
    #expect(error.resourceResponse?.headers["Set-Cookie"] == "C4N4RY")
    #expect(!everyText(of: error).contains("C4N4RY"))
    #expect(!everyText(of: Result<Int, SQOAuthError>.failure(error)).contains("C4N4RY"))
  }

  @Test func `an error of the token endpoint has no response of the API`() async throws {
    let fixture = try await fixture()
    fixture.server.always(ScriptedTransport.json(#"{"error":"server_error"}"#, status: 500))
    let error = await failure(.serverError) {
      try await fixture.module.send(.get("https://api.example/x"))
    }
    #expect(error?.resourceResponse == nil && error?.status == 500)
  }

  @Test func `a pipe's error has the status, the fields and the content of the API's response`()
    async throws
  {
    let fixture = try await PipeFixture()
      .answering(Self.problem, status: 401, headers: ["X-Request-ID": "r1"])
    let error = await pipeFailure { () async throws(PipeError) in try await fixture.pipe.read() }
    #expect(error?.refusal?.status == 401)
    #expect(error?.refusal?.head.headers["X-Request-ID"] == "r1")
    #expect(error?.refusal?.body == Data(Self.problem.utf8))
  }
}
