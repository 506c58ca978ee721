import SQBasics
import SQFoundation

extension AssertionSource {
  /// Returns a source that gets its assertions (ID-JAG) from an identity provider, for the user of
  /// an account there.
  ///
  /// Set it as ``ClientConfiguration/grantAssertionSource`` of an account at another authorization
  /// server that trusts the identity provider. The user signs in at the identity provider only, and
  /// the provider decides whether the client gets a token for the user at the other server. For
  /// each token of the other server, the SDK exchanges a token of `account` for a grant. `subject`
  /// selects the exchanged token: the ``TokenType/idToken``, which is refreshed first if it has
  /// expired, or the ``TokenType/refreshToken``. `resource` identifies the resource that the other
  /// server's token is for. The scope comes from the call that asks for that token. The source
  /// retains the account.
  ///
  /// If the identity provider refuses, the request fails with
  /// ``SQOAuthError/Code/clientKeyFailed``, whose cause is the provider's error. The account at the
  /// other server stays, and its next request asks the provider again. The cause is
  /// ``SQOAuthError/Code/invalidConfiguration`` if another client or server has been registered for
  /// `account` since its sign-in: its tokens go only to the server that issued them. It is
  /// ``SQOAuthError/Code/idTokenSubject`` if a token is renewed, and another user has signed in to
  /// `account`; ``AccountOperations/requestAccessTokenByAssertion(scope:)`` accepts that user.
  ///
  /// - SeeAlso: draft-ietf-oauth-identity-assertion-authz-grant, section 4
  public static func identityProvider(
    _ account: some AccountOperations, resource: String? = nil, subject: TokenType = .idToken
  ) -> AssertionSource {
    // The sum of two time limits: of a refresh of the account's token, and of the exchange.
    AssertionSource("an identity provider", limit: ClientConfiguration.longestTimeout * 2) { need in
      let exchange = TokenExchange(
        audiences: [need.audience], resources: resource.map { [$0] } ?? [], scope: need.scope,
        requestedType: .idJAG)
      return try await account.module.grant(by: exchange, of: subject)
    }
  }
}

extension AuthorizationModule {
  /// Exchanges the account's token that proves the user's identity to the identity provider.
  fileprivate func grant(
    by exchange: TokenExchange, of type: TokenType
  ) async throws(SQOAuthError) -> String {
    switch type {
    case .idToken:
      let (idToken, record) = try await unexpiredIDToken()
      return try await self.exchange(
        exchange, subject: .idToken(idToken.compactForm), of: record
      ).text
    case .refreshToken:
      guard try await restore(), session.token?.refreshToken != nil else {
        throw SQOAuthError(
          .notAuthorized,
          "the account at the identity provider has no refresh token; sign in there again")
      }
      // Another process may have replaced the refresh token, or a refresh may be under way.
      return try await session.token(for: NarrowedAccess(by: exchange)).accessToken
    default:
      throw SQOAuthError(
        .invalidConfiguration,
        "an identity provider's grant needs the ID token or the refresh token of the account there, "
          + "not a token of the type \"\(type.rawValue.printable)\"")
    }
  }

  /// Returns the ID token with its record, after a refresh if it has expired.
  private func unexpiredIDToken() async throws(SQOAuthError) -> (IDToken, AccountRecord) {
    let kept = try await identifiedRecord()
    guard kept.idToken.expirationDate <= environment.clock.now else { return kept }
    try await refresh()
    let fresh = try await identifiedRecord()
    guard fresh.idToken.expirationDate > environment.clock.now else {
      throw SQOAuthError(
        .idTokenExpired,
        "the ID token of the account at the identity provider has expired, and a refresh brought no "
          + "new one; sign in there again, or let the source use the refresh token")
    }
    return fresh
  }

  private func identifiedRecord() async throws(SQOAuthError) -> (
    idToken: IDToken, record: AccountRecord
  ) {
    let record = try await restoredRecord()
    return (try await identity(of: record), record)
  }
}
