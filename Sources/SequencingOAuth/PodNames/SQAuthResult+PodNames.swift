/// The pods' result objects, with tokens that are not optional and can be set.
///
/// Setting a token calls ``SQOAuth/launchTokenTimerUpdate(with:)``.
@available(*, deprecated)
extension SQAuthResult {
  /// Returns the object with the current token, as in the Objective-C pod; never `nil`.
  @available(*, deprecated, message: "use SQAuthResult.shared, whose token is optional")
  public static func sharedInstance() -> OfObjectiveCPod! { OfObjectiveCPod() }

  /// The object with the current token, as in the Swift pod.
  @available(*, deprecated, message: "use SQAuthResult.shared, whose token is optional")
  public static var instance: OfSwiftPod { OfSwiftPod() }

  /// The Objective-C pod's object with the current token, which is implicitly unwrapped.
  public struct OfObjectiveCPod: Sendable {
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// The current token, or `nil` until a user signs in; it may have expired.
    ///
    /// Setting it to `nil` calls ``SQOAuth/userDidSignOut()``.
    public var token: SQToken! {
      get { SQAuthResult.shared.token }
      nonmutating set { SQAuthResult.set(newValue) }
    }
  }

  /// The Swift pod's object with the current token, which is not optional.
  public struct OfSwiftPod: Sendable {
    /// The current token, or an empty token until a user signs in; it may have expired.
    ///
    /// Setting it to an empty token calls ``SQOAuth/userDidSignOut()``.
    public var token: SQToken {
      get { SQAuthResult.shared.token ?? SQToken() }
      nonmutating set { SQAuthResult.set(newValue.isEmpty ? nil : newValue) }
    }
  }

  private static func set(_ token: SQToken?) {
    if let token {
      SQOAuth.shared.launchTokenTimerUpdate(with: token)
    } else {
      SQOAuth.shared.userDidSignOut()
    }
  }
}
