/// Requests for protected resources; the ``module`` does them.
extension SQOAuth {
  /// A copy of a request that carries a valid token; see ``AuthorizationModule/authenticate(_:)``.
  public func authenticate(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPRequest {
    try await module.authenticate(request)
  }

  /// Allows servers to get the tokens; see ``AuthorizationModule/allowTokens(at:)``.
  public func allowTokens(at servers: String...) throws(SQOAuthError) {
    try module.allowTokens(atAll: servers)
  }

  /// Sends a request with a valid token; see ``AuthorizationModule/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPResponse {
    try await module.send(request)
  }
}
