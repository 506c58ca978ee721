import FoundationEssentials
import OAuthSandbox
import SQCrypto
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct IDTokenTests {
  @Test func `a code with the openid scope yields an ID token of the user`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.signIn(["nonce": "a nonce+&=%"])
    let token = try answer.idToken()
    #expect(token.header["alg"] == "RS256")
    #expect(token.header["typ"] == "JWT")
    #expect(token.claims["iss"]?.string == sandbox.issuer.absoluteString)
    #expect(token.claims["sub"] == "alice")
    #expect(token.claims["aud"] == "sandbox-app")
    #expect(token.claims["nonce"] == "a nonce+&=%")
    #expect(token.claims["acr"] == "urn:sandbox:password")
    #expect(token.claims["amr"] == ["pwd"])
    let issued = try #require(token.claims["iat"]?.integer)
    #expect(abs(Double(issued) - sandbox.now.timeIntervalSince1970) < 60)
    #expect(token.claims["exp"]?.integer == issued + 600)
    #expect(
      token.claims.names
        == ["acr", "amr", "at_hash", "aud", "exp", "iat", "iss", "nonce", "sid", "sub"])
    await sandbox.stop()
  }

  @Test func `without the openid scope there is no ID token`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    #expect(try await client.redeem(try await client.code()).json()["id_token"] == nil)
    // A request without a scope gets the default scopes, which do not include openid.
    let answer = try await client.redeem(try await client.code(["scope": nil]))
    #expect(try answer.tokens().scope == "profile demo files offline_access")
    #expect(try answer.json()["id_token"] == nil)
    #expect(sandbox.issueTokens().idToken == nil)
    await sandbox.stop()
  }

  @Test func `at_hash is the left half of the access token's hash`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let first = try await client.signIn()
    let second = try await client.refresh(try #require(try first.tokens().refreshToken))
    let hashes = try [first, second].map {
      try #require(try $0.idToken().claims["at_hash"]?.string)
    }
    let expected: [Data?] = try [first, second].map {
      Digest.sha256(try $0.tokens().accessToken).prefix(16)
    }
    #expect(hashes.map { Data(base64URL: $0) } == expected)
    await sandbox.stop()
  }

  @Test func `a refresh yields an ID token of the same sign-in without a nonce`() async throws {
    var options = SandboxOptions()
    options.openID.alwaysTellsAuthenticationTime = true
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.signIn(["nonce": "n"])
    let first = try answer.idToken()
    sandbox.advance(by: .seconds(1000))
    let second = try await client.refresh(try #require(try answer.tokens().refreshToken)).idToken()
    for claim in ["iss", "sub", "aud", "auth_time", "acr", "sid"] {
      #expect(second.claims[claim] == first.claims[claim])
      #expect(second.claims[claim] != nil)
    }
    #expect(second.claims["nonce"] == nil)
    let times = try [first, second].map { try #require($0.claims["iat"]?.integer) }
    #expect(times[1] - times[0] >= 1000)
    await sandbox.stop()
  }

  @Test func `a refresh can repeat the nonce or omit the ID token`() async throws {
    var options = SandboxOptions()
    options.openID.repeatsNonceOnRefresh = true
    let repeating = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: repeating)
    let token = try await client.signIn(["nonce": "n"]).tokens().refreshToken
    let refreshed = try await client.refresh(try #require(token)).idToken()
    #expect(refreshed.claims["nonce"] == "n")
    await repeating.stop()

    options.openID.issuesIDTokenOnRefresh = false
    let silent = try await SandboxServer.start(options)
    let issued = silent.issueTokens(scopes: ["openid"])
    #expect(issued.idToken != nil)
    let answer = try await SandboxPeer(sandbox: silent).refresh(issued.refreshToken)
    #expect(try answer.json()["id_token"] == nil)
    await silent.stop()
  }

  @Test(arguments: SandboxOpenIDOptions.SessionIDs.allCases)
  func `the ID tokens that the option names contain the session`(
    sessionIDs: SandboxOpenIDOptions.SessionIDs
  ) async throws {
    var options = SandboxOptions()
    options.openID.sessionIDs = sessionIDs
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let answer = try await client.signIn()
    let second = try await client.refresh(try #require(try answer.tokens().refreshToken)).idToken()
    #expect((try answer.idToken().claims["sid"] != nil) == (sessionIDs != .never))
    #expect((second.claims["sid"] != nil) == (sessionIDs == .always))
    await sandbox.stop()
  }

  @Test(arguments: [
    ["max_age": "600"], ["claims": #"{"id_token":{"auth_time":{"essential":true}}}"#],
    ["claims": #"{"id_token":{"auth_time":null}}"#],
  ])
  func `auth_time is present if it was requested`(changes: [String: String]) async throws {
    let sandbox = try await SandboxServer.start()
    let before = Int(sandbox.now.timeIntervalSince1970)
    let token = try await SandboxPeer(sandbox: sandbox).signIn(changes.mapValues { $0 }).idToken()
    #expect(try #require(token.claims["auth_time"]?.integer) >= before)
    await sandbox.stop()
  }

  @Test func `an ID token with several audiences names the authorized party`() async throws {
    var options = SandboxOptions()
    options.clients[0].additionalAudiences = ["https://api.example"]
    options.openID.tellsCodeHash = true
    let sandbox = try await SandboxServer.start(options)
    let token = try await SandboxPeer(sandbox: sandbox).signIn().idToken()
    #expect(token.claims["aud"] == ["sandbox-app", "https://api.example"])
    #expect(token.claims["azp"] == "sandbox-app")
    #expect(token.claims["c_hash"]?.string.flatMap { Data(base64URL: $0)?.count } == 16)
    await sandbox.stop()
  }

  @Test func `the ID token can include the claims of the scopes`() async throws {
    var options = SandboxOptions()
    options.openID.putsUserClaimsIntoIDToken = true
    options.users[0].subject = "user-1"
    let sandbox = try await SandboxServer.start(options)
    let token = try await SandboxPeer(sandbox: sandbox).signIn(["scope": "openid email"]).idToken()
    #expect(token.claims["sub"] == "user-1")
    #expect(token.claims["email"] == "alice@example.com")
    #expect(token.claims["email_verified"] == true)
    #expect(token.claims["name"] == nil)
    await sandbox.stop()
  }

  @Test func `a requested claim is omitted if the user's value differs from the requested values`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let claims = """
      {"id_token":{"email":{"essential":true},"given_name":{"value":"Bob"},\
      "family_name":{"values":["Other","Liddell"]},"unknown":null}}
      """
    let token = try await SandboxPeer(sandbox: sandbox).signIn(["claims": claims]).idToken()
    #expect(token.claims["email"] == "alice@example.com")
    #expect(token.claims["family_name"] == "Liddell")
    #expect(token.claims["given_name"] == nil)
    #expect(token.claims["unknown"] == nil)
    await sandbox.stop()
  }

  @Test func `an HMAC algorithm requires a client with a secret`() async throws {
    var options = SandboxOptions()
    options.clients[0].idTokenAlgorithm = .hs256
    let sandbox = try await SandboxServer.start(options)
    let answer = try await SandboxPeer(sandbox: sandbox).signIn()
    #expect(answer.error == "invalid_client")
    await sandbox.stop()
  }
}
