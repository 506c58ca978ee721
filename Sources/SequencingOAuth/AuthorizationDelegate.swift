/// Methods that the SDK calls with the result of a sign-in, one call for each sign-in.
///
/// In a sign-in on another device, the SDK also calls ``userMustEnterCode(_:)``, before the result.
///
/// Implement these methods as ordinary methods of any class:
///
/// ```swift
/// final class LoginScreen: AuthorizationDelegate {
///   var token: SQToken?
///   func userIsSuccessfullyAuthorized(_ token: SQToken) { self.token = token }
///   func userIsNotAuthorized() { token = nil }
/// }
/// ```
///
/// If the delegate is an actor, or belongs to the main actor or another global actor, the SDK calls
/// it on that actor. It calls any other delegate on ``AccountOperations/callbackQueue``, by default
/// the main queue. If the delegate belongs to a global actor other than the main actor, its
/// conformance must be `nonisolated`. A method may be `async`; the next call waits until it has
/// returned. The SDK holds the delegate weakly.
///
/// If the delegate does not implement an optional method, the SDK calls another one, as the method's
/// description says. A delegate may pass the SDK's calls on to another delegate: if that delegate
/// does not implement a method, the SDK calls the other one when the first delegate's method has
/// returned. Called by the app on its own, the default implementations do nothing.
public protocol AuthorizationDelegate: AnyObject {
  /// Tells the delegate that the user signed in.
  ///
  /// ``SQAuthResult/token`` returns the same token.
  nonisolated(nonsending) func userIsSuccessfullyAuthorized(_ token: SQToken) async

  /// Tells the delegate that the user did not sign in, for any reason.
  nonisolated(nonsending) func userIsNotAuthorized() async

  /// Tells the delegate that the sign-in failed with an error.
  ///
  /// If the delegate does not implement this method, the SDK calls ``userIsNotAuthorized()``.
  nonisolated(nonsending) func userIsNotAuthorized(because error: SQOAuthError) async

  /// Tells the delegate that the sign-in was cancelled.
  ///
  /// The user refused or did not come back in time, or the app cancelled the sign-in. If the
  /// delegate does not implement this method, the SDK calls ``userIsNotAuthorized()``.
  nonisolated(nonsending) func userDidCancelAuthorization() async

  /// Tells the delegate that the sign-in was cancelled, with an error that says how.
  ///
  /// The user refused or did not come back in time, or the app cancelled the sign-in. If the server
  /// shows an error page in the browser, for example because the redirect URI is not registered,
  /// the SDK sees only that the user does not come back. The error's message says what is known. If
  /// the delegate does not implement this method, the SDK calls ``userDidCancelAuthorization()``.
  nonisolated(nonsending) func userDidCancelAuthorization(because error: SQOAuthError) async

  /// Asks the delegate to show a code that the user must enter on another device.
  ///
  /// Show the code and the address until the sign-in ends. The SDK calls this method once for each
  /// sign-in on another device. ``SQOAuth/authorizeUserWithDeviceCode()`` needs this method: if the
  /// delegate does not implement it, the SDK ends the sign-in with an error, unless a closure of the
  /// app shows the code.
  nonisolated(nonsending) func userMustEnterCode(_ authorization: DeviceAuthorization) async
}

extension AuthorizationDelegate {
  /// Makes the SDK call ``userIsNotAuthorized()`` for a failed sign-in.
  public func userIsNotAuthorized(because error: SQOAuthError) {
    OptionalMethod.userIsNotAuthorizedBecause.isInherited(by: self) {
      await self.userIsNotAuthorized()
    }
  }

  /// Makes the SDK call ``userIsNotAuthorized()`` for a cancelled sign-in.
  public func userDidCancelAuthorization() {
    OptionalMethod.userDidCancelAuthorization.isInherited(by: self) {
      await self.userIsNotAuthorized()
    }
  }

  /// Makes the SDK call ``userDidCancelAuthorization()`` for a cancelled sign-in.
  public func userDidCancelAuthorization(because error: SQOAuthError) {
    OptionalMethod.userDidCancelAuthorizationBecause.isInherited(by: self) {
      await self.userDidCancelAuthorization()
    }
  }

  /// Makes the SDK end the sign-in with an error, unless a closure of the app shows the code.
  public func userMustEnterCode(_ authorization: DeviceAuthorization) {
    OptionalMethod.userMustEnterCode.isInherited(by: self)
  }
}
