import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Grants of other specifications, and grants that are not supported.
@Suite("Extension grants", .timeLimit(.minutes(1))) struct ExtensionGrantTests {
  static let type = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  @Test func `the grant type and its parameters are sent unchanged`() async throws {
    let fixture = try SessionFixture()
    let token = try await fixture.module.requestAccessToken(
      grantType: Self.type, parameters: ["assertion": "a.b+c=", "audience": "ü"], scope: "x y")
    #expect(token.accessToken == "T1" && fixture.memory == "T1 R1")
    #expect(
      fixture.fixture.http.forms == [
        ["grant_type": Self.type, "assertion": "a.b+c=", "audience": "ü", "scope": "x y"]
      ])
    #expect(await fixture.store.content() == "T1 R1")
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T2", "the token is refreshed")
  }

  @Test func `a grant with the openid scope succeeds even without a verifiable ID token`()
    async throws
  {
    let fixture = try SessionFixture()
    let token = try await fixture.module.requestAccessToken(
      grantType: Self.type, parameters: ["assertion": "a"], scope: "openid x")
    #expect(token.accessToken == "T1" && token.idToken == nil)
    let reason = await failure(.idTokenMissing) { try await fixture.module.idToken() }
    #expect(reason?.message.contains("openid") == true)
  }

  @Test func `a token without a refresh token requires a new sign-in when it expires`() async throws
  {
    let fixture = try SessionFixture()
    fixture.server.change { $0.refreshToken = "" }
    try await fixture.module.requestAccessToken(
      grantType: Self.type, parameters: ["assertion": "a"])
    fixture.clock.advance(by: 3600)
    let error = await failure(.notAuthorized) { try await fixture.module.token() }
    #expect(error?.requiresSignIn == true && fixture.requests.count == 1)
  }

  @Test(arguments: [
    "grant_type", "scope", "client_id", "client_secret", "client_assertion",
    "client_assertion_type", "",
  ])
  func `a reserved or empty parameter name is rejected`(name: String) async throws {
    let fixture = try SessionFixture()
    await failure(.invalidConfiguration) {
      try await fixture.module.requestAccessToken(grantType: Self.type, parameters: [name: "x"])
    }
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: ["implicit", "token"])
  func `the implicit grant is rejected with the reason`(type: String) async throws {
    let fixture = try SessionFixture()
    let error = await failure(.unsupportedGrantType) {
      try await fixture.module.requestAccessToken(grantType: type)
    }
    #expect(error?.message.contains("URL") == true && error?.response == nil)
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: ["authorization_code", "refresh_token", "password", "client_credentials", ""])
  func `an empty grant type or one with a dedicated method is rejected`(type: String) async throws {
    let fixture = try SessionFixture()
    await failure(.invalidConfiguration) {
      try await fixture.module.requestAccessToken(
        grantType: type, parameters: ["username": "u", "password": "p", "code": "c"])
    }
    #expect(fixture.requests.isEmpty)
  }

  @Test func `the error of a rejected request does not repeat the parameters`() async throws {
    let fixture = try SessionFixture()
    fixture.server.always(
      ScriptedTransport.json(
        #"{"error":"invalid_grant","error_description":"no c4n4ry.b.c"}"#, status: 400))
    let error = await failure(.invalidGrant) {
      try await fixture.module.requestAccessToken(
        grantType: Self.type, parameters: ["assertion": "c4n4ry.b.c"])
    }
    #expect(error.map { !everyText(of: $0).contains("c4n4ry") } ?? false)
    #expect(fixture.memory == nil && fixture.store.saves.isEmpty)
  }

  /// The app gets the assertion from an identity provider, without the SDK.
  @Test func `a SAML assertion is sent as a parameter`() async throws {
    let type = "urn:ietf:params:oauth:grant-type:saml2-bearer"
    let assertion = Data("<saml:Assertion><saml:Subject>alice</saml:Subject></saml:Assertion>".utf8)
    let text = assertion.base64EncodedString().replacing("+", with: "-")
      .replacing("/", with: "_").replacing("=", with: "")
    var options = SandboxOptions()
    options.extensionGrants[type] = { form in
      form.contains { $0.name == "assertion" && $0.value == text } ? "alice" : nil
    }
    let sandbox = try await SandboxServer.start(options)
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-service", clientSecret: "sandbox-secret",
        provider: .issuer(sandbox.issuer.absoluteString)))
    let token = try await account.requestAccessToken(
      grantType: type, parameters: ["assertion": text], scope: "openid demo")
    #expect(token.idToken?.subject == SandboxUser.alice.subject)
    let error = await failure(.invalidGrant) {
      try await account.requestAccessToken(
        grantType: type, parameters: ["assertion": "c4n4ry" + text])
    }
    if let error { #expect(!everyText(of: error).contains("c4n4ry")) }
    #expect(account.currentToken == token, "the account keeps its token")
  }
}
