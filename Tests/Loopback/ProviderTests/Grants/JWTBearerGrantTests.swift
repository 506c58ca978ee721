import Foundation
import OAuthSandbox
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// Tokens for an assertion that the client signs (RFC 7523, section 2.1), at a sandbox.
@Suite(.timeLimit(.minutes(2))) struct JWTBearerGrantTests {
  @Test func `a service gets a token in its own name and renews it`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account()
    let token = try await account.requestAccessToken(asserting: JWTAssertion(), scope: "demo")
    #expect(token.scopes == ["demo"] && token.refreshToken == nil)
    let request = try client.last()
    #expect(request.form("grant_type") == JWTAssertion.grantType)
    #expect(request.form("scope") == "demo")
    let claims = try client.claims(of: "assertion", in: request)
    #expect(claims["iss"]?.string == KeyedClientFixture.id && claims["sub"] == claims["iss"])
    #expect(try client.claims(in: request)["jti"] != claims["jti"])
    client.clock.advance(by: 3600)
    let next = try await account.token()
    #expect(next.accessToken != token.accessToken)
    let later = try client.claims(of: "assertion", in: client.last())
    #expect(later["jti"] != claims["jti"])
  }

  @Test(arguments: [1e300, -1e300, 7200])
  func `a decoded lifetime is limited to between 0 and 3600 seconds`(seconds: Double) throws {
    let assertion = try JSONDecoder().decode(
      JWTAssertion.self, from: Data("{\"lifetime\":\(seconds)}".utf8))
    #expect(assertion.lifetime == .seconds(seconds < 0 ? 0 : 3600))
  }

  /// Property lists, for example, have numbers that JSON does not have.
  @Test(arguments: [("infinite", 3600), ("minus", 0), ("none", nil)] as [(String, Int?)])
  func `a decoded lifetime of infinity is limited, and NaN is refused`(
    text: String, seconds: Int?
  ) throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "infinite", negativeInfinity: "minus", nan: "none")
    let document = Data(#"{"lifetime":"\#(text)"}"#.utf8)
    if let seconds {
      let assertion = try decoder.decode(JWTAssertion.self, from: document)
      #expect(assertion.lifetime == .seconds(seconds))
    } else {
      #expect(throws: DecodingError.self) {
        try decoder.decode(JWTAssertion.self, from: document)
      }
    }
  }

  @Test func `a service gets a token and an ID token for a user`() async throws {
    let client = try await KeyedClientFixture { $0.issuesRefreshTokens = false }
    let account = try client.account()
    let token = try await account.requestAccessToken(
      asserting: JWTAssertion(subject: "bob"), scope: "openid demo")
    #expect(token.idToken?.subject == SandboxUser.bob.subject)
    client.clock.advance(by: 3600)
    #expect(try await account.token().idToken?.subject == SandboxUser.bob.subject)
    #expect(client.signed("assertion").count == 2)
    let error = await failure(.invalidGrant) {
      try await account.requestAccessToken(asserting: JWTAssertion(subject: "nobody"))
    }
    let sent = try #require(try client.last().form("assertion"))
    if let error { #expect(!everyText(of: error).contains(sent)) }
  }

  @Test func `a second process with the same store renews the token with the same claims`()
    async throws
  {
    var client = try await KeyedClientFixture { $0.issuesRefreshTokens = false }
    let folder = try TemporaryFolder()
    let store = FileTokenStore(path: folder.file("tokens"))
    client.environment.tokenStore = store
    let assertion = JWTAssertion(
      subject: "alice", lifetime: .seconds(10), additionalClaims: ["department": ["a", 1, .null]])
    try await client.account().requestAccessToken(asserting: assertion, scope: "demo")
    let text = try String(contentsOfFile: folder.file("tokens"), encoding: .utf8)
    #expect(!text.contains(try #require(try client.last().form("assertion"))))
    client.clock.advance(by: 3600)
    client.environment.tokenStore = FileTokenStore(path: folder.file("tokens"))
    let other = try client.account()
    _ = try await other.token()
    let requests = client.signed("assertion")
    #expect(requests.count == 2)
    let claims = try requests.map { try client.claims(of: "assertion", in: $0) }
    #expect(claims.map { $0["sub"]?.string } == ["alice", "alice"])
    #expect(claims.map { $0["department"] } == [["a", 1, .null], ["a", 1, .null]])
    #expect(claims[1]["exp"]?.integer.map { $0 - (claims[1]["iat"]?.integer ?? 0) } == 70)
  }

  @Test func `a public client sends the assertion without client authentication`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account(client.configuration(authentication: .publicClient))
    try await account.requestAccessToken(asserting: JWTAssertion(), scope: "demo")
    let request = try client.last()
    #expect(Set(request.form.map(\.name)) == ["grant_type", "assertion", "scope"])
    #expect(request.header("authorization") == nil)
  }

  /// A public client, as at Google, proves itself only by the assertion.
  @Test func `if the clock is wrong, the assertion is sent again with the server's time`()
    async throws
  {
    let client = try await KeyedClientFixture()
    client.sandbox.advance(by: .seconds(600))
    let account = try client.account(client.configuration(authentication: .publicClient))
    let token = try await account.requestAccessToken(asserting: JWTAssertion(), scope: "demo")
    let claims = try client.signed("assertion").map { try client.claims(of: "assertion", in: $0) }
    let times = try claims.map { try #require($0["iat"]?.integer) }
    #expect(times.count == 2 && times[1] - times[0] >= 590 && claims[0]["jti"] != claims[1]["jti"])
    // The clock of one of the two machines is moved again before the token is renewed.
    client.sandbox.advance(by: .seconds(1200))
    client.clock.advance(by: 3600)
    #expect(try await account.token() != token)
    #expect(client.signed("assertion").count == 4)
  }

  @Test func `a refused assertion is sent once if the clocks agree or differ by more than a day`()
    async throws
  {
    let client = try await KeyedClientFixture()
    let account = try client.account(client.configuration(authentication: .publicClient))
    await failure(.invalidGrant) {
      try await account.requestAccessToken(asserting: JWTAssertion(subject: "nobody"))
    }
    #expect(client.signed("assertion").count == 1)
    client.sandbox.advance(by: .seconds(90_000))
    await failure(.invalidGrant) {
      try await account.requestAccessToken(asserting: JWTAssertion())
    }
    #expect(client.signed("assertion").count == 2)
  }

  /// The assertion is like that of a Google service account, which has the scope as a claim.
  @Test func `the default claims of an assertion can be replaced or omitted`() async throws {
    let client = try await KeyedClientFixture(.rs256)
    let account = try client.account(client.configuration(authentication: .publicClient))
    var assertion = JWTAssertion(
      issuer: "service@project.example", audience: "https://as.example/token",
      additionalClaims: ["scope": "a b", "sub": .null, "exp": 5, "iat": .null])
    assertion.lifetime = .seconds(1_000_000)
    #expect(assertion.lifetime == .seconds(3600))
    await failure(.invalidGrant) { try await account.requestAccessToken(asserting: assertion) }
    let claims = try client.claims(of: "assertion", in: client.last())
    #expect(
      claims.filter { $0.key != "jti" } == [
        "iss": "service@project.example", "aud": "https://as.example/token", "scope": "a b",
        "exp": 5,
      ])
  }

  @Test func `a client without a key sends no request`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account(
      ClientConfiguration(
        clientID: "sandbox-service", clientSecret: "sandbox-secret", provider: client.provider))
    await failure(.invalidConfiguration) {
      try await account.requestAccessToken(asserting: JWTAssertion())
    }
    #expect(client.sandbox.requests(to: .token).isEmpty)
  }

  @Test func `the sandbox accepts each assertion only once`() async throws {
    let client = try await KeyedClientFixture()
    let account = try client.account(client.configuration(authentication: .publicClient))
    let assertion = JWTAssertion(additionalClaims: ["jti": "always the same"])
    try await account.requestAccessToken(asserting: assertion)
    let error = await failure(.invalidGrant) {
      try await account.requestAccessToken(asserting: assertion)
    }
    #expect(error?.message.contains("used before") == true)
  }

  @Test
  func `SQOAuth has async and completion methods for the JWT bearer grant and token exchange`()
    async throws
  {
    let client = try await KeyedClientFixture()
    let oauth = SQOAuth()
    oauth.environment = client.environment
    oauth.register(try client.configuration())
    let own = try await oauth.requestAccessToken(asserting: JWTAssertion(), scope: "demo")
    let token = await withCheckedContinuation { continuation in
      oauth.requestAccessToken(asserting: JWTAssertion(), scope: "demo") {
        continuation.resume(returning: $0)
      }
    }
    #expect(try token.get().accessToken != own.accessToken)
    let exchange = TokenExchange(audiences: ["x"])
    #expect(try await oauth.exchangeToken(exchange).type == .accessToken)
    let exchanged = await withCheckedContinuation { continuation in
      oauth.exchangeToken(exchange) { continuation.resume(returning: $0) }
    }
    #expect(try exchanged.get().type == .accessToken)
  }
}
