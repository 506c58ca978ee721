import Foundation
import OAuthSandbox
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// How an independent server handles valid, missing, expired and revoked tokens.
@Suite(.requires(.nginx), .timeLimit(.minutes(2))) struct NginxTokenTests {
  @Test func `a valid token gets access with one request`() async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data("hello".utf8), "files/a.txt")
      let response = try await fixture.module.send(fixture.request("GET", "/files/a.txt"))
      #expect(response.status == 200 && response.body == Data("hello".utf8))
      #expect(response.headers["Content-Type"] == "text/plain")
      #expect(try await fixture.log() == ["GET /files/a.txt 200"])
      let token = try #require(fixture.module.currentToken?.accessToken)
      #expect(fixture.sandbox.bearerTokens(at: .me) == [token: 1])
    }
  }

  @Test func `without a token nothing is sent`() async throws {
    try await NginxFixture.running(isSignedIn: false) { fixture in
      let error = try await fixture.failure(fixture.request("GET", "/files/a.txt"))
      #expect(error?.code == .notAuthorized)
      #expect(try await fixture.nginx.requests().isEmpty && fixture.sandbox.requests.isEmpty)
      // nginx would have rejected a request without a token.
      let response = try await fixture.client.send(fixture.request("GET", "/files/a.txt"))
      #expect(response.status == 401)
      let metadata = "\(fixture.sandbox.issuer)/.well-known/oauth-protected-resource"
      #expect(
        response.headers.values(for: "WWW-Authenticate")
          == [#"Bearer realm="sandbox", resource_metadata="\#(metadata)""#])
      #expect(try await fixture.log() == ["GET /files/a.txt 401 without a token"])
    }
  }

  @Test func `a revoked token is refreshed once and the request repeated once`() async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data("hello".utf8), "files/a.txt")
      let old = try #require(fixture.module.currentToken?.accessToken)
      try await fixture.revokeAccessToken()
      #expect(try await fixture.module.send(fixture.request("GET", "/files/a.txt")).status == 200)
      #expect(try await fixture.log() == ["GET /files/a.txt 401", "GET /files/a.txt 200"])
      #expect(fixture.refreshes.map { $0.form("grant_type") } == ["refresh_token"])
      let new = try #require(fixture.module.currentToken?.accessToken)
      #expect(fixture.sandbox.bearerTokens(at: .me) == [old: 1, new: 1])
    }
  }

  @Test func `after all tokens were revoked there is one request, one refresh and an error`()
    async throws
  {
    try await NginxFixture.running { fixture in
      fixture.sandbox.revokeEverything()
      for code in [SQOAuthError.Code.invalidGrant, .notAuthorized] {
        let error = try await fixture.failure(fixture.request("GET", "/files/a.txt"))
        #expect(error?.code == code && error?.requiresSignIn == true)
      }
      #expect(try await fixture.log() == ["GET /files/a.txt 401"])
      #expect(fixture.refreshes.count == 1 && !fixture.module.hasAccessToken)
    }
  }

  @Test(arguments: NginxFixture.Way.allCases)
  func `64 callers with an expired token share one refresh`(
    way: NginxFixture.Way
  ) async throws {
    try await NginxFixture.running { fixture in
      try fixture.write(Data("hello".utf8), "files/a.txt")
      fixture.sandbox.expireAccessTokens()
      let request = try fixture.request("GET", "/files/a.txt", way)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<64 {
          group.addTask { try await fixture.module.send(request).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 200, count: 64))
      #expect(fixture.refreshes.count == 1)
      let requests = try await fixture.nginx.requests()
      #expect(requests.count { $0.status == 200 } == 64)
      #expect((1...64).contains(requests.count { $0.status == 401 }))
      #expect(requests.allSatisfy { $0.isAuthorized && $0.isComplete })
    }
  }

  @Test func `a token with too little scope is not refreshed, and the challenge is reported`()
    async throws
  {
    try await NginxFixture.running(asking: .files, scope: "profile") { fixture in
      let error = try await fixture.failure(fixture.request("GET", "/files/a.txt"))
      #expect(error?.code == .insufficientScope && error?.status == 403)
      #expect(error?.challenge?.scope == "demo" && error?.challenge?.realm == "sandbox")
      #expect(try await fixture.log() == ["GET /files/a.txt 403"])
      #expect(fixture.refreshes.isEmpty)
    }
  }

  @Test func `a failing server does not affect the token`() async throws {
    try await NginxFixture.running { fixture in
      let response = try await fixture.module.send(fixture.request("GET", "/busy/"))
      #expect(response.status == 503 && response.headers["Retry-After"] == "7")
      // nginx can no longer validate tokens at the sandbox.
      await fixture.sandbox.stop()
      #expect(try await fixture.module.send(fixture.request("GET", "/files/")).status == 500)
      #expect(try await fixture.log() == ["GET /busy/ 503", "GET /files/ 500"])
      #expect(fixture.module.isAuthorized)
    }
  }

  @Test func `a sandbox behind an nginx proxy accepts the token`() async throws {
    try await NginxFixture.running { fixture in
      let response = try await fixture.module.send(fixture.request("GET", "/sandbox/api/me"))
      #expect(response.status == 200)
      let json = String(decoding: response.body, as: UTF8.self)
      #expect(json.contains(#""user_name":"alice""#), "\(json)")
    }
  }
}
