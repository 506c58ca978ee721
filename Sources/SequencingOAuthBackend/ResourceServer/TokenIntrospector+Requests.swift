public import SequencingOAuth

// Checks of requests; each of their errors can be answered with an `AccessRefusal`.
extension TokenIntrospector {
  /// Returns the claims of the active Bearer token in a request's `Authorization` field.
  ///
  /// `authorization` contains the values of all `Authorization` fields of the request. The rules
  /// for them are those of ``AccessTokenValidator/validate(authorization:)``.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenMissing` for a request without a Bearer token;
  ///   `SQOAuthError.Code.authorizationMalformed` for several fields, or for a field of the scheme
  ///   Bearer without exactly one token; `SQOAuthError.Code.accessTokenInvalid` for a token that is
  ///   not active; the errors of ``claims(of:)-(String)``. Answer each with an ``AccessRefusal``.
  /// - SeeAlso: RFC 6750, sections 2.1 and 3.1
  public func validate(authorization: [String]) async throws(SQOAuthError) -> AccessTokenClaims {
    let token = try ReceivedToken(authorization, of: [.bearer])
    guard let claims = try await claims(of: token.text) else { throw Self.isNotActive }
    return claims
  }

  /// Returns the claims of a request's active access token after checking the proof that a bound
  /// token needs.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid` for a token that is not active; the errors of
  ///   ``claims(of:)-(ProtectedRequest)``. Answer each with an ``AccessRefusal``.
  public func validate(
    _ request: ProtectedRequest
  ) async throws(SQOAuthError) -> AccessTokenClaims {
    guard let claims = try await claims(of: request) else { throw Self.isNotActive }
    return claims
  }

  private static let isNotActive = SQOAuthError(
    .accessTokenInvalid, "the access token is not active")
}
