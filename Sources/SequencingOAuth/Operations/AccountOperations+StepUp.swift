import SQBasics

// Access that a resource server demands in addition.
extension AccountOperations {
  /// Signs the user in again as a resource server demands it, and returns the new token; may open a
  /// browser.
  ///
  /// `error` is an error of ``send(_:)``, of a pipe or of an adapter. For
  /// ``SQOAuthError/Code/insufficientScope``, the sign-in asks for the scopes that the account has
  /// and those of the server's challenge. For ``SQOAuthError/Code/insufficientUserAuthentication``,
  /// it asks for the challenge's login. For any other error whose ``SQOAuthError/requiresSignIn``
  /// is `true`, it is ``requestAccess()``.
  ///
  /// If another caller has replaced the refused token meanwhile, this returns the newer token
  /// without a sign-in. If the user refuses, the account keeps its token. If the server has
  /// demanded the same for the same request three times within ten minutes, the user is not asked
  /// again.
  ///
  /// - Throws: ``SQOAuthError``: `error` itself if no sign-in can help, or too many did not; the
  ///   errors of ``signIn(with:)``.
  /// - SeeAlso: RFC 6750, section 3.1; RFC 9470, section 4
  @discardableResult
  public func requestAccess(
    answering error: SQOAuthError, with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> SQToken {
    if let options = try module.stepUpOptions(answering: error, with: options) {
      return try await module.signIn(SignIn.Request(place: .browser, options: options))
    }
    return try await requestAccess()
  }
}

extension AuthorizationModule {
  /// Returns the options of the sign-in that a resource server demands, and counts it; `nil` if a
  /// valid token is enough.
  package func stepUpOptions(
    answering error: SQOAuthError, with options: SignInOptions
  ) throws(SQOAuthError) -> SignInOptions? {
    guard let demand = StepUpDemand(error) else {
      guard error.requiresSignIn || error.code == .invalidToken else { throw error }
      return nil
    }
    if let use = error.refusedUse, let token = session.validToken, !use.isOf(token),
      token.scopesMissing(from: demand.scopes).isEmpty
    {
      return nil
    }
    let now = context.environment.clock.steadyTime
    guard stepUps.withLock({ $0.begin(demand, after: error.refusedUse, at: now) }) else {
      var error = error
      error.message += "; it demanded the same after \(StepUps.limit) sign-ins"
      throw error
    }
    return demand.options(options, after: session.token, configuration)
  }
}

extension SQOAuthError {
  /// Returns whether a resource server refused a token with this error.
  package func isRefusal(of token: SQToken) -> Bool { refusedUse?.isOf(token) == true }
}
