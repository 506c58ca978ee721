import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// A server's rejection counts only for the kind of request that it answers, such as a refresh.
@Suite("Rejections of a refresh", .timeLimit(.minutes(1))) struct RefreshRefusalTests {
  static let endings = [
    "invalid_request", "interaction_required", "login_required", "consent_required",
    "access_denied",
  ]
  /// The codes that mean something else in the answer of an API come last.
  static let endingsOfRefresh = endings + ["invalid_token", "unauthorized_client"]

  static func refuses(_ code: String, status: Int = 400) -> TokenServer.Answer {
    ScriptedTransport.json(#"{"error":"\#(code)"}"#, status: status)
  }

  @Test(arguments: endingsOfRefresh)
  func `if only a sign-in can solve a rejection, the browser opens and the tokens are kept`(
    code: String
  ) async throws {
    let fixture = try await SessionFixture(browser: OAuthFixture.idle).restored()
    let module = fixture.module
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refuses(code))
    let callers = (0..<10).map { _ in begin { try await module.requestAccess() } }
    let page = try await fixture.fixture.isWaiting()
    #expect(fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T1 R1")
    #expect(fixture.oauth.handleRedirect(try page.redirect("code=abc")))
    for caller in callers { #expect(try await caller.value.accessToken == "T2") }
    #expect(fixture.requests == ["refresh R1", "authorization_code"])
    #expect(fixture.fixture.opened.count == 1)
    #expect(await fixture.store.content() == "T2 R2")
  }

  @Test(arguments: ["invalid_scope", "invalid_target", "unsupported_grant_type", "use_dpop_nonce"])
  func `if a sign-in cannot solve a rejection, the browser does not open`(code: String) async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refuses(code))
    let error = await failure(.init(rawValue: code)) { try await fixture.module.requestAccess() }
    #expect(fixture.fixture.opened.isEmpty && fixture.memory == "T1 R1")
    #expect(error?.message.contains("sign") == false)
  }

  /// Keycloak sends this code for a wrong secret, and Atlassian for an ended session.
  @Test func `the error of an unauthorized client says what to check`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refuses("unauthorized_client", status: 401))
    let error = await failure(.unauthorizedClient) { try await fixture.module.token() }
    #expect(error?.message.contains("a new sign-in is needed") == true)
    #expect(error?.message.contains("check the client's secret") == true)
  }

  @Test(arguments: ["own_code", "not_authorized", "request_refused"])
  func `if a refresh is rejected with an unexpected code, the error says that a sign-in may help`(
    code: String
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refuses(code))
    let error = await failure { try await fixture.module.requestAccess() }
    #expect(error?.response?.error.rawValue == code)
    #expect(error?.message.contains("signing in again may help") == true)
    #expect(fixture.fixture.opened.isEmpty && fixture.memory == "T1 R1")
  }

  // MARK: - The same codes in other answers

  @Test(arguments: endingsOfRefresh)
  func `an error in the exchange of an authorization code does not ask for another sign-in`(
    code: String
  )
    async throws
  {
    let fixture = try SessionFixture()
    fixture.server.next(Self.refuses(code))
    let error = await failure(.init(rawValue: code)) { try await fixture.module.signIn() }
    #expect(error?.requiresSignIn == false)
    #expect(error?.isCancellation == (code == "access_denied"))
  }

  @Test(arguments: endingsOfRefresh)
  func `an error in the redirect of a sign-in does not ask for another sign-in`(code: String)
    async throws
  {
    let fixture = try SessionFixture(browser: DelegateOutcomeTests.answers("error=\(code)"))
    let error = await failure(.init(rawValue: code)) { try await fixture.module.signIn() }
    #expect(error?.requiresSignIn == false)
    #expect(error?.isCancellation == ["access_denied", "consent_required"].contains(code))
  }

  @Test(arguments: endingsOfRefresh)
  func `an error of the client credentials grant does not ask for a sign-in`(code: String)
    async throws
  {
    let fixture = try SessionFixture()
    fixture.server.change { $0.refreshToken = "" }
    try await fixture.module.requestAccessTokenAsClient()
    fixture.clock.advance(by: 3600)
    fixture.server.next(Self.refuses(code))
    let error = await failure(.init(rawValue: code)) { try await fixture.module.requestAccess() }
    #expect(error?.requiresSignIn == false && fixture.fixture.opened.isEmpty)
    #expect(fixture.requests == ["client_credentials", "client_credentials"])
  }

  @Test(arguments: endings)
  func `an error of an API neither ends the session nor asks for a sign-in`(code: String)
    async throws
  {
    let fixture = try await SessionFixture().restored()
    let challenge = TokenServer.challenge(#"Bearer error="\#(code)""#, status: 403)
    fixture.fixture.http.answer { _ in challenge }
    let url = try #require(URL(string: "https://api.example/files"))
    do throws(SQOAuthError) {
      let response = try await fixture.module.send(WebRequest(url: url))
      #expect(response.status == 403)
    } catch {
      #expect(!error.requiresSignIn)
    }
    #expect(fixture.requests == ["GET /files T1"] && fixture.memory == "T1 R1")
  }
}
