/// The holder of the current token, for any thread.
///
/// ``shared`` belongs to ``SQOAuth/shared``; an ``SQOAuth`` that an app makes itself has a result
/// of its own in ``SQOAuth/result``.
public final class SQAuthResult: Sendable {
  /// The result of ``SQOAuth/shared``.
  public static var shared: SQAuthResult { SQOAuth.shared.result }

  private let module: AuthorizationModule

  init(_ module: AuthorizationModule) {
    self.module = module
  }

  /// The current token, or `nil` while nobody is signed in; it may have expired.
  public var token: SQToken? { module.currentToken }
}
