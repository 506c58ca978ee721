import SQFoundation

extension SQToken {
  /// Creates an empty, expired token.
  ///
  /// Apps that were written for the Sequencing.com pod initialize a variable with it. The SDK never
  /// accepts this token: a call with it fails with ``SQOAuthError/Code/notAuthorized``.
  @available(*, deprecated, message: "keep an optional token: it is nil until a user signs in")
  public init() {
    self.init(accessToken: "", expirationDate: .distantPast)
  }
}
