// Token exchange.
extension AccountOperations {
  /// Exchanges a token for one with a different type or for a different service.
  ///
  /// A service that receives a user's token and calls another service uses this to get a token for
  /// that service, instead of forwarding the token that it received. The SDK does not save the new
  /// token, and the account's own token does not change. The request takes at most
  /// ``ClientConfiguration/timeout``, in addition to a refresh of the account's own token.
  ///
  /// - Throws: ``SQOAuthError``: ``SQOAuthError/Code/unexpectedTokenType`` or
  ///   ``SQOAuthError/Code/unexpectedAudience`` if the response does not match the request;
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
    return try await TokenExchangeGrant(
      client: try await module.context.client(), abandoned: module.abandoned
    )
    .run(exchange, subject: subject)
  }
}
