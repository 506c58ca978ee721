import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// Client identifiers and secrets at servers that do or do not decode Basic credentials.
@Suite(.timeLimit(.minutes(1))) struct ClientSecretServerTests {
  @Test func `a server that decodes Basic credentials accepts every method except unescaped Basic`()
    async throws
  {
    try await expect(
      [nil: true, .basic: true, .post: true, .basicUnescaped: false], decodes: true)
  }

  @Test func `a server that does not decode Basic credentials rejects only encoded ones`()
    async throws
  {
    try await expect(
      [nil: true, .basic: false, .post: true, .basicUnescaped: true], decodes: false)
  }

  /// Gets a client credentials token with each client authentication method.
  ///
  /// The secret has characters that must be encoded for Basic authentication.
  private func expect(
    _ outcomes: [ClientAuthentication?: Bool], decodes: Bool
  ) async throws {
    var options = SandboxOptions()
    options.decodesBasicCredentials = decodes
    options.clients = [SandboxClient(id: "cl/ent", secret: "~a b/c=d+e%41*")]
    for (method, works) in outcomes {
      let fixture = try await SandboxFixture(options).register(
        clientID: "cl/ent", secret: "~a b/c=d+e%41*", authentication: method)
      do throws(SQOAuthError) {
        let token = try await fixture.oauth.module.requestAccessTokenAsClient(scope: "demo")
        #expect(works && fixture.sandbox.isActive(token.accessToken))
      } catch {
        #expect(!works && error.code == .invalidClient, "\(method as Any): \(error)")
        #expect(error.message.contains(".basicUnescaped") == (method == .basic))
      }
      #expect(fixture.tokenRequests.count == 1, "no other method is tried")
    }
  }
}
