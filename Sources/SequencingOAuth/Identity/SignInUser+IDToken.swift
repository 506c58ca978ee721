extension SignInUser {
  /// Returns the user of a validated ID token.
  package init(_ idToken: IDToken) {
    self.init(issuer: idToken.issuer, subject: idToken.subject)
  }
}
