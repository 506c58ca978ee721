import Basics

/// A token on its way to a server, and what takes its place when the server refuses it.
package struct TokenUse: Sendable {
  let module: AuthorizationModule
  let token: SQToken
  let origin: ResourceOrigin
  /// Whose token it is; `nil` where that is not known.
  let mark: SignInMark?

  /// The header fields that show the token.
  package var fields: HTTPFields {
    module.environment.requestAuthenticator.headerFields(for: token)
  }

  /// The same with another token, or `nil` where the server's refusal is the last word.
  ///
  /// However many requests were refused with one token, it is refreshed once. Throws why the refresh
  /// failed.
  package func replaced() async throws(SQOAuthError) -> TokenUse? {
    let session = module.session
    // Whoever has signed in meanwhile did not make this request, and pays nothing for it.
    guard let mark, session.mark == mark else { return nil }
    let now = session.now
    if session.token?.accessToken == token.accessToken,
      module.refusals.withLock({ $0.holds(origin, at: now) })
    {
      return nil
    }
    let second: SQToken
    do throws(SQOAuthError) {
      second = try await session.token(.replacing(token.accessToken))
    } catch {
      // What the server said of the token says more than that there is no other one.
      if error.code == .notAuthorized, error.response == nil { return nil }
      throw error
    }
    guard session.mark == mark else { return nil }
    return TokenUse(module: module, token: second, origin: origin, mark: mark)
  }

  /// Notes that the server refused this one, too, which took another one's place.
  package func wasRefused(_ error: SQOAuthError) {
    let now = module.session.now
    module.refusals.withLock { $0.note(origin, error, at: now) }
  }
}

extension AuthorizationModule {
  /// A valid token for a request to a server that may see it.
  package func tokenUse(for origin: ResourceOrigin) async throws(SQOAuthError) -> TokenUse {
    try check(origin)
    let mark = session.mark
    return try use(try await token(), at: origin, of: mark)
  }

  /// The same where a valid token is at hand, and `nil` where it has to be waited for.
  package func tokenUse(at origin: ResourceOrigin) throws(SQOAuthError) -> TokenUse? {
    try check(origin)
    let mark = session.mark
    return session.validToken.map { use($0, at: origin, since: mark) }
  }

  /// A valid token by whatever way there is: the one at hand, a refresh, or else the browser.
  ///
  /// The server was checked.
  func accessUse(for origin: ResourceOrigin) async throws(SQOAuthError) -> TokenUse {
    let mark = session.mark
    return try use(try await requestAccess(), at: origin, of: mark)
  }

  /// The use of a token that was waited for, if no other process has signed a user in meanwhile.
  private func use(
    _ token: SQToken, at origin: ResourceOrigin, of mark: SignInMark?
  ) throws(SQOAuthError) -> TokenUse {
    if let mark, let now = session.mark, now.replacements != mark.replacements {
      throw SQOAuthError(
        .sessionReplaced,
        "another process signed a user in to the account \"\(accountID.printable)\" "
          + "while this request waited; it was not sent, since the user before made it")
    }
    return use(token, at: origin, since: mark)
  }

  /// The use of a token that was asked for when another sign-in may have been in force.
  ///
  /// A token that is no longer the current one is of the sign-in before, if that still stands when
  /// the token is replaced: none comes back.
  private func use(
    _ token: SQToken, at origin: ResourceOrigin, since mark: SignInMark?
  ) -> TokenUse {
    TokenUse(
      module: self, token: token, origin: origin, mark: session.mark(of: token) ?? mark)
  }
}
