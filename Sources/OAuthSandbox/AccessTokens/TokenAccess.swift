/// The user and scopes of a valid access token, for another server that accepts the sandbox's
/// tokens.
package struct TokenAccess: Sendable, Equatable {
  /// The name of the token's user, or the client's ID if the token has no user.
  package let user: String
  /// The scopes of the token.
  package let scopes: [String]
}

extension SandboxServer {
  /// Checks the access token in an `Authorization` field's value like the sandbox's own API.
  ///
  /// The token must have at least one of `scopes`. If `scopes` is `nil`, any valid token is
  /// accepted. A token that is bound to a key is rejected, because the call has no proof.
  package func access(
    authorization: String?, anyOf scopes: [String]? = nil
  ) throws(TokenRefusal) -> TokenAccess {
    let token = authorization.flatMap(SandboxRequest.bearerToken)
    return try core.withState { state -> Result<TokenAccess, TokenRefusal> in
      do throws(TokenRefusal) {
        let access = try ProtectedAPI.access(token: token, anyOf: scopes, state)
        return .success(
          TokenAccess(
            user: access.grant.user ?? access.grant.clientID, scopes: access.token.scopes))
      } catch {
        return .failure(error)
      }
    }.get()
  }
}
