import Foundation
import OAuthSandbox
import SequencingOAuth

extension TokenStore {
  /// Saves an account with new tokens of a sandbox and with an expiration date in the past.
  ///
  /// The sandbox itself still accepts the access token.
  @discardableResult
  func keepExpiredAccount(
    _ id: String = "default", at sandbox: SandboxServer, client: SandboxClient = .app
  ) async throws -> SandboxTokens {
    let tokens = sandbox.issueTokens(to: client.id)
    try await save(
      AccountRecord(
        id: id, clientID: client.id, issuer: sandbox.issuer.absoluteString,
        token: SQToken(
          accessToken: tokens.accessToken, expirationDate: Date(timeIntervalSinceNow: -1),
          scope: "profile demo", refreshToken: tokens.refreshToken)))
    return tokens
  }
}

extension TokenStore {
  /// Saves an account again with an expired access token, if the store has the account.
  ///
  /// The account loses its ID token and its proof key.
  func expire(_ id: String, withoutRefreshToken: Bool = false) async throws {
    guard let record = try await load(id) else { return }
    try await save(
      AccountRecord(
        id: id, clientID: record.clientID, issuer: record.issuer,
        tokenEndpoint: record.tokenEndpoint, grant: record.grant,
        token: SQToken(
          accessToken: record.token.accessToken, expirationDate: Date(timeIntervalSinceNow: -1),
          scope: record.token.scope,
          refreshToken: withoutRefreshToken ? nil : record.token.refreshToken),
        attributes: record.attributes))
  }
}
