/// An object from which any thread can read the current token.
///
/// ``shared`` belongs to ``SQOAuth/shared``. Any other ``SQOAuth`` has its own object in
/// ``SQOAuth/result``.
public final class SQAuthResult: Sendable {
  /// The object with the current token of ``SQOAuth/shared``.
  public static var shared: SQAuthResult { SQOAuth.shared.result }

  private let module: AuthorizationModule

  init(_ module: AuthorizationModule) {
    self.module = module
  }

  /// The current token, or `nil` while no user is signed in; it may have expired.
  public var token: SQToken? { module.currentToken }
}
