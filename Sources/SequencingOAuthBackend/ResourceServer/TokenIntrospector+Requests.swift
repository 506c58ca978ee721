public import SequencingOAuth

// Checks of requests, whose every failure is an error with an answer.
extension TokenIntrospector {
  /// Returns the claims of the active Bearer token in a request's `Authorization` field.
  ///
  /// `authorization` has the values of all `Authorization` fields of the request. The rules for
  /// them are those of ``AccessTokenValidator/validate(authorization:)``.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenMissing` for a request without a Bearer token;
  ///   `SQOAuthError.Code.authorizationMalformed` for more than one field, or for a field of the scheme
  ///   Bearer that has not exactly one token; `SQOAuthError.Code.accessTokenInvalid` for a token that
  ///   is not active; the errors of ``claims(of:)-(String)``. Make the response to each of them with
  ///   ``AccessRefusal``.
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
  ///   ``claims(of:)-(ProtectedRequest)``. An ``AccessRefusal`` is the answer to each.
  public func validate(
    _ request: ProtectedRequest
  ) async throws(SQOAuthError) -> AccessTokenClaims {
    guard let claims = try await claims(of: request) else { throw Self.isNotActive }
    return claims
  }

  private static let isNotActive = SQOAuthError(
    .accessTokenInvalid, "the access token is not active")
}
