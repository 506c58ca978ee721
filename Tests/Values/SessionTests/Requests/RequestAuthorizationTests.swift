import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Requests that an app sends with its own HTTP client, authorized by the SDK.
@Suite("authorization(for:method:)", .timeLimit(.minutes(1))) struct RequestAuthorizationTests {
  private static let invalid: HeaderFields = [
    "WWW-Authenticate": #"Bearer realm="r", error="invalid_token""#
  ]

  private func authorization(
    _ fixture: SessionFixture, _ url: String = "https://api.example/x"
  ) async throws -> RequestAuthorization {
    try await fixture.module.authorization(for: try #require(URL(string: url)), method: "GET")
  }

  @Test func `the fields carry a valid token, and no description shows it`() async throws {
    let fixture = try await SessionFixture().restored()
    let authorization = try await authorization(fixture)
    #expect(authorization.fields["Authorization"] == "Bearer T1")
    #expect("\(authorization)" == "authorization for https://api.example:443")
    #expect(!everyText(of: authorization).contains("T1"))
  }

  @Test func `a server that the app has not allowed gets no fields`() async throws {
    let fixture = try await SessionFixture().restored()
    _ = try await authorization(fixture)
    await failure(.originNotAllowed) {
      try await authorization(fixture, "https://other.example/x")
    }
    await failure(.insecureEndpoint) { try await authorization(fixture, "http://api.example/x") }
  }

  @Test func `twenty requests that were refused with one token cause one refresh`() async throws {
    let fixture = try await SessionFixture().restored()
    let authorization = try await authorization(fixture)
    let renewed = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await authorization.renewed(afterStatus: 401, fields: Self.invalid)?
            .fields["Authorization"]
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(renewed == Array(repeating: "Bearer T2", count: 20))
    #expect(fixture.requests == ["refresh R1"])
  }

  @Test func `if a server refuses a fresh token, the token is not refreshed again at once`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let first = try await authorization(fixture)
    let second = try #require(
      try await first.renewed(afterStatus: 401, fields: Self.invalid))
    #expect(try await second.renewed(afterStatus: 401, fields: Self.invalid) == nil)
    let third = try await authorization(fixture)
    #expect(try await third.renewed(afterStatus: 401, fields: Self.invalid) == nil)
    #expect(fixture.requests == ["refresh R1"])
  }

  /// Another caller may need a newer token while a request with a fresh one is on its way.
  @Test func `a fresh token that was refreshed once more is replaced once more`() async throws {
    let fixture = try await SessionFixture().restored()
    let first = try await authorization(fixture)
    let second = try #require(
      try await first.renewed(afterStatus: 401, fields: Self.invalid))
    try await fixture.module.refresh()
    let third = try #require(
      try await second.renewed(afterStatus: 401, fields: Self.invalid))
    #expect(third.fields["Authorization"] == "Bearer T3")
    try await fixture.module.refresh()
    #expect(
      try await third.renewed(afterStatus: 401, fields: Self.invalid) == nil,
      "a request is sent with three tokens at most")
    #expect(fixture.requests == ["refresh R1", "refresh R2", "refresh R3"])
  }

  @Test(
    arguments: [
      (200, nil), (403, nil), (404, "Bearer"), (503, nil),
      (401, #"Bearer error="invalid_request""#),
      (401, #"Bearer error="insufficient_scope", scope="a""#),
      (403, #"Bearer error="insufficient_scope", scope="a""#),
    ] as [(Int, String?)])
  func `a response that does not reject the token causes no refresh`(
    status: Int, challenge: String?
  ) async throws {
    let fixture = try await SessionFixture().restored()
    var fields = HeaderFields()
    fields["WWW-Authenticate"] = challenge
    let authorization = try await authorization(fixture)
    #expect(try await authorization.renewed(afterStatus: status, fields: fields) == nil)
    #expect(fixture.requests.isEmpty)
    let error = authorization.refusal(status: status, fields: fields)
    #expect((error != nil) == (challenge?.contains("error") == true))
  }

  @Test func `the error of a refusal has the challenge, without the token in it`() async throws {
    let fixture = try await SessionFixture().restored()
    try await fixture.module.adopt(SQToken(accessToken: "secret-token"))
    let error = try await authorization(fixture).refusal(
      status: 401,
      fields: [
        "WWW-Authenticate": #"Bearer error="invalid_token", error_description="secret-token""#
      ])
    #expect(error?.code == .invalidToken && error?.status == 401)
    #expect(error?.challenge?.errorDescription?.contains("secret-token") == false)
  }

  @Test func `after a sign-out, a refused request gets no new token`() async throws {
    let fixture = try await SessionFixture().restored()
    let authorization = try await authorization(fixture)
    try await fixture.module.signOut()
    #expect(try await authorization.renewed(afterStatus: 401, fields: Self.invalid) == nil)
    #expect(fixture.requests.isEmpty)
  }
}
