import SQBasics

/// The user and scopes of a valid access token, for another server that accepts the sandbox's
/// tokens.
package struct TokenAccess: Sendable, Redacted {
  /// The name of the token's user, or the client's ID if the token has no user.
  package let user: String
  /// The scopes of the token.
  package let scopes: [String]
  fileprivate let token: String
  /// The authentication scheme with which the token was sent.
  fileprivate let scheme: TokenRefusal.Scheme

  fileprivate init(_ access: ProtectedAPI.Access) {
    user = access.grant.user ?? access.grant.clientID
    scopes = access.token.scopes
    token = access.text
    scheme = access.scheme
  }
}

/// Functions for another server that accepts the sandbox's tokens.
extension SandboxServer {
  /// Checks a request's access token and proof as the sandbox's own API does, but not the token's
  /// resources.
  ///
  /// The token must have at least one of `scopes`. If `scopes` is `nil`, any valid token is
  /// accepted. The demands in ``SandboxOptions/resources`` are for the sandbox's own API only.
  package func access(
    _ request: ProvableRequest, anyOf scopes: [String]? = nil
  ) throws(TokenRefusal) -> TokenAccess {
    try core.withState { state throws(TokenRefusal) in
      TokenAccess(try ProtectedAPI.access(request, anyOf: scopes, &state))
    }
  }

  /// Checks that an accepted token has neither expired nor been revoked since.
  ///
  /// The proof is not checked again, because it is valid only for the beginning of the request.
  package func check(_ access: TokenAccess) throws(TokenRefusal) {
    try core.withState { state throws(TokenRefusal) in
      _ = try ProtectedAPI.access(access.token, scheme: access.scheme, state)
    }
  }

  /// Returns the field with the API's nonce for an answer, or `nil` if the API does not offer a
  /// nonce in every answer.
  ///
  /// The server must call this once for each answer, because a success may renew the nonce.
  package func nonceField(afterSuccess succeeded: Bool) -> SandboxParameter? {
    core.withState { $0.nonceField(afterRequestTo: .api, succeeded: succeeded) }
  }

  /// The current time on the sandbox's clock, in the format of the field `Date`.
  package var httpDate: String { Timestamp.http(now) }
}
