/// A token on its way to a server, and what takes its place when the server refuses it.
package struct TokenUse: Sendable {
  let module: AuthorizationModule
  let token: SQToken
  /// Noted first: whoever signs in later did not make this request.
  let ends: Int

  /// The header fields that show the token.
  package var fields: HTTPFields {
    module.environment.requestAuthenticator.headerFields(for: token)
  }

  /// The same with another token, or `nil` where the server's refusal is the last word.
  ///
  /// However many requests were refused with one token, it is refreshed once. Throws why the refresh
  /// failed.
  package func replaced() async throws(SQOAuthError) -> TokenUse? {
    let second: SQToken
    do throws(SQOAuthError) {
      second = try await module.session.token(.replacing(token.accessToken))
    } catch {
      // What the server said of the token says more than that there is no other one.
      if error.code == .notAuthorized, error.response == nil { return nil }
      throw error
    }
    // Whoever signed in meanwhile did not make this request.
    guard module.session.ends == ends else { return nil }
    return TokenUse(module: module, token: second, ends: ends)
  }
}

extension AuthorizationModule {
  /// A valid token for a request to a server that may see it.
  package func tokenUse(for origin: ResourceOrigin) async throws(SQOAuthError) -> TokenUse {
    try check(origin)
    let ends = session.ends
    return TokenUse(module: self, token: try await token(), ends: ends)
  }

  /// The same where a valid token is at hand, and `nil` where it has to be waited for.
  package func tokenUse(at origin: ResourceOrigin) throws(SQOAuthError) -> TokenUse? {
    try check(origin)
    let ends = session.ends
    return session.validToken.map { TokenUse(module: self, token: $0, ends: ends) }
  }

  /// A valid token by whatever way there is: the one at hand, a refresh, or else the browser.
  func accessUse() async throws(SQOAuthError) -> TokenUse {
    let ends = session.ends
    let token = try await requestAccess()
    let now = session.ends
    if now == ends { return TokenUse(module: self, token: token, ends: ends) }
    // The session ended and the user signed in again; or has just signed out.
    return TokenUse(module: self, token: try await self.token(), ends: now)
  }
}
