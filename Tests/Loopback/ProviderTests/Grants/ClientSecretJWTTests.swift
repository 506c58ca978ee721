import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import TestSupport

/// `client_secret_jwt` at a server that verifies it.
@Suite("client_secret_jwt", .timeLimit(.minutes(1))) struct ClientSecretJWTEndToEndTests {
  private static let secret = "a secret with at least 32 bytes in it"

  private func sandbox() async throws -> SandboxServer {
    var client = SandboxClient(id: "signer", secret: Self.secret)
    client.authentication = [.clientSecretJWT]
    var options = SandboxOptions()
    options.clients = [client]
    return try await SandboxServer.start(options)
  }

  private func module(
    _ sandbox: SandboxServer, secret: String = secret,
    _ method: ClientAuthentication = .clientSecretJWT
  ) throws -> AuthorizationModule {
    AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "signer", clientSecret: secret, redirectURI: "http://127.0.0.1/callback",
        scope: "demo", provider: .issuer(sandbox.issuer.absoluteString),
        clientAuthentication: method))
  }

  @Test func `a client gets tokens, refreshes and revokes them`() async throws {
    let sandbox = try await sandbox()
    let module = try module(sandbox)
    module.environment.userAgent = CustomUserAgent { _ = try await SandboxVisitor().visit($0) }
    let first = try await module.signIn()
    let second = try await module.refresh()
    #expect(first.accessToken != second.accessToken && sandbox.isActive(second.accessToken))
    try await module.revoke()
    #expect(!sandbox.isActive(second.accessToken))
    await sandbox.stop()
  }

  @Test func `a wrong secret and the method client_secret_post are refused`() async throws {
    let sandbox = try await sandbox()
    let wrong = try module(sandbox, secret: Self.secret + "!")
    await failure(.invalidClient) { try await wrong.requestAccessTokenAsClient() }
    let other = try module(sandbox, .post)
    await failure(.invalidClient) { try await other.requestAccessTokenAsClient() }
    await sandbox.stop()
  }
}
