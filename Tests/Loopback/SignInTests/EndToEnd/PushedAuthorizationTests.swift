import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Pushed authorization requests at a server that accepts nothing else (RFC 9126).
@Suite("End to end: pushed requests", .timeLimit(.minutes(1))) struct EndToEndPushedTests {
  private func fixture() async throws -> SandboxFixture {
    var options = SandboxOptions()
    options.requiresPushedAuthorizationRequests = true
    return try await SandboxFixture(options)
  }

  @Test(arguments: ["http://127.0.0.1/callback", "com.example.sandbox:/callback"])
  func `a user signs in, and the browser's URL has only client_id and request_uri`(
    redirectURI: String
  ) async throws {
    let fixture = try await fixture().register(redirectURI: redirectURI)
    let token = try await fixture.oauth.signIn()
    #expect(fixture.sandbox.isActive(token.accessToken))
    let push = try #require(fixture.sandbox.requests(to: .pushedAuthorization).first)
    #expect(push.form("code_challenge_method") == "S256" && push.form("request_uri") == nil)
    let authorize = try #require(fixture.sandbox.requests(to: .authorization).first)
    #expect(authorize.query.map(\.name) == ["client_id", "request_uri"])
    #expect(fixture.sandbox.requests(to: .pushedAuthorization).count == 1)
  }

  @Test func `each sign-in pushes its own request`() async throws {
    let fixture = try await fixture().register()
    _ = try await fixture.oauth.signIn()
    _ = try await fixture.oauth.signIn()
    let pushes = fixture.sandbox.requests(to: .pushedAuthorization)
    #expect(pushes.count == 2)
    for name in ["state", "code_challenge"] {
      #expect(Set(pushes.map { $0.form(name) }).count == 2, "\(name)")
    }
  }

  @Test(arguments: ["http://127.0.0.1/callback", "com.example.sandbox:/callback"])
  func `after invalid_request_uri, the request is pushed again`(redirectURI: String) async throws {
    let fixture = try await fixture().register(redirectURI: redirectURI)
    fixture.sandbox.misbehave(at: .authorization, .errorRedirect("invalid_request_uri"))
    let token = try await fixture.oauth.signIn()
    #expect(fixture.sandbox.isActive(token.accessToken))
    #expect(fixture.sandbox.requests(to: .pushedAuthorization).count == 2)
    #expect(fixture.sandbox.requests(to: .authorization).count == 2)
    #expect(fixture.tokenRequests.count == 1)
  }

  @Test func `a server that requires PAR refuses a plain authorization request`() async throws {
    let fixture = try await fixture().register(byHand: true)
    let error = await failure(.signInRefused) { try await fixture.oauth.signIn() }
    #expect(error?.message.contains("only pushed authorization requests") == true)
    #expect(fixture.sandbox.requests(to: .authorization).count == 1)
    #expect(fixture.tokenRequests.isEmpty)
  }

  @Test
  func `a request_uri is refused if it was used, has expired or comes with another parameter`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    func push() async throws -> URL {
      var request = WebRequest(
        method: "POST", url: sandbox.issuer.appending(path: "par"),
        headers: ["Content-Type": "application/x-www-form-urlencoded"])
      let challenge = String(repeating: "a", count: 43)
      request.body = .bytes(
        Data(
          ("client_id=sandbox-app&response_type=code&redirect_uri=com.example.sandbox:/callback"
            + "&scope=demo&state=x&code_challenge_method=S256&code_challenge=\(challenge)").utf8))
      let answer = try await CurlTransport.shared.send(request)
      #expect(answer.status == 201)
      let members = try JSONDecoder().decode([String: JSONValue].self, from: answer.body)
      let reference = try #require(members["request_uri"]?.string)
      return sandbox.issuer.appending(path: "authorize").appending(queryItems: [
        URLQueryItem(name: "client_id", value: "sandbox-app"),
        URLQueryItem(name: "request_uri", value: reference),
      ])
    }
    func page(_ url: URL) async throws -> String {
      String(
        decoding: try await CurlTransport.shared.send(WebRequest(url: url)).body, as: UTF8.self)
    }
    let over = "This link is no longer valid"
    let first = try await push()
    #expect(try await !page(first).contains(over))
    #expect(try await page(first).contains(over), "used twice")
    let extended = try await push().appending(queryItems: [URLQueryItem(name: "scope", value: "x")])
    #expect(try await page(extended).contains(over), "another parameter")
    let old = try await push()
    sandbox.advance(by: .seconds(61))
    #expect(try await page(old).contains(over), "expired")
    await sandbox.stop()
  }
}
