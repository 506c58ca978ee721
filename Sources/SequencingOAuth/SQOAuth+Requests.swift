/// Requests for protected resources, sent with the account's token.
extension SQOAuth {
  /// Returns a copy of a request with a valid token.
  ///
  /// See ``AuthorizationModule/authenticate(_:)``.
  public func authenticate(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPRequest {
    try await module.authenticate(request)
  }

  /// Allows the SDK to send the account's tokens to the given servers.
  ///
  /// See ``AuthorizationModule/allowTokens(at:)``.
  public func allowTokens(at servers: String...) throws(SQOAuthError) {
    try module.allowTokens(atAll: servers)
  }

  /// Sends a request with a valid token; see ``AuthorizationModule/send(_:)``.
  public func send(_ request: HTTPRequest) async throws(SQOAuthError) -> HTTPResponse {
    try await module.send(request)
  }
}
