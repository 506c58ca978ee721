import FoundationEssentials
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import OAuthSandbox

@Suite(.timeLimit(.minutes(1))) struct UserInfoTests {
  @Test(
    arguments: [
      ("openid", ["sub"]),
      ("openid email", ["email", "email_verified", "sub"]),
      ("openid phone", ["phone_number", "phone_number_verified", "sub"]),
      ("openid address", ["address", "sub"]),
      (
        "openid profile",
        [
          "birthdate", "family_name", "gender", "given_name", "locale", "name", "nickname",
          "picture", "preferred_username", "profile", "sub", "updated_at", "website", "zoneinfo",
        ]
      ),
    ] as [(String, [String])])
  func `the scopes determine the claims`(scope: String, names: [String]) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let scopes = scope.split(separator: " ").map(String.init)
    let token = sandbox.issueTokens(scopes: scopes).accessToken
    let answer = try await client.api("/userinfo", token: token)
    #expect(answer.header("content-type") == "application/json")
    #expect(try answer.json().names == names)
    #expect(try answer.json()["sub"] == "alice")
    let posted = try await client.post(
      "/userinfo", body: "", headers: [("Authorization", "Bearer " + token)])
    #expect(posted.text == answer.text)
    #expect(sandbox.requests(to: .userInfo).count == 2)
    await sandbox.stop()
  }

  @Test func `custom and requested claims are present unless a requested value differs`()
    async throws
  {
    var options = SandboxOptions()
    options.users[0].profile.others = [.init("name#ja", "アリス"), .init("level", 3)]
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let claims = #"{"userinfo":{"name#ja":null,"email":{"essential":true},"level":{"value":4}}}"#
    let token = try await client.signIn(["claims": claims]).tokens().accessToken
    let json = try await client.api("/userinfo", token: token).json()
    #expect(json["name#ja"] == "アリス")
    #expect(json["email"] == "alice@example.com")
    #expect(json["level"] == nil)
    await sandbox.stop()
  }

  @Test func `a token without the openid scope or without a user gets a challenge`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let none = try await client.get("/userinfo")
    #expect(none.status == 401)
    #expect(none.header("www-authenticate") == #"Bearer realm="sandbox""#)
    let unknown = try await client.api("/userinfo", token: "unknown")
    #expect(unknown.status == 401 && unknown.error == "invalid_token")
    let narrow = sandbox.issueTokens(scopes: ["profile"]).accessToken
    let refused = try await client.api("/userinfo", token: narrow)
    #expect(refused.status == 403 && refused.error == "insufficient_scope")
    #expect(
      refused.header("www-authenticate") == #"Bearer realm="sandbox", error="insufficient_scope", "#
        + #"error_description="The access token lacks a required scope.", scope="openid""#)
    let service = try await client.post(
      "/token",
      [
        ("grant_type", "client_credentials"), ("client_id", "sandbox-service"),
        ("client_secret", "sandbox-secret"), ("scope", "openid"),
      ])
    let own = try await client.api("/userinfo", token: try service.tokens().accessToken)
    #expect(own.status == 403 && own.error == "insufficient_scope")
    #expect(
      own.header("www-authenticate") == #"Bearer realm="sandbox", error="insufficient_scope", "#
        + #"error_description="The token's grant has no identity of a user.""#)
    await sandbox.stop()
  }

  @Test func `a client can get a signed UserInfo response`() async throws {
    var options = SandboxOptions()
    options.clients[0].userInfoAlgorithm = .es256
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens(scopes: ["openid", "email"]).accessToken
    let answer = try await client.api("/userinfo", token: token)
    #expect(answer.header("content-type") == "application/jwt")
    let jwt = try ReadJWT(answer.text)
    #expect(jwt.header["alg"] == "ES256")
    #expect(jwt.claims["iss"]?.string == sandbox.issuer.absoluteString)
    #expect(jwt.claims["aud"] == "sandbox-app")
    #expect(jwt.claims["sub"] == "alice" && jwt.claims["email"] == "alice@example.com")
    let keys = try await client.keys()
    let received = try #require(ReceivedJWT(answer.text))
    #expect(keys.contains(where: received.isSigned(byRegistered:)) && jwt.header["kid"] != nil)
    await sandbox.stop()
  }

  @Test(arguments: SandboxUserInfoFault.allCases, [nil, SandboxSigningAlgorithm.es256])
  func `the sandbox can send one faulty UserInfo response`(
    fault: SandboxUserInfoFault, algorithm: SandboxSigningAlgorithm?
  ) async throws {
    var options = SandboxOptions()
    options.clients[0].userInfoAlgorithm = algorithm
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens(scopes: ["openid"]).accessToken
    sandbox.misbehave(at: .userInfo, .userInfo(fault))
    let wrong = try await client.api("/userinfo", token: token)
    let type = algorithm == nil ? "application/json" : "application/jwt"
    let otherType = algorithm == nil ? "application/jwt" : "application/json"
    func claims() throws -> SandboxJSON {
      algorithm == nil ? try wrong.json() : try ReadJWT(wrong.text).claims
    }
    let keys = try await client.keys()
    func isSigned(_ answer: LoopbackAnswer) -> Bool {
      guard let jwt = ReceivedJWT(answer.text) else { return false }
      return keys.contains(where: jwt.isSigned(byRegistered:))
    }
    switch fault {
    case .otherSubject: #expect(try claims()["sub"] == "another-user")
    case .subjectMissing: #expect(try claims()["sub"] == nil)
    case .otherIssuer: #expect(try claims()["iss"] == "https://other.example")
    case .otherAudience: #expect(try claims()["aud"] == "another-client")
    case .otherContentType:
      #expect(wrong.header("content-type") == otherType)
      #expect(try claims()["sub"] == "alice")
    case .html:
      #expect(wrong.header("content-type") == "text/html")
      #expect(try claims()["sub"] == "alice")
    case .wrongSignature:
      #expect(wrong.header("content-type") == "application/jwt")
      let jwt = try ReadJWT(wrong.text)
      #expect(jwt.claims["sub"] == "alice" && jwt.header["alg"] == "ES256")
      #expect(!isSigned(wrong))
    case .unsigned:
      #expect(wrong.header("content-type") == "application/jwt")
      let jwt = try ReadJWT(wrong.text)
      #expect(jwt.claims["sub"] == "alice" && jwt.header["alg"] == "none")
      #expect(wrong.text.hasSuffix("."))
    case .unauthorized: #expect(wrong.status == 401 && wrong.error == "invalid_token")
    }
    // With all other faults, the signature is right, so that a client must find the fault itself.
    if algorithm != nil, ![.wrongSignature, .unsigned, .unauthorized].contains(fault) {
      #expect(isSigned(wrong))
    }
    let right = try await client.api("/userinfo", token: token)
    #expect(right.header("content-type") == type)
    #expect(isSigned(right) == (algorithm != nil))
    await sandbox.stop()
  }
}
