/// The refresh of an access token by its refresh token.
///
/// - SeeAlso: RFC 6749, section 6
struct RefreshTokenGrant: Sendable {
  let client: RegisteredClient

  /// Gets the successor of a token; it keeps the old refresh token if the server sends no new one.
  func run(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    guard let refreshToken = token.refreshToken else { throw .cannotRefresh }
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "refresh_token"),
      .init("refresh_token", refreshToken),
    ]
    do throws(SQOAuthError) {
      // A response without a scope means that the scope did not change. The server may have replaced
      // the refresh token already, so its answer is given more time than others.
      return try await client.token(
        parameters, at: client.metadata.refreshEndpoint, scope: token.scope,
        leastTimeout: ClientConfiguration.longestTimeout
      ).refreshing(token)
    } catch {
      throw error.answeringRefresh()
    }
  }
}
