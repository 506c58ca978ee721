import Foundation
import OAuthSandbox
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Revocation requests to a server that checks them, and its API's challenges to refused tokens.
@Suite(.timeLimit(.minutes(1))) struct RevocationTests {
  struct RevokingClient {
    let sandbox: SandboxServer
    let configuration: ClientConfiguration
    let metadata: ProviderMetadata
    let client = CurlTransport()

    init(_ id: String = "sandbox-app", secret: String? = nil) async throws {
      sandbox = try await SandboxServer.start()
      let issuer = sandbox.issuer.absoluteString
      configuration = try ClientConfiguration(
        clientID: id, clientSecret: secret, redirectURI: "http://127.0.0.1/callback",
        provider: .issuer(issuer))
      metadata = try await Discovery(issuer: issuer, timeout: .seconds(30)).fetch(with: client)
        .metadata
    }

    func token(_ tokens: SandboxTokens) -> SQToken {
      SQToken(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)
    }

    func revoke(_ token: SQToken) async throws {
      let client = RegisteredClient(
        configuration: configuration, environment: ClientEnvironment(), metadata: metadata)
      for request in try Revocation(client: client).requests(for: token) {
        let response = try await self.client.exchange(request.httpRequest())
        try RevocationResponse(request: request, receivedAt: Date()).check(response)
      }
    }
  }

  @Test(arguments: [("sandbox-app", nil), ("sandbox-service", "sandbox-secret")])
  func `the access and refresh tokens of public and confidential clients are revoked`(
    id: String, secret: String?
  ) async throws {
    let fixture = try await RevokingClient(id, secret: secret)
    let tokens = fixture.sandbox.issueTokens(to: id)
    try await fixture.revoke(fixture.token(tokens))
    #expect(!fixture.sandbox.isActive(tokens.refreshToken))
    #expect(!fixture.sandbox.isActive(tokens.accessToken))
    #expect(
      fixture.sandbox.requests(to: .revocation).map { $0.form("token_type_hint") } == [
        "refresh_token", "access_token",
      ])
    // Revoking a token that is already revoked or was never issued succeeds.
    try await fixture.revoke(fixture.token(tokens))
    try await fixture.revoke(SQToken(accessToken: "never-issued"))
    await fixture.sandbox.stop()
  }

  @Test func `another client's token and a wrong secret are rejected`() async throws {
    let fixture = try await RevokingClient()
    let foreign = fixture.sandbox.issueTokens(to: "sandbox-service")
    await failure(.unauthorizedClient) { try await fixture.revoke(fixture.token(foreign)) }
    #expect(fixture.sandbox.isActive(foreign.refreshToken))
    await fixture.sandbox.stop()
    let wrong = try await RevokingClient("sandbox-service", secret: "wrong")
    let tokens = wrong.sandbox.issueTokens(to: "sandbox-service")
    let error = await failure(.invalidClient) { try await wrong.revoke(wrong.token(tokens)) }
    #expect(error?.status == 401)
    await wrong.sandbox.stop()
  }

  @Test(
    arguments: [
      (.unavailable(retryAfter: 7), .temporarilyUnavailable, Duration.seconds(7)),
      (.tooManyRequests(retryAfter: 9), .temporarilyUnavailable, .seconds(9)),
      (.error("unsupported_token_type"), .unsupportedTokenType, nil),
      (.status(500), .serverError, nil), (.status(404), .invalidResponse, nil),
      (.redirect(307, to: "http://127.0.0.1:1/evil"), .redirectRefused, nil),
      (.cut(.beforeProcessing), .connectionFailed, nil),
    ] as [(SandboxMisbehaviour, SQOAuthError.Code, Duration?)])
  func `after a failed revocation the refresh token stays active, and no second request is sent`(
    misbehaviour: SandboxMisbehaviour, code: SQOAuthError.Code, retryAfter: Duration?
  ) async throws {
    let fixture = try await RevokingClient()
    let tokens = fixture.sandbox.issueTokens()
    fixture.sandbox.misbehave(at: .revocation, misbehaviour)
    let error = await failure(code) { try await fixture.revoke(fixture.token(tokens)) }
    #expect(error?.retryAfter == retryAfter)
    #expect(fixture.sandbox.isActive(tokens.refreshToken))
    #expect(fixture.sandbox.requests(to: .revocation).count == 1)
    await fixture.sandbox.stop()
  }

  @Test func `the API's bearer challenges are parsed`() async throws {
    let fixture = try await RevokingClient()
    let token = fixture.sandbox.issueTokens(scopes: ["profile"]).accessToken
    func challenge(_ endpoint: SandboxEndpoint, _ token: String?) async throws -> TokenChallenge? {
      var request = WebRequest(url: fixture.sandbox.url(endpoint))
      request.headers["Authorization"] = token.map { "Bearer \($0)" }
      return try await fixture.client.exchange(request).tokenChallenge
    }
    #expect(try await challenge(.me, token) == nil)
    let none = try await challenge(.me, nil)
    #expect(none?.realm == "sandbox" && none?.error == nil)
    #expect(try await challenge(.me, "unknown")?.error == .invalidToken)
    let files = try await challenge(.files, token)
    #expect(files?.error == .insufficientScope && files?.scope == "demo")
    await fixture.sandbox.stop()
  }
}
