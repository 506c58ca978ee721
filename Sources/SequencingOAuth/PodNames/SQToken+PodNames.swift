#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SQToken {
  /// Makes an empty token that has expired, for a variable of an app that was written for the pod.
  ///
  /// ``SQOAuth`` takes no such token: a call that is given one fails with
  /// ``SQOAuthError/Code/notAuthorized``.
  @available(*, deprecated, message: "keep an optional token: it is nil until a user signs in")
  public init() {
    self.init(accessToken: "", expirationDate: .distantPast)
  }
}
