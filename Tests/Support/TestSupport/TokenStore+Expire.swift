import Foundation
import Testing

@testable package import SequencingOAuth

extension TokenStore {
  /// Changes an account's stored token so that it has expired, and keeps the rest of the account.
  package func expire(_ id: String) async throws {
    let old = try #require(try await load(id))
    let token = SQToken(
      accessToken: old.token.accessToken, expirationDate: Date() - 1,
      tokenType: old.token.tokenType, scope: old.token.scope,
      refreshToken: old.token.refreshToken, issueDate: Date() - 3600,
      additionalFields: old.token.additionalFields, redirectParameters: old.token.redirectParameters
    ).identifying(old.token.idToken, nonce: old.token.nonce).bound(to: old.proofKey)
      .ending(old.token.ends)
    try await save(old.identified(token))
  }
}
