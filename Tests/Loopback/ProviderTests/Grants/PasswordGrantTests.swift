import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The password grant, which works only if the configuration allows it.
@Suite("The password grant", .timeLimit(.minutes(1))) struct PasswordGrantTests {
  static let password = #"p&=+%ü ""#

  @Test func `the grant is rejected and nothing is sent unless it is allowed`() async throws {
    let fixture = try SessionFixture()
    let error = await failure(.invalidConfiguration) {
      try await fixture.module.requestAccessToken(username: "u", password: Self.password)
    }
    #expect(error?.message.contains("allowsPasswordGrant") == true)
    #expect(error.map { !everyText(of: $0).contains(Self.password) } ?? false)
    #expect(fixture.requests.isEmpty)
  }

  @Test(arguments: [nil, "demo profile"])
  func `the parameters are sent with and without a scope`(scope: String?) async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    let token = try await fixture.module.requestAccessToken(
      username: "ü ser", password: Self.password, scope: scope)
    var form = ["grant_type": "password", "username": "ü ser", "password": Self.password]
    form["scope"] = scope
    #expect(fixture.fixture.http.forms == [form])
    #expect(token.accessToken == "T1" && fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T1 R1")
    #expect(fixture.store.saves == ["save T1 R1"])
  }

  @Test(arguments: [true, false])
  func `a new token for an unloaded account keeps the account's stored attributes`(isUser: Bool)
    async throws
  {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    fixture.module.attributes = ["name": "Alice"]
    try await fixture.module.requestAccessToken(username: "u", password: "p")
    let other = AuthorizationModule(
      configuration: try #require(fixture.module.configuration),
      environment: fixture.module.environment, accountID: fixture.module.accountID)
    if isUser {
      try await other.requestAccessToken(username: "u", password: "p")
    } else {
      try await other.requestAccessTokenAsClient()
    }
    #expect(await fixture.store.memory.load("default")?.attributes == ["name": "Alice"])
  }

  @Test(arguments: [
    // If only this word were hidden, the rest of the sentence would reveal it.
    ("wrong", #"{"error":"invalid_grant","error_description":"The password is wrong."}"#, false),
    ("Grant", #"{"error":"invalid_grant","error_description":"No grant."}"#, true),
    ("invalid", #"{"error":"invalid_grant","error_description":"It is not so."}"#, true),
    ("hunter2", #"{"error":"invalid_grant","error_description":"It is not hunter2"}"#, true),
  ])
  func `the server's message does not reveal the password, even if the password is a common word`(
    password: String, body: String, hasDescription: Bool
  ) async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    fixture.server.next(ScriptedTransport.json(body, status: 400))
    let error = await failure(.invalidGrant) {
      try await fixture.module.requestAccessToken(username: "u", password: password)
    }
    let description = error?.response?.errorDescription
    #expect((description != nil) == hasDescription)
    #expect(description?.contains(password) != true)
    #expect(error?.message.contains(hasDescription ? "says" : "refused the request") == true)
  }

  @Test func `the token is refreshed without the password`() async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    try await fixture.module.requestAccessToken(username: "u", password: Self.password)
    fixture.clock.advance(by: 3600)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(fixture.requests == ["password", "refresh R1"])
    #expect(!everyText(of: fixture.module).contains(Self.password))
  }

  @Test(arguments: [
    ("invalid_grant", SQOAuthError.Code.invalidGrant), ("invalid_client", .invalidClient),
    ("invalid_scope", .invalidScope), ("unauthorized_client", .unauthorizedClient),
  ])
  func `a rejected request keeps the old token in memory and in the store`(
    error: String, code: SQOAuthError.Code
  ) async throws {
    let fixture = try await SessionFixture(change: { $0.allowsPasswordGrant = true }).restored()
    fixture.server.next(
      ScriptedTransport.json(
        #"{"error":"\#(error)","error_description":"not \#("p")!"}"#, status: 400))
    let error = await failure(code) {
      try await fixture.module.requestAccessToken(username: "u", password: "p")
    }
    #expect(error?.response?.error == code && error?.status == 400)
    #expect(fixture.memory == "T1 R1" && fixture.observer.words.isEmpty)
    #expect(await fixture.store.content() == "T1 R1")
    #expect(fixture.store.saves.isEmpty && !fixture.store.calls.contains("erase"))
  }

  @Test func `the request fails if a required scope is not granted`() async throws {
    let fixture = try SessionFixture(change: {
      $0.allowsPasswordGrant = true
      $0.requiredScopes = ["files"]
    })
    await failure(.insufficientScope) {
      try await fixture.module.requestAccessToken(username: "u", password: "p")
    }
    #expect(fixture.memory == nil && fixture.store.saves.isEmpty)
  }

  @Test func `a failed save sends an event, and the token is saved later`() async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    fixture.store.fails(toSave: true)
    try await fixture.module.requestAccessToken(username: "u", password: "p")
    #expect(fixture.memory == "T1 R1")
    #expect(await fixture.observer.words(1) == ["failed store_failed"])
    fixture.store.fails()
    fixture.clock.advance(by: 1)
    try await eventually { await fixture.store.content() == "T1 R1" }
  }

  @Test func `a token is saved even if the caller is cancelled`() async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    let module = fixture.module
    fixture.store.saving.close()
    let caller = begin { try await module.requestAccessToken(username: "u", password: "p") }
    try await fixture.store.saving.isHolding()
    caller.cancel()
    fixture.store.saving.open()
    _ = try? await caller.value
    #expect(fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T1 R1")
  }

  @Test func `a sign-out during the request discards its token`() async throws {
    let fixture = try SessionFixture(change: { $0.allowsPasswordGrant = true })
    let module = fixture.module
    fixture.server.signInGate.close()
    let caller = begin { try await module.requestAccessToken(username: "u", password: "p") }
    try await fixture.server.signInGate.isHolding()
    fixture.oauth.userDidSignOut()
    fixture.server.signInGate.open()
    await failure(.cancelled) { try await caller.value }
    #expect(fixture.memory == nil)
    #expect(await fixture.store.content() == nil)
  }

  @Test func `a password with special characters is sent to the server unchanged`() async throws {
    var options = SandboxOptions()
    options.users = [SandboxUser(name: "ü ser+", password: Self.password, displayName: "U")]
    let fixture = try await SandboxFixture(options).register(byHand: true) {
      $0.allowsPasswordGrant = true
    }
    let token = try await fixture.oauth.module.requestAccessToken(
      username: "ü ser+", password: Self.password, scope: "demo")
    let request = try #require(fixture.tokenRequests.first)
    #expect(request.form("password") == Self.password && request.form("username") == "ü ser+")
    #expect(
      String(decoding: request.body, as: UTF8.self).contains("password=p%26%3D%2B%25%C3%BC+%22"))
    #expect(request.path == "/token" && request.query.isEmpty)
    #expect(fixture.sandbox.isActive(token.accessToken) && token.scope == "demo")
    await failure(.invalidGrant) {
      try await fixture.oauth.module.requestAccessToken(username: "ü ser+", password: "wrong")
    }
    #expect(fixture.oauth.result.token == token)
  }
}
