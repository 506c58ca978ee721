import SQFoundation

/// What the sandbox's API demands of a valid token: the right resource, scopes and login.
extension SandboxState {
  /// Throws unless a valid token suffices for a path.
  func check(_ access: ProtectedAPI.Access, at path: String) throws(TokenRefusal) {
    guard accepts(audiences: access.token.audiences, at: path) else {
      throw TokenRefusal(
        401, "invalid_token", "The access token is for another resource.", scheme: access.scheme)
    }
    for stepUp in options.resources.stepUps where stepUp.holds(at: path) {
      guard stepUp.scopes.allSatisfy(access.token.scopes.contains) else {
        throw .insufficientScope(stepUp.scopes.joined(separator: " "), scheme: access.scheme)
      }
      guard stepUp.accepts(access.grant.signIn, at: now) else {
        throw .insufficientLogin(stepUp.acrValues, maxAge: stepUp.maxAge, scheme: access.scheme)
      }
    }
  }

  /// Returns whether a token with these audiences is for the API at a path.
  private func accepts(audiences: [String], at path: String) -> Bool {
    switch options.resources.audienceRule {
    case .any: true
    case .notForOthers: audiences.isEmpty || Self.names(audiences, resource(at: path))
    case .named: Self.names(audiences, resource(at: path))
    }
  }
}

extension SandboxStepUp {
  /// Returns whether the demand holds at a path.
  fileprivate func holds(at path: String) -> Bool {
    path == self.path || path.hasPrefix(self.path + "/")
  }

  /// Returns whether the login of a token's user suffices; `signIn` is `nil` if the token has no
  /// user.
  ///
  /// - SeeAlso: RFC 9470, section 3
  fileprivate func accepts(_ signIn: UserSignIn?, at now: Date) -> Bool {
    guard !acrValues.isEmpty || maxAge != nil else { return true }
    guard let signIn else { return false }
    let isRecent = maxAge.map { now.timeIntervalSince(signIn.date) <= $0.timeInterval } ?? true
    return isRecent && (acrValues.isEmpty || acrValues.contains(signIn.acr))
  }
}
