/// What an access token tells a server beside the sandbox that takes its tokens.
package struct TokenAccess: Sendable, Equatable {
  /// The name of the token's user; the client's ID if the client acts in its own name.
  package let user: String
  /// The scopes of the token.
  package let scopes: [String]
}

extension SandboxServer {
  /// Checks the access token in the value of an `Authorization` field, as the sandbox's own API
  /// does.
  ///
  /// The token must have one of the `scopes`; with `nil` any token will do.
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
