import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// How a module adds its token to a request, and what it says about the token.
@Suite("authenticate(request)", .timeLimit(.minutes(1))) struct AuthenticateTests {
  @Test func `SQOAuth sends and authenticates requests with its module`() async throws {
    let fixture = try await SessionFixture().restored()
    let request = try WebRequest.get("https://api.example/x")
    #expect(try await fixture.oauth.authenticate(request).headers["Authorization"] == "Bearer T1")
    #expect(try await fixture.oauth.send(request).status == 200)
    #expect(fixture.requests == ["GET /x T1"])
  }

  @Test func `a copy of the request gets the token, and the original request does not change`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    var request = WebRequest(
      method: "PUT", url: try #require(URL(string: "https://api.example:8443/a%2Fb?x=1#f")),
      headers: ["X-One": "1", "Accept": "a/b"], body: .bytes(Data("body".utf8)))
    request.timeout = .seconds(7)
    request.maximumResponseBytes = 99
    let copy = try await fixture.module.authenticate(request)
    #expect(request.headers["Authorization"] == nil && request.headers.count == 2)
    #expect(copy.headers.values(for: "Authorization") == ["Bearer T1"])
    #expect(copy.headers["X-One"] == "1" && copy.headers["Accept"] == "a/b")
    #expect(copy.method == "PUT" && copy.url == request.url)
    #expect(copy.timeout == .seconds(7) && copy.maximumResponseBytes == 99)
    guard case .bytes(Data("body".utf8)) = copy.body else {
      Issue.record("the copy has a different body")
      return
    }
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: ["Authorization", "authorization", "AUTHORIZATION", "aUTHORIZATION"])
  func `an existing Authorization field is replaced`(name: String) async throws {
    let fixture = try await SessionFixture().restored()
    var request = try WebRequest.get("https://api.example/")
    request.headers.append(.init(name: name, value: "Basic x"))
    request.headers.append(.init(name: "X", value: "y"))
    request.headers.append(.init(name: name.lowercased(), value: "Bearer old"))
    let copy = try await fixture.module.authenticate(request)
    #expect(copy.headers.values(for: "authorization") == ["Bearer T1"])
    #expect(copy.headers.count == 2)
  }

  @Test(arguments: ["Bearer", "bearer", "BEARER", "bEaReR"])
  func `the scheme is Bearer, however the server spells it`(type: String) async throws {
    let fixture = try SessionFixture()
    fixture.oauth.launchTokenTimerUpdate(with: SQToken(accessToken: "T", tokenType: type))
    let copy = try await fixture.module.authenticate(.get("https://api.example/"))
    #expect(copy.headers["Authorization"] == "Bearer T")
    #expect(fixture.module.authorizationFields == ["Authorization": "Bearer T"])
  }

  @Test func `an expired token is refreshed before it is used`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    let copy = try await fixture.module.authenticate(.get("https://api.example/"))
    #expect(copy.headers["Authorization"] == "Bearer T2" && fixture.requests == ["refresh R1"])
  }

  @Test func `without a usable token, nothing is sent`()
    async throws
  {
    let fixture = try SessionFixture()
    let request = try WebRequest.get("https://api.example/")
    await failure(.notAuthorized) { try await fixture.module.authenticate(request) }
    await failure(.notAuthorized) { try await fixture.module.send(request) }
    fixture.oauth.launchTokenTimerUpdate(
      with: SQToken(accessToken: "T", expirationDate: fixture.clock.now))
    await failure(.notAuthorized) { try await fixture.module.authenticate(request) }
    await failure(.notAuthorized) { try await fixture.module.send(request) }
    #expect(fixture.requests.isEmpty)
  }

  @Test
  func `the module's properties show if the token is valid, due for refresh, expired or cleared`()
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let module = fixture.module
    func known() -> [Bool] {
      [
        module.hasAccessToken, module.isAuthorized, module.validToken != nil,
        module.authorizationFields != nil,
      ]
    }
    #expect(known() == [true, true, true, true])
    #expect(module.authorizationFields == ["Authorization": "Bearer T1"])
    fixture.clock.advance(by: 3570)
    #expect(known() == [true, true, false, false], "to be renewed, and not expired")
    fixture.clock.advance(by: 30)
    #expect(known() == [true, false, false, false], "expired")
    try await module.clearAccessToken()
    #expect(known() == [false, false, false, false])
    #expect(fixture.requests.isEmpty)
  }

  @Test func `an invalidated token is refreshed with its refresh token`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.module.invalidateAccessToken()
    #expect(fixture.module.hasAccessToken && !fixture.module.isAuthorized)
    #expect(fixture.module.validToken == nil && fixture.module.authorizationFields == nil)
    #expect(fixture.memory == "T1 R1")
    let copy = try await fixture.module.authenticate(.get("https://api.example/"))
    #expect(copy.headers["Authorization"] == "Bearer T2" && fixture.refreshes == ["R1"])
    #expect(fixture.module.isAuthorized)
  }

  @Test func `clearAccessToken erases the token in memory and in the store`() async throws {
    let fixture = try await SessionFixture().restored()
    try await fixture.module.clearAccessToken()
    #expect(await fixture.store.content() == nil)
    await failure(.notAuthorized) {
      try await fixture.module.authenticate(.get("https://api.example/"))
    }
    #expect(fixture.requests.isEmpty)
    fixture.store.fails(toErase: true)
    fixture.oauth.launchTokenTimerUpdate(with: SQToken(accessToken: "T"))
    await failure(.storeFailed) { try await fixture.module.clearAccessToken() }
    #expect(!fixture.module.hasAccessToken, "gone in memory whatever the store does")
  }

  @Test func `an app's own authenticator replaces the standard one`() async throws {
    struct Own: ResourceRequestAuthenticator {
      func headerFields(for token: SQToken) -> HeaderFields {
        ["X-Auth": token.accessToken, "X-Kind": token.tokenType]
      }
    }
    let fixture = try await SessionFixture().restored()
    fixture.oauth.environment.requestAuthenticator = Own()
    var request = try WebRequest.get("https://api.example/")
    request.headers["x-auth"] = "old"
    let copy = try await fixture.module.authenticate(request)
    #expect(copy.headers["X-Auth"] == "T1" && copy.headers["X-Kind"] == "Bearer")
    #expect(copy.headers["Authorization"] == nil && copy.headers.values(for: "X-Auth").count == 1)
    #expect(fixture.module.authorizationFields == ["X-Auth": "T1", "X-Kind": "Bearer"])
    fixture.api { _ in WebResponse(status: 200) }
    _ = try await fixture.module.send(request)
    #expect(fixture.apiRequests.last?.headers["X-Auth"] == "T1")
    #expect(fixture.apiRequests.last?.headers["Authorization"] == nil)
  }
}
