import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

@testable import LoopbackSupport

@Suite(.timeLimit(.minutes(1))) struct ResourceTests {
  @Test func `the API returns the user and the remaining lifetime of a token`() async throws {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_700_000_000) }
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens(scopes: ["profile"]).accessToken
    sandbox.advance(by: .seconds(600))
    let answer = try await client.api("/api/me", token: token)
    #expect(answer.status == 200)
    #expect(
      answer.text == #"{"user_name":"alice","name":"Alice Liddell","client_id":"sandbox-app","#
        + #""scope":"profile","expires_in":3000,"expires_at":"2023-11-14T23:13:20Z"}"#)
    await sandbox.stop()
  }

  @Test func `the file list is JSON in Sequencing's format`() async throws {
    struct File: Decodable {
      let id: String
      let name: String
      let person: String
      let size: Int
      enum CodingKeys: String, CodingKey {
        case id = "Id"
        case name = "Name"
        case person = "FriendlyDesc1"
        case size = "Size"
      }
    }
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens(scopes: ["demo"]).accessToken
    let answer = try await client.api("/api/DataSourceList?sample=true", token: token)
    let files = try JSONDecoder().decode([File].self, from: answer.body)
    #expect(files.count == 6)
    #expect(Set(files.map(\.id)).count == 6)
    #expect(files[0].name == "ada-lovelace.vcf")
    await sandbox.stop()
  }

  @Test func `an invalid token gets a challenge`() async throws {
    var options = SandboxOptions()
    options.resources.describesItself = false
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(scopes: ["profile"])
    func challenge(_ answer: LoopbackAnswer, _ status: Int, _ text: String) {
      #expect(answer.status == status)
      #expect(answer.header("www-authenticate") == text)
    }
    let plain = "Bearer realm=\"sandbox\""
    challenge(try await client.get("/api/me"), 401, plain)
    challenge(
      try await client.get("/api/me", headers: [("Authorization", "Basic YTpi")]), 401, plain)
    challenge(
      try await client.get("/api/me?access_token=" + tokens.accessToken), 400,
      plain + ", error=\"invalid_request\", "
        + "error_description=\"Send the token in the field Authorization.\"")
    challenge(
      try await client.api("/api/DataSourceList?all=true", token: tokens.accessToken), 403,
      plain + ", error=\"insufficient_scope\", "
        + "error_description=\"The access token lacks a required scope.\", scope=\"demo\"")
    let invalid =
      plain + ", error=\"invalid_token\", "
      + "error_description=\"The access token is unknown, expired or revoked.\""
    challenge(try await client.api("/api/me", token: "unknown"), 401, invalid)
    challenge(try await client.api("/api/me", token: tokens.refreshToken), 401, invalid)
    sandbox.advance(by: .seconds(3600))
    challenge(try await client.api("/api/me", token: tokens.accessToken), 401, invalid)
    sandbox.advance(by: .seconds(-3600))
    #expect(try await client.api("/api/me", token: tokens.accessToken).status == 200)
    sandbox.expireAccessTokens()
    challenge(try await client.api("/api/me", token: tokens.accessToken), 401, invalid)
    #expect(sandbox.isActive(tokens.refreshToken))
    sandbox.revokeEverything()
    #expect(!sandbox.isActive(tokens.refreshToken))
    await sandbox.stop()
  }

  @Test(arguments: [
    (
      SandboxMisbehaviour.bearerError("invalid_token"), 401,
      #"error="invalid_token", error_description="A test asked the sandbox for this error.""#
    ),
    (
      .bearerError("insufficient_scope", scope: "files admin"), 403,
      #"error="insufficient_scope", error_description="A test asked the sandbox for this error.", "#
        + #"scope="files admin""#
    ),
    (
      .bearerError("invalid_request", status: 400), 400,
      #"error="invalid_request", error_description="A test asked the sandbox for this error.""#
    ),
  ])
  func `the sandbox can be set to answer a valid token with a challenge`(
    misbehaviour: SandboxMisbehaviour, status: Int, challenge: String
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens().accessToken
    sandbox.misbehave(at: .me, misbehaviour)
    let answer = try await client.api("/api/me", token: token)
    #expect(answer.status == status)
    #expect(answer.header("www-authenticate") == "Bearer realm=\"sandbox\", " + challenge)
    #expect(try await client.api("/api/me", token: token).status == 200)
    await sandbox.stop()
  }

  @Test func `a token without a lifetime does not expire`() async throws {
    var options = SandboxOptions()
    options.accessTokenLifetime = nil
    let sandbox = try await SandboxServer.start(options)
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = try await client.redeem(try await client.code()).tokens()
    #expect(tokens.expiresIn == nil)
    sandbox.advance(by: .seconds(1_000_000_000))
    #expect(try await client.api("/api/me", token: tokens.accessToken).status == 200)
    await sandbox.stop()
  }

  @Test func `revoking an access token ends only it, and revoking a refresh token ends its family`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    func revoke(_ token: String, _ more: [(String, String)] = []) async throws -> LoopbackAnswer {
      try await client.post("/revoke", [("token", token), ("client_id", "sandbox-app")] + more)
    }
    let first = sandbox.issueTokens()
    #expect(try await revoke(first.accessToken).status == 200)
    #expect(!sandbox.isActive(first.accessToken))
    #expect(sandbox.isActive(first.refreshToken))
    let second = sandbox.issueTokens()
    let hint = [("token_type_hint", "access_token")]
    #expect(try await revoke(second.refreshToken, hint).status == 200)
    #expect(!sandbox.isActive(second.refreshToken))
    #expect(!sandbox.isActive(second.accessToken), "the access token of the grant ends, too")
    #expect(try await revoke("unknown").status == 200)
    let foreign = sandbox.issueTokens(to: "sandbox-service")
    #expect(try await revoke(foreign.refreshToken).error == "unauthorized_client")
    #expect(sandbox.isActive(foreign.refreshToken))
    let nobody = try await client.post("/revoke", [("token", foreign.refreshToken)])
    #expect(nobody.status == 401)
    #expect(nobody.error == "invalid_client")
    #expect(try await client.post("/revoke", [("client_id", "sandbox-app")]).status == 400)
    await sandbox.stop()
  }

  @Test func `a client with a secret must authenticate to revoke`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(to: "sandbox-service")
    let form = [("token", tokens.refreshToken), ("client_id", "sandbox-service")]
    #expect(try await client.post("/revoke", form).error == "invalid_client")
    let wrong = form + [("client_secret", "wrong")]
    #expect(try await client.post("/revoke", wrong).status == 401)
    #expect(sandbox.isActive(tokens.refreshToken))
    let right = form + [("client_secret", "sandbox-secret")]
    #expect(try await client.post("/revoke", right).status == 200)
    #expect(!sandbox.isActive(tokens.refreshToken))
    await sandbox.stop()
  }

  @Test func `a failed revocation request revokes nothing`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let token = sandbox.issueTokens().refreshToken
    let form = [("token", token), ("client_id", "sandbox-app")]
    sandbox.misbehave(at: .revocation, .unavailable(retryAfter: 7))
    sandbox.misbehave(at: .revocation, .error("unsupported_token_type"))
    let busy = try await client.post("/revoke", form)
    #expect(busy.status == 503)
    #expect(busy.header("retry-after") == "7")
    #expect(try await client.post("/revoke", form).error == "unsupported_token_type")
    #expect(sandbox.isActive(token))
    #expect(try await client.post("/revoke", form).status == 200)
    await sandbox.stop()
  }

  @Test func `a confidential client may introspect tokens, and a public client may not`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let client = SandboxPeer(sandbox: sandbox)
    let tokens = sandbox.issueTokens(scopes: ["demo"])
    func ask(_ token: String) async throws -> String {
      try await client.post(
        "/introspect",
        [("token", token), ("client_id", "sandbox-service"), ("client_secret", "sandbox-secret")]
      ).text
    }
    #expect(
      try await ask(tokens.accessToken).hasPrefix(
        #"{"active":true,"client_id":"sandbox-app","scope":"demo","iss":"http://127.0.0.1:"#))
    #expect(try await ask(tokens.refreshToken).contains(#""username":"alice""#))
    #expect(try await ask("unknown") == #"{"active":false}"#)
    let asApp = try await client.post(
      "/introspect", [("token", tokens.accessToken), ("client_id", "sandbox-app")])
    #expect(asApp.error == "invalid_client")
    await sandbox.stop()
  }

  @Test(arguments: [
    "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
  ])
  func `the metadata lists the existing endpoints and features`(path: String) async throws {
    struct Metadata: Decodable {
      let issuer: String
      let authorizationEndpoint: String
      let tokenEndpoint: String
      let revocationEndpoint: String
      let codeChallengeMethodsSupported: [String]
      let authorizationResponseIssParameterSupported: Bool
      let tokenEndpointAuthMethodsSupported: [String]
      let jwksUri: String
      let userinfoEndpoint: String
      let endSessionEndpoint: String
      let scopesSupported: [String]
      let responseModesSupported: [String]
      let subjectTypesSupported: [String]
      let idTokenSigningAlgValuesSupported: [String]
      let userinfoSigningAlgValuesSupported: [String]
      let claimsSupported: [String]
      let claimsParameterSupported: Bool
      let promptValuesSupported: [String]
      let acrValuesSupported: [String]
      let backchannelLogoutSupported: Bool
      let backchannelLogoutSessionSupported: Bool
    }
    let sandbox = try await SandboxServer.start()
    let answer = try await SandboxPeer(sandbox: sandbox).get(path)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let metadata = try decoder.decode(Metadata.self, from: answer.body)
    #expect(metadata.issuer == sandbox.issuer.absoluteString)
    #expect(metadata.authorizationEndpoint == sandbox.authorizationEndpoint.absoluteString)
    #expect(metadata.tokenEndpoint == sandbox.tokenEndpoint.absoluteString)
    #expect(metadata.revocationEndpoint == sandbox.revocationEndpoint.absoluteString)
    #expect(metadata.codeChallengeMethodsSupported == ["S256"])
    #expect(metadata.authorizationResponseIssParameterSupported)
    #expect(
      metadata.tokenEndpointAuthMethodsSupported
        == [
          "client_secret_basic", "client_secret_post", "private_key_jwt", "client_secret_jwt",
          "none",
        ])
    #expect(metadata.jwksUri == sandbox.keysEndpoint.absoluteString)
    #expect(metadata.userinfoEndpoint == sandbox.userInfoEndpoint.absoluteString)
    #expect(metadata.endSessionEndpoint == sandbox.endSessionEndpoint.absoluteString)
    #expect(metadata.scopesSupported.prefix(4) == ["openid", "email", "phone", "address"])
    #expect(metadata.responseModesSupported == ["query", "form_post"])
    #expect(metadata.subjectTypesSupported == ["public"])
    let algorithms = SandboxSigningAlgorithm.allCases.map(\.rawValue)
    #expect(metadata.idTokenSigningAlgValuesSupported == algorithms)
    #expect(metadata.userinfoSigningAlgValuesSupported == algorithms)
    #expect(metadata.claimsParameterSupported && metadata.claimsSupported.contains("email"))
    #expect(metadata.promptValuesSupported == ["none", "login", "consent", "select_account"])
    #expect(metadata.acrValuesSupported.count == 2)
    #expect(metadata.backchannelLogoutSupported && metadata.backchannelLogoutSessionSupported)
    await sandbox.stop()
  }
}
