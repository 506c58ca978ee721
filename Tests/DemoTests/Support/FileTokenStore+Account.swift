import Foundation
import OAuthSandbox
import SequencingOAuth

extension FileTokenStore {
  /// Keeps an account as `sq-demo login` does, whose access token has expired.
  func keepExpiredAccount(
    at sandbox: SandboxServer, client: SandboxClient = .app
  ) async throws -> SandboxTokens {
    let tokens = sandbox.issueTokens(to: client.id)
    try await save(
      AccountRecord(
        id: "default", clientID: client.id, issuer: sandbox.issuer.absoluteString,
        token: SQToken(
          accessToken: tokens.accessToken, expirationDate: Date(timeIntervalSinceNow: -1),
          scope: "profile demo", refreshToken: tokens.refreshToken)))
    return tokens
  }
}
