import SQBasics

// Step-up: new sign-ins for the scopes or the login that a resource server demands.
extension AccountOperations {
  /// Signs the user in again as a resource server demands, and returns the new token; may open a
  /// browser.
  ///
  /// `error` is an error of ``send(_:)``, of ``send(_:with:)`` or of an adapter, the `oauthError` of
  /// a pipe's `PipeError.Refusal`, or the `oauthError` of an `RPCCallError`. For
  /// ``SQOAuthError/Code/insufficientScope``, the sign-in asks for the account's scopes and for the
  /// scopes in the server's challenge. For ``SQOAuthError/Code/insufficientUserAuthentication``, it
  /// asks for the login that the challenge describes. In both cases it also asks for the permissions
  /// that the account has (``SQToken/authorizationDetails``), unless `options` name others. For
  /// ``SQOAuthError/Code/invalidToken``, and for any other error whose
  /// ``SQOAuthError/requiresSignIn`` is `true`, this method does what ``requestAccess()`` does.
  ///
  /// If a newer token with the demanded scopes has replaced the refused token meanwhile, this
  /// method returns the newer token without a sign-in. A demanded login needs the token of a later
  /// sign-in, because a refresh is no login. The token is always for the user whose request failed.
  /// Without ID tokens, users who sign in during this call cannot be told apart; a sign-in before
  /// this call counts as another user's. If the user refuses, the account keeps its token.
  /// After three sign-ins within ten minutes for the same demand and the same request, the user is
  /// not asked again.
  ///
  /// - Throws: ``SQOAuthError``: `error` itself if no sign-in can help, for example because the
  ///   client acts in its own name, or if three sign-ins did not help;
  ///   ``SQOAuthError/Code/sessionReplaced`` if the app has ended the session of the failed request,
  ///   or another user has signed in; ``SQOAuthError/Code/invalidConfiguration`` if the app registers
  ///   another client or server before the sign-in begins; ``SQOAuthError/Code/idTokenSubject`` if
  ///   another user signs in on the page; the errors of ``signIn(with:)``.
  /// - SeeAlso: RFC 6750, section 3.1; RFC 9470, section 4
  @discardableResult
  public func requestAccess(
    answering error: SQOAuthError, with options: SignInOptions = SignInOptions()
  ) async throws(SQOAuthError) -> SQToken {
    let owner = error.owner ?? module.session.owner
    while true {
      let endCount = module.signIns.endCount
      if error.owner != nil { try module.checkIsAskable(owner) }
      guard let options = try module.stepUpOptions(answering: error, with: options) else {
        return try module.permitted(await module.access(SignIn.Request(), of: owner))
      }
      let request = SignIn.Request(
        place: .browser, options: options, appEndCount: owner.appEndCount)
      // Another caller may have signed the user in meanwhile.
      if let signedIn = try await module.signIn(request, since: endCount, on: nil) {
        return try module.permitted((signedIn.token, owner.following(signedIn)))
      }
    }
  }
}

extension AuthorizationModule {
  /// Returns the options of the sign-in that a resource server demands, and counts the sign-in;
  /// `nil` if ``AccountOperations/requestAccess()`` is enough.
  ///
  /// The caller has already checked that the demand's user may be asked. With `repeatsGrants`, the
  /// caller repeats the grant of a client that acts in its own name; otherwise the method throws the
  /// error for such a client.
  package func stepUpOptions(
    answering error: SQOAuthError, with options: SignInOptions, repeatsGrants: Bool = false
  ) throws(SQOAuthError) -> SignInOptions? {
    // The token of a user must not replace the token of a grant that the client repeats.
    let isOfGrant = error.owner?.isOfGrant == true || session.record?.grant != nil
    if isOfGrant, !repeatsGrants, !context.usesClientCredentials, session.record == nil {
      throw error
    }
    guard let demand = StepUpDemand(error) else {
      guard error.requiresSignIn || error.code == .invalidToken else { throw error }
      return nil
    }
    if let use = error.refusedUse, let token = session.validToken, !use.isOf(token),
      token.scopesMissing(from: demand.scopes).isEmpty,
      !demand.asksForLogin || error.owner?.isSameSignIn(as: session.owner) == false
    {
      return nil
    }
    guard repeatsGrants || !isOfGrant && !context.usesClientCredentials else { throw error }
    let now = context.environment.clock.steadyTime
    let isAllowed = refusals.withLock { refusals in
      refusals.stepUps.begin(demand, after: error.refusedUse, at: now)
    }
    guard isAllowed else {
      var error = error
      // The rest of the message advises a sign-in, which did not help.
      let reason = error.message.prefix { $0 != ";" }
      error.message =
        "\(reason); it still did after \(StepUps.limit) sign-ins, so the user is not asked again now"
      throw error
    }
    return demand.options(
      options, for: error.refusedUse?.user ?? error.owner?.user, of: session.record,
      configuration)
  }

  /// Throws if the user of a refused request must not be asked to sign in, because another user has
  /// signed in or the app has ended the session.
  fileprivate func checkIsAskable(_ owner: RequestOwner) throws(SQOAuthError) {
    let current = session.owner
    // If nobody is signed in, the sign-in asks for the request's user.
    let isValid =
      current.isSignedIn ? owner.permits(current) : owner.appEndCount == current.appEndCount
    guard isValid else { throw .demandOutdated(ofAccount: accountID) }
  }

  /// Returns a token if a request of its owner may carry it; throws if it is another user's.
  fileprivate func permitted(
    _ access: (token: SQToken, owner: RequestOwner)
  ) throws(SQOAuthError) -> SQToken {
    guard access.owner.permits(session.owner(with: access.token)) else {
      throw .demandOutdated(ofAccount: accountID)
    }
    return access.token
  }
}

extension SQOAuthError {
  /// Returns whether a resource server refused a token with this error.
  package func isRefusal(of token: SQToken) -> Bool { refusedUse?.isOf(token) == true }
}
