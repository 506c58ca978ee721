/// The refresh of an access token with a refresh token.
///
/// - SeeAlso: RFC 6749, section 6
struct RefreshTokenGrant: Sendable {
  let client: RegisteredClient

  /// Refreshes a token; the new token keeps the old refresh token if the server sends no new one.
  ///
  /// If the response is invalid but has a refresh token, the result is the old token with the new
  /// refresh token, because the server may no longer accept the old refresh token.
  ///
  /// With `access`, the new access token has only these rights, and is the result's `narrowed`
  /// token. The result's `token` is then the old token with the response's refresh token.
  ///
  /// The request ends at `end`, a steady time of the client's clock; after it, nothing is sent.
  func run(
    _ token: SQToken, narrowedTo access: NarrowedAccess? = nil, until end: Duration
  ) async throws(SQOAuthError) -> RefreshedToken {
    guard let refreshToken = token.refreshToken else { throw .cannotRefresh }
    var parameters: [FormCoding.Pair] = [
      .init("grant_type", "refresh_token"),
      .init("refresh_token", refreshToken),
    ]
    if let scope = access?.scope { parameters.append(.init("scope", scope)) }
    // Create the validator first, so that an error is thrown before the refresh token is sent.
    let validator = try validator(of: token)
    do throws(SQOAuthError) {
      // A response without a scope means that the scope did not change. The server may already have
      // replaced the refresh token, so the SDK waits longer for this response than for others.
      let (answer, reader) = try await client.answer(
        to: parameters, at: client.metadata.refreshEndpoint, scope: access?.scope ?? token.scope,
        leastTimeout: ClientConfiguration.longestTimeout, until: end)
      return try successor(
        of: token, in: answer, by: reader, validator, isNarrowed: access != nil)
    } catch {
      throw error.ended(by: client.configuration.provider.endedSessionCodes).answeringRefresh()
    }
  }

  private func successor(
    of token: SQToken, in answer: WebResponse, by reader: TokenResponse,
    _ validator: IDTokenValidator?, isNarrowed: Bool
  ) throws(SQOAuthError) -> RefreshedToken {
    let issued: IssuedToken
    do throws(SQOAuthError) {
      issued = try reader.issued(by: answer)
    } catch {
      guard let refreshToken = reader.refreshToken(in: answer) else { throw error }
      return RefreshedToken(
        token: token.keeping(refreshToken: refreshToken), failure: error.answeringRefresh())
    }
    let successor = issued.token.refreshing(token)
    guard !isNarrowed else {
      // An ID token in this response is not used; the account has its own.
      return RefreshedToken(
        token: token.keeping(refreshToken: successor.refreshToken).ending(successor.ends),
        narrowed: issued.token.withoutAccount)
    }
    return RefreshedToken(
      token: successor,
      identity: validator.flatMap { Identification($0, of: issued, after: token) })
  }

  /// Returns the validator for an ID token in the response; `nil` to ignore such a token.
  ///
  /// If `token` has no validated identity, a failure to create the validator is ignored: the
  /// refresh then continues without an identity, as the sign-in did.
  private func validator(of token: SQToken) throws(SQOAuthError) -> IDTokenValidator? {
    if token.idToken != nil { return try client.idTokenValidator() }
    return try? client.idTokenValidator(scope: token.scope)
  }
}

/// The result of a refresh, with the validation that must succeed before the new access token is
/// used.
struct RefreshedToken: Sendable {
  let token: SQToken
  /// The validation of the new ID token; `nil` if the response has none.
  var identity: Identification?
  /// The reason why the response's access token cannot be used.
  ///
  /// If it is not `nil`, ``token`` has only the refresh token from the response.
  var failure: SQOAuthError?
  /// A token for a part of the account's rights.
  ///
  /// If it is not `nil`, ``token`` has the account's old access token.
  var narrowed: SQToken?
  /// The grant that got the token, with the user whom its assertion named; `nil` for a refresh.
  var grant: AccountRecord.Grant?
}
