/// The refresh of an access token by its refresh token.
///
/// - SeeAlso: RFC 6749, section 6
struct RefreshTokenGrant: Sendable {
  let endpoint: TokenEndpoint

  /// Gets the successor of a token; it keeps the old refresh token if the server sends no new one.
  func run(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    guard let refreshToken = token.refreshToken else { throw .cannotRefresh }
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "refresh_token"),
      .init("refresh_token", refreshToken),
    ]
    do throws(SQOAuthError) {
      // A response without a scope means that the scope did not change.
      return try await endpoint.token(
        parameters, at: endpoint.metadata.refreshEndpoint, scope: token.scope,
        patience: ClientConfiguration.longestTimeout
      ).refreshing(token)
    } catch {
      throw error.answeringRefresh()
    }
  }
}

extension SQOAuthError {
  /// The error if the access token has expired and the account has no refresh token.
  static let cannotRefresh = SQOAuthError(
    .notAuthorized, "the access token has expired and there is no refresh token; sign in again")

  /// The error if the account has no token at all.
  static let notSignedIn = SQOAuthError(.notAuthorized, "no user is signed in: sign in first")
}
