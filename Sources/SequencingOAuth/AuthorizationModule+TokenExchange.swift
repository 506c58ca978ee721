// A token for another one.
extension AuthorizationModule {
  /// Exchanges a token for one of another type, or for another service.
  ///
  /// A service that gets a user's token and calls a further service asks so for a token that suits
  /// that one, instead of passing on what it got. The new token is not kept, and the account's own
  /// stays as it is. The request takes at most ``ClientConfiguration/timeout``, besides a refresh
  /// of the account's own token.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/unexpectedTokenType`` or
  ///   ``SQOAuthError/Code/unexpectedAudience`` if the answer is not what was asked for;
  ///   ``SQOAuthError/Code/invalidTarget`` and other refusals of the server; the reason why the
  ///   account has no token.
  /// - SeeAlso: RFC 8693
  public func exchangeToken(
    _ exchange: TokenExchange
  ) async throws(SQOAuthError) -> ExchangedToken {
    let subject: TokenExchange.Token =
      if let subject = exchange.subject {
        subject
      } else {
        .accessToken(try await token().accessToken)
      }
    return try await TokenExchangeGrant(client: try await context.client(), unclaimed: unclaimed)
      .run(exchange, subject: subject)
  }
}
