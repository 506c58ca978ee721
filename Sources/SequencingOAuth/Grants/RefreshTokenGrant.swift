/// The refresh of an access token by its refresh token.
///
/// - SeeAlso: RFC 6749, section 6
struct RefreshTokenGrant: Sendable {
  let client: RegisteredClient

  /// Gets the successor of a token; it keeps the old refresh token if the server sends no new one.
  ///
  /// If the response cannot be used but has a refresh token, the result is the old token with that
  /// one: the server may not accept the old one any more.
  func run(_ token: SQToken) async throws(SQOAuthError) -> RefreshedToken {
    guard let refreshToken = token.refreshToken else { throw .cannotRefresh }
    let parameters: [FormCoding.Pair] = [
      .init("grant_type", "refresh_token"),
      .init("refresh_token", refreshToken),
    ]
    // Fails before the refresh token is sent.
    let validator = try validator(of: token)
    do throws(SQOAuthError) {
      // A response without a scope means that the scope did not change. The server may have
      // replaced the refresh token already, so its answer is given more time than others.
      let (answer, reader) = try await client.answer(
        to: parameters, at: client.metadata.refreshEndpoint, scope: token.scope,
        leastTimeout: ClientConfiguration.longestTimeout)
      return try successor(of: token, in: answer, by: reader, validator)
    } catch {
      throw error.answeringRefresh()
    }
  }

  private func successor(
    of token: SQToken, in answer: HTTPResponse, by reader: TokenResponse,
    _ validator: IDTokenValidator?
  ) throws(SQOAuthError) -> RefreshedToken {
    let issued: IssuedToken
    do throws(SQOAuthError) {
      issued = try reader.issued(by: answer)
    } catch {
      guard let refreshToken = reader.refreshToken(in: answer) else { throw error }
      return RefreshedToken(
        token: token.keeping(refreshToken: refreshToken), failure: error.answeringRefresh())
    }
    return RefreshedToken(
      token: issued.token.refreshing(token),
      identity: validator.flatMap { Identification($0, of: issued, after: token) })
  }

  /// The validator for an ID token in the answer; `nil` if such a token is not looked at.
  ///
  /// A token that an older version of the SDK stored may come from a server whose ID tokens cannot
  /// be verified.
  private func validator(of token: SQToken) throws(SQOAuthError) -> IDTokenValidator? {
    if token.idToken != nil {
      return try IDTokenValidator(client.configuration, client.metadata, client.environment)
    }
    return try? client.idTokenValidator(scope: token.scope)
  }
}

/// The successor of a token, and what must be validated before its access token is used.
struct RefreshedToken: Sendable {
  let token: SQToken
  /// The validation of the new ID token; `nil` if the answer has none.
  var identity: Identification?
  /// Why the answer's access token cannot be used; then ``token`` has only its refresh token.
  var failure: SQOAuthError?
}
