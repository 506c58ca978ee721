import SQBasics
import SQFoundation

/// The token exchange grant, which exchanges a token for a token of a different type or for a
/// different service.
///
/// - SeeAlso: RFC 8693
struct TokenExchangeGrant: Sendable {
  let client: RegisteredClient
  /// The token requests under way; a cancelled caller's tokens are revoked.
  let tokenRequests: TokenRequests

  /// Exchanges the subject; after `end`, a steady time of the client's clock, nothing is sent.
  func run(
    _ exchange: TokenExchange, subject: TokenExchange.Token, until end: Duration? = nil
  ) async throws(SQOAuthError) -> ExchangedToken {
    try Self.check(exchange, subject)
    var pairs: [FormCoding.Pair] = [
      .init("grant_type", TokenExchange.grantType),
      .init("subject_token", subject.text), .init("subject_token_type", subject.type.rawValue),
      .init("requested_token_type", exchange.requestedType.rawValue),
    ]
    if let actor = exchange.actor {
      pairs.append(.init("actor_token", actor.text))
      pairs.append(.init("actor_token_type", actor.type.rawValue))
    }
    pairs += exchange.audiences.map { .init("audience", $0) }
    pairs += exchange.resources.map { .init("resource", $0) }
    if let scope = exchange.scope { pairs.append(.init("scope", scope)) }
    // If the exchange names services, the configuration's audience and resource are left out.
    // Otherwise the token would be valid for the configured services too.
    let isForNamed = !(exchange.audiences + exchange.resources).isEmpty
    let parameters = pairs
    let token = try await tokenRequests.token(of: client, orIfCancelled: .waitCancelled) {
      [client] () throws(SQOAuthError) in
      try await client.token(
        parameters, scope: exchange.scope,
        parser: TokenExchangeParser(parser: client.environment.tokenResponseParser),
        omitting: isForNamed ? ["audience", "resource"] : [], until: end)
    } use: {
      $0.token
    }
    let texts = [subject.text, exchange.actor?.text].compactMap(\.self)
    let secret = [client.configuration.clientSecret].compactMap(\.self)
    try Self.check(token, exchange, removing: SentSecrets(texts, passwords: secret))
    return ExchangedToken(type: exchange.requestedType, token: token)
  }

  // MARK: Checks

  private static func check(
    _ exchange: TokenExchange, _ subject: TokenExchange.Token
  ) throws(SQOAuthError) {
    for token in [subject, exchange.actor].compactMap(\.self) {
      guard !token.text.isEmpty, !token.type.rawValue.isEmpty else {
        throw SQOAuthError(
          .invalidConfiguration, "a token of the exchange, or its type, is empty")
      }
    }
    for resource in exchange.resources { try ResourceIndicator.check(resource) }
  }

  /// Throws if the token is not the requested one; no error contains the request's `secrets`.
  private static func check(
    _ token: SQToken, _ exchange: TokenExchange, removing secrets: SentSecrets
  ) throws(SQOAuthError) {
    guard let type = token.additionalFields["issued_token_type"]?.string else {
      throw SQOAuthError(
        .invalidResponse,
        "the token response does not name the type of the token (issued_token_type)")
    }
    guard type == exchange.requestedType.rawValue else {
      throw SQOAuthError(
        .unexpectedTokenType,
        "the server issued a token of the type \"\(secrets.removed(from: type).printable)\", which "
          + "was not requested")
    }
    let isUsable = token.isBound || token.tokenType.asciiLowercased() == "bearer"
    guard type != TokenType.accessToken.rawValue || isUsable else {
      throw SQOAuthError(
        .invalidResponse,
        "the server issued an access token with the token_type "
          + "\"\(secrets.removed(from: token.tokenType).printable)\", which the SDK cannot use")
    }
    try checkAudience(of: token, exchange)
  }

  /// Throws if a JWT is for a service that the client did not name.
  ///
  /// An access token is not checked, because only its server and its service know its format.
  private static func checkAudience(
    of token: SQToken, _ exchange: TokenExchange
  ) throws(SQOAuthError) {
    // The audience of an ID-JAG is the authorization server, and never the resource itself.
    let asked =
      exchange.audiences + (exchange.requestedType == .idJAG ? [] : exchange.resources)
    guard !asked.isEmpty, [.jwt, .idToken, .idJAG].contains(exchange.requestedType) else { return }
    guard let jwt = try? CompactJWS(token.accessToken), let claims = try? jwt.claims() else {
      throw SQOAuthError(.invalidResponse, "the issued token is not a signed JWT")
    }
    let audience = try ClaimReader(
      claims: claims, subject: "issued token", missing: .invalidResponse,
      malformed: .invalidResponse
    ).audience("aud")
    guard let audience, audience.allSatisfy({ asked.contains($0) }) else {
      throw SQOAuthError(
        .unexpectedAudience,
        "the server issued a token whose audience (\"aud\") is missing, or names a service that "
          + "the request did not name")
    }
  }
}

/// A parser for the response to an exchange; the token's `token_type` may be `N_A`.
///
/// Requests cannot use a token of that type.
private struct TokenExchangeParser: TokenResponseParser {
  let parser: any TokenResponseParser

  func token(from response: WebResponse, context: TokenResponseContext) throws -> SQToken {
    try parser.token(from: response, context: context)
  }

  func token(
    from response: WebResponse, members: [String: JSONValue]?, context: TokenResponseContext
  ) throws -> SQToken {
    guard var members, members["token_type"]?.string?.asciiLowercased() == "n_a" else {
      return try parser.token(from: response, members: members, context: context)
    }
    members["token_type"] = "Bearer"
    let token = try StandardTokenResponseParser().token(
      from: response, members: members, context: context)
    return SQToken(
      accessToken: token.accessToken, expirationDate: token.expirationDate, tokenType: "N_A",
      scope: token.scope, refreshToken: token.refreshToken, issueDate: token.issueDate,
      additionalFields: token.additionalFields)
  }
}
