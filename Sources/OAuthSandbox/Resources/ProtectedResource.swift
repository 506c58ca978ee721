import SQFoundation

/// The sandbox's API as a protected resource: its identifiers, and what it demands of tokens.
extension SandboxState {
  private static let apiEndpoints: [SandboxEndpoint] = [
    .me, .files, .driveAbout, .driveFiles, .driveUpload,
  ]

  /// Returns the identifier of the resource at a path of the API.
  func resource(at path: String) -> String {
    switch options.resources.extent {
    case .origin: address
    case .path: address + path
    }
  }

  /// The identifiers of all resources that the sandbox itself has.
  var ownResources: [String] {
    switch options.resources.extent {
    case .origin: [address]
    case .path: Self.apiEndpoints.map { resource(at: $0.path) }
    }
  }

  /// Returns the address of the document about the resource at a path; `nil` without a document.
  ///
  /// - SeeAlso: RFC 9728, section 3.1
  func resourceMetadata(at path: String) -> String? {
    guard options.resources.describesItself else { return nil }
    let document = address + SandboxEndpoint.resourceMetadata.path
    return options.resources.extent == .origin ? document : document + path
  }

  /// Returns whether a token with these audiences is for the API at a path.
  ///
  /// Clients write the identifier of an origin with a slash at its end or without.
  func accepts(audiences: [String], at path: String) -> Bool {
    guard !audiences.isEmpty else { return options.resources.audienceRule != .named }
    guard options.resources.audienceRule != .any else { return true }
    let resource = resource(at: path)
    return audiences.contains { [resource, resource + "/"].contains($0) }
  }

  /// Throws unless an accepted token suffices for a path.
  func check(_ access: ProtectedAPI.Access, at path: String) throws(TokenRefusal) {
    guard accepts(audiences: access.token.audiences, at: path) else {
      throw TokenRefusal(
        401, "invalid_token", "The access token is for another resource.", scheme: access.scheme)
    }
    for stepUp in options.resources.stepUps where stepUp.holds(at: path) {
      guard stepUp.scopes.allSatisfy(access.token.scopes.contains) else {
        throw TokenRefusal(
          403, "insufficient_scope", "The access token does not allow this.",
          scope: stepUp.scopes.joined(separator: " "), scheme: access.scheme)
      }
      try check(access.grant.signIn, stepUp, access.scheme)
    }
  }

  /// - SeeAlso: RFC 9470, section 3
  private func check(
    _ signIn: UserSignIn?, _ stepUp: SandboxStepUp, _ scheme: TokenRefusal.Scheme
  ) throws(TokenRefusal) {
    let needsContext = !stepUp.acrValues.isEmpty
    let hasContext = signIn.map { stepUp.acrValues.contains($0.acr) } ?? false
    let isRecent =
      stepUp.maxAge.map { limit in
        signIn.map { now.timeIntervalSince($0.date) <= limit.timeInterval } ?? false
      } ?? true
    guard !needsContext || hasContext, isRecent else {
      throw .insufficientLogin(stepUp.acrValues, maxAge: stepUp.maxAge, scheme: scheme)
    }
  }
}

extension TokenRefusal {
  /// Creates the refusal that demands another or a newer login of the user.
  ///
  /// - SeeAlso: RFC 9470, section 3
  static func insufficientLogin(
    _ acrValues: [String], maxAge: Duration?, scheme: Scheme = .bearer
  ) -> Self {
    var refusal = Self(
      401, "insufficient_user_authentication", "Another login of the user is needed.",
      scheme: scheme)
    if !acrValues.isEmpty {
      refusal.parameters.append(("acr_values", acrValues.joined(separator: " ")))
    }
    if let maxAge { refusal.parameters.append(("max_age", String(maxAge.wholeSeconds))) }
    return refusal
  }
}
