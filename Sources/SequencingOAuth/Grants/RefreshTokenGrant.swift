/// The refresh of an access token.
///
/// - SeeAlso: RFC 6749, section 6
struct RefreshTokenGrant: Sendable {
  let client: RegisteredClient

  /// The successor of a token, which has its refresh token where the server sent no new one.
  func run(_ token: SQToken) async throws(SQOAuthError) -> SQToken {
    guard let refreshToken = token.refreshToken else { throw .cannotRefresh }
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "refresh_token"),
      .init("refresh_token", refreshToken),
    ]
    do throws(SQOAuthError) {
      // An absent scope means that it did not change.
      return try await client.token(
        parameters, at: client.metadata.refreshEndpoint, scope: token.scope,
        patience: ClientConfiguration.longestTimeout
      ).refreshing(token)
    } catch {
      throw error.answeringRefresh()
    }
  }
}
